// Which suites a run covers: what was asked for, less what has no tests in this tree.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ProgramKind } from '../../tests/support/servers/binaries.ts'
import { suites } from './table.ts'
import type { Suite } from './table.ts'

const holdsTests = (folder: string): boolean =>
  existsSync(folder) &&
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).some(name => name.endsWith('.test.ts'))

/** The suites that have something to run below `root`. */
export const presentSuites = (root: string): Suite[] =>
  suites.filter(
    suite =>
      suite.kind === 'command' || suite.folders.some(folder => holdsTests(join(root, folder))),
  )

/** The programs that the tests of the suites use. */
export const programsOf = (chosen: readonly Suite[]): ProgramKind[] => [
  ...new Set(chosen.flatMap(suite => (suite.kind === 'tests' ? (suite.needs ?? []) : []))),
]

/** Picks suites by a comma-separated list; throws on a name that is no suite at all. */
export const selectSuites = (present: readonly Suite[], only: string | undefined): Suite[] => {
  if (only === undefined) return [...present]
  const wanted = only.split(',').map(name => name.trim())
  const known = suites.map(({ name }) => name)
  const unknown = wanted.filter(name => !known.includes(name))
  if (unknown.length > 0) {
    const names = unknown.map(name => JSON.stringify(name)).join(', ')
    throw new Error(`unknown suite ${names}; the suites are ${known.join(', ')}`)
  }
  return present.filter(({ name }) => wanted.includes(name))
}
