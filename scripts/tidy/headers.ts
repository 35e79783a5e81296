// Every file of src opens with one to three comment lines: what it owns, what it leaves to others.

import { headerLines } from './rules.ts'
import { problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

const lineComments: Readonly<Record<string, string>> = { ts: '//', tsx: '//', sql: '--', lua: '--' }

/** Lines of the comment the file starts with; 0 when it starts with anything else. */
const headerLength = (file: SourceFile, lineComment: string): number => {
  const lines = file.lines[0]?.startsWith('#!') ? file.lines.slice(1) : file.lines
  if (lines[0]?.startsWith('/*')) return lines.findIndex(line => line.includes('*/')) + 1
  const end = lines.findIndex(line => !line.startsWith(lineComment))
  return end < 0 ? lines.length : end
}

const checkFile = (file: SourceFile): Problem[] => {
  const lineComment = lineComments[file.path.split('.').at(-1) ?? '']
  if (lineComment === undefined) return []
  const length = headerLength(file, lineComment)
  if (length === 0) return [problem(file, 1, 'headers', 'no comment at the top of the file')]
  if (length <= headerLines) return []
  return [problem(file, 1, 'headers', `header of ${length} lines (limit ${headerLines})`)]
}

export const checkHeaders = (tree: Tree): Problem[] =>
  [...tree.values()].filter(file => file.path.startsWith('src/')).flatMap(checkFile)
