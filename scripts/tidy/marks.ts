// Nothing unfinished or waved through: focused and skipped tests, notes to self, escape hatches.
// Each pattern is put together from halves, so that this file does not match itself.

import { codeFiles, problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

interface Mark {
  readonly pattern: RegExp
  readonly message: string
  /** `code` leaves comments and strings out; `text` is the line as written. */
  readonly where: 'code' | 'text'
}

const joined = (...parts: string[]): RegExp => new RegExp(parts.join(''))

const notes = [
  ['TO', 'DO'],
  ['FIX', 'ME'],
  ['X', 'XX'],
].map(halves => halves.join(''))

const reason = String.raw`(?!.*--\s*\w)`

const marks: readonly Mark[] = [
  { pattern: joined('\\.on', 'ly\\s*\\('), message: 'focused test', where: 'code' },
  {
    pattern: joined('\\b(?:it|test|describe)\\.(?:sk', 'ip|to', 'do)\\s*\\('),
    message: 'skipped test',
    where: 'code',
  },
  {
    pattern: joined(`\\b(?:${notes.join('|')})\\b`),
    message: 'note to self: finish it or open an issue',
    where: 'text',
  },
  {
    pattern: joined('\\bas a', 'ny\\b|:\\s*a', 'ny\\b|<a', 'ny\\b'),
    message: 'untyped value: use unknown and narrow it',
    where: 'code',
  },
  {
    pattern: joined('@ts-(?:ig', 'nore|no', 'check)'),
    message: 'type checking switched off',
    where: 'text',
  },
  {
    pattern: joined('@ts-expect', '-error(?!\\W*\\w+ \\w+)'),
    message: 'expected type error without a reason after it',
    where: 'text',
  },
  {
    pattern: joined('(?:es|ox)lint', '-dis', 'able', reason),
    message: 'lint rule switched off without `-- reason` after it',
    where: 'text',
  },
]

const checkFile = (file: SourceFile): Problem[] => {
  const codeLines = file.code.split('\n')
  return file.lines.flatMap((text, index) =>
    marks
      .filter(({ pattern, where }) =>
        pattern.test(where === 'code' ? (codeLines[index] ?? '') : text),
      )
      .map(({ message }) => problem(file, index + 1, 'marks', message)),
  )
}

export const checkMarks = (tree: Tree): Problem[] => codeFiles(tree).flatMap(checkFile)
