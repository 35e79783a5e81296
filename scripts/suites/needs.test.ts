// The table of suites names every program that the tests of a suite start or ask for.

import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { ProgramKind } from '../../tests/support/servers/binaries.ts'
import { importGraph } from '../tidy/imports.ts'
import { codeFiles, isTest, readTree } from '../tidy/tree.ts'
import { testSuites, type TestSuite } from './table.ts'

const tree = readTree(fileURLToPath(new URL('../..', import.meta.url)))
const graph = importGraph(tree, codeFiles(tree))

/** What tests call to get at a program. */
const uses: Readonly<Record<ProgramKind, RegExp>> = {
  postgres: /(?:freshPlace|freshStore|offeredServer)\('postgres'|\bstartPostgres\(/,
  redis: /(?:freshPlace|freshStore|offeredServer)\('redis'|\bstartRedis\(/,
  pooler: /\bstartPooler\(/,
  chromium: /\bfindBrowser\(/,
  faketime: /\bfindFaketime\(\)/,
}

/** The test files of a suite and all they import. */
function filesOf({ folders }: TestSuite): Set<string> {
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    for (const next of graph.get(path) ?? []) visit(next)
  }
  const isOwn = (path: string) => folders.some(folder => path.startsWith(`${folder}/`))
  for (const path of graph.keys()) if (isTest(path) && isOwn(path)) visit(path)
  return found
}

it.each(testSuites)('M1 $name names the programs it uses', suite => {
  // The launchers of the servers define these calls; they do not make them.
  const paths = [...filesOf(suite)].filter(
    path => isTest(path) || !path.startsWith('tests/support/servers/'),
  )
  const kinds = (Object.keys(uses) as ProgramKind[]).filter(kind =>
    paths.some(path => uses[kind].test(tree.get(path)!.text)),
  )
  expect(suite.needs ?? []).toEqual(expect.arrayContaining(kinds))
})
