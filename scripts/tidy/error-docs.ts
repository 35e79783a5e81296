// The error codes of the program and the ones of its reference page are the same set.

import { lineAt, problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

const sourcePath = 'src/core/errors.ts'
const docsPath = 'docs/reference/errors.md'

/** Code → line. Reads the keys (or strings) of the `errorCodes` constant. */
const codesInSource = (file: SourceFile): Map<string, number> => {
  const codes = new Map<string, number>()
  const start = /\berrorCodes\b[^=]*=/.exec(file.code)
  if (start === null) return codes
  const open = start.index + start[0].length
  const end = file.code.slice(open).search(/^[\]})]/m)
  const body = file.text.slice(open, end < 0 ? undefined : open + end)
  for (const match of body.matchAll(/^\s*(?:['"]([A-Z][A-Z_]+)['"]|([A-Z][A-Z_]+))\s*[:,]/gm)) {
    const code = match[1] ?? match[2] ?? ''
    codes.set(code, lineAt(file.text, open + match.index + match[0].indexOf(code)))
  }
  return codes
}

/** Code → line. A code is documented by a heading or by the first cell of a table row. */
const codesInDocs = (file: SourceFile): Map<string, number> => {
  const codes = new Map<string, number>()
  for (const [index, line] of file.lines.entries()) {
    const code = /^(?:#+|\|)\s*`?([A-Z]+(?:_[A-Z]+)+)\b/.exec(line)?.[1]
    if (code !== undefined) codes.set(code, index + 1)
  }
  return codes
}

export const checkErrorDocs = (tree: Tree): Problem[] => {
  const source = tree.get(sourcePath)
  if (source === undefined) return []
  const codes = codesInSource(source)
  if (codes.size === 0) return [problem(source, 1, 'error-docs', 'no errorCodes constant found')]
  const docs = tree.get(docsPath)
  if (docs === undefined) return [problem(source, 1, 'error-docs', `${docsPath} is missing`)]
  const documented = codesInDocs(docs)
  const missing = [...codes].filter(([code]) => !documented.has(code))
  const unknown = [...documented].filter(([code]) => !codes.has(code))
  return [
    ...missing.map(([code, line]) =>
      problem(source, line, 'error-docs', `${code} is not described in ${docsPath}`),
    ),
    ...unknown.map(([code, line]) =>
      problem(docs, line, 'error-docs', `${code} does not exist in ${sourcePath}`),
    ),
  ]
}
