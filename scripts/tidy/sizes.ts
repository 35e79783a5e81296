// How long files, functions and lines may be. Over the target is a warning, over the limit a problem.

import { functionBodies } from './functions.ts'
import { fileLines, functionLines, lineWidth, styleLines } from './rules.ts'
import type { Limit } from './rules.ts'
import { codeFiles, problem, styleFiles } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

interface Measure {
  readonly line: number
  readonly what: string
  readonly lines: number
}

const measure = (file: SourceFile, { line, what, lines }: Measure, limit: Limit): Problem[] => {
  if (lines <= limit.warn) return []
  const isOver = lines > limit.max
  const message = `${what} of ${lines} lines (${isOver ? 'limit' : 'target'} ${
    isOver ? limit.max : limit.warn
  })`
  return [{ ...problem(file, line, 'sizes', message), level: isOver ? 'error' : 'warning' }]
}

const wideLines = (file: SourceFile): Problem[] =>
  file.lines.flatMap((text, index) =>
    text.length > lineWidth
      ? [
          problem(
            file,
            index + 1,
            'sizes',
            `line of ${text.length} characters (limit ${lineWidth})`,
          ),
        ]
      : [],
  )

const wholeFile = (file: SourceFile, limit: Limit): Problem[] =>
  measure(file, { line: 1, what: 'file', lines: file.lines.length }, limit)

export const checkSizes = (tree: Tree): Problem[] => [
  ...codeFiles(tree).flatMap(file => [
    ...wholeFile(file, fileLines),
    ...functionBodies(file.code).flatMap(body =>
      measure(file, { ...body, what: 'function' }, functionLines),
    ),
    ...wideLines(file),
  ]),
  ...styleFiles(tree).flatMap(file => [...wholeFile(file, styleLines), ...wideLines(file)]),
]
