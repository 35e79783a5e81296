// Finds what a file imports and to which file of the tree it leads.

import { posix } from 'node:path'
import { lineAt } from './tree.ts'
import type { SourceFile, Tree } from './tree.ts'

export interface Import {
  readonly specifier: string
  readonly line: number
  readonly typeOnly: boolean
  readonly reExport: boolean
}

const specifierAt = (file: SourceFile, quoteAt: number): string => {
  const end = file.text.indexOf(file.text[quoteAt] ?? '', quoteAt + 1)
  return file.text.slice(quoteAt + 1, end)
}

const clauseBefore = (code: string, at: number): string => {
  const start = Math.max(code.lastIndexOf('import', at), code.lastIndexOf('export', at))
  return code.slice(Math.max(start, 0), at)
}

const sourcePattern = /\bfrom\s*['"]|\bimport\s*\(?\s*['"]/g

/** Every static, dynamic and re-exporting import of a file, in order. */
export const importsOf = (file: SourceFile): Import[] => {
  const found: Import[] = []
  for (const match of file.code.matchAll(sourcePattern)) {
    const clause = clauseBefore(file.code, match.index)
    found.push({
      specifier: specifierAt(file, match.index + match[0].length - 1),
      line: lineAt(file.text, match.index),
      typeOnly: /^(?:import|export)\s+type\b/.test(clause),
      reExport: clause.startsWith('export') && match[0].startsWith('from'),
    })
  }
  return found
}

/** The tree path a relative specifier means, or undefined for a package or node: module. */
export const resolveImport = (path: string, specifier: string): string | undefined =>
  specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined

/** The package part of a bare specifier: `@scope/name` or `name`; node: modules stay whole. */
export const packageOf = (specifier: string): string => {
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/** Path → the paths in the tree that it imports. */
export const importGraph = (tree: Tree, files: readonly SourceFile[]): Map<string, string[]> =>
  new Map(
    files.map(file => [
      file.path,
      importsOf(file)
        .map(({ specifier }) => resolveImport(file.path, specifier))
        .filter(target => target !== undefined && tree.has(target))
        .map(String),
    ]),
  )
