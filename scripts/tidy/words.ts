// One word, one meaning: identifiers of core, store and engine keep to the glossary.
// Comments and strings are free; so is every word not listed in the rules.

import { bannedWords, glossaryFolders } from './rules.ts'
import { codeFiles, lineAt, problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

/** `nextRunAt`, `NEXT_RUN_AT` → `next run at`. */
export const splitWords = (identifier: string): string =>
  identifier
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/[_$]+/g, ' ')
    .trim()
    .toLowerCase()

const banned = Object.entries(bannedWords).map(([word, instead]) => ({
  word,
  instead,
  pattern: new RegExp(`(?:^| )${word}s?(?: |$)`),
}))

const checkFile = (file: SourceFile): Problem[] => {
  const seen = new Set<string>()
  const found: Problem[] = []
  for (const match of file.code.matchAll(/[A-Za-z_$][\w$]*/g)) {
    const name = match[0]
    if (seen.has(name)) continue
    seen.add(name)
    const words = splitWords(name)
    for (const { word, instead, pattern } of banned) {
      if (!pattern.test(words)) continue
      const message = `${name}: say ${instead}, not ${word}`
      found.push(problem(file, lineAt(file.code, match.index), 'glossary', message))
    }
  }
  return found
}

export const checkWords = (tree: Tree): Problem[] =>
  codeFiles(tree)
    .filter(({ path }) => glossaryFolders.some(folder => path.startsWith(folder)))
    .flatMap(checkFile)
