// No import cycles (types count too), and no file that only passes on others but index.ts.

import { importGraph, importsOf } from './imports.ts'
import { codeFiles, problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

type Graph = ReadonlyMap<string, readonly string[]>

/** The shortest way from `start` back to itself, or undefined. */
const shortestCycle = (graph: Graph, start: string): string[] | undefined => {
  const queue: string[][] = [[start]]
  const seen = new Set<string>()
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const next of graph.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return [...path, start]
      if (seen.has(next)) continue
      seen.add(next)
      queue.push([...path, next])
    }
  }
  return undefined
}

/** Each cycle is reported once, at the first of its files. */
export const checkCycles = (tree: Tree): Problem[] => {
  const files = codeFiles(tree)
  const graph = importGraph(tree, files)
  const reported = new Set<string>()
  const found: Problem[] = []
  for (const file of files) {
    if (reported.has(file.path)) continue
    const cycle = shortestCycle(graph, file.path)
    if (cycle === undefined) continue
    for (const path of cycle) reported.add(path)
    found.push(problem(file, 1, 'cycles', cycle.join(' → ')))
  }
  return found
}

const passingOn =
  /\b(?:export|import)\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"] *['"]/g

const isBarrel = (file: SourceFile): boolean => {
  if (!importsOf(file).some(item => item.reExport)) return false
  const rest = file.code.replace(passingOn, '')
  return rest.trim() === ''
}

export const checkBarrels = (tree: Tree): Problem[] =>
  codeFiles(tree)
    .filter(file => !file.path.endsWith('/index.ts') && isBarrel(file))
    .map(file => problem(file, 1, 'barrels', 'only re-exports others: import from the source'))
