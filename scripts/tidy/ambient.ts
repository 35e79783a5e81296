// Time and chance are parameters: src may reach for neither, except where they enter the program.

import { importsOf } from './imports.ts'
import { ambientFiles } from './rules.ts'
import { codeFiles, lineAt, problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

const calls = [
  /\bDate\.now\b/g,
  /\bnew\s+Date\b(?!\s*\(\s*[^\s)])/g,
  /\b(?:setTimeout|setInterval|setImmediate)\s*\(/g,
  /\bMath\.random\b/g,
  /\brandomUUID\b/g,
  /\bperformance\.now\b/g,
  /\bprocess\.hrtime\b/g,
]

const timerModules = /^(?:node:)?timers(?:\/promises)?$/

const checkFile = (file: SourceFile): Problem[] => {
  const report = (line: number, what: string) =>
    problem(file, line, 'ambient', `${what} belongs in ${ambientFiles.join(', ')}: pass it in`)
  const called = calls.flatMap(pattern =>
    [...file.code.matchAll(pattern)].map(match =>
      report(lineAt(file.code, match.index), match[0].replace(/\s*\($/, '')),
    ),
  )
  const imported = importsOf(file)
    .filter(({ specifier }) => timerModules.test(specifier))
    .map(({ line, specifier }) => report(line, specifier))
  return [...called, ...imported]
}

export const checkAmbient = (tree: Tree): Problem[] =>
  codeFiles(tree)
    .filter(({ path }) => path.startsWith('src/') && !ambientFiles.includes(path))
    .flatMap(checkFile)
