// The suites of `npm test`, in the order they run. vitest.config.ts makes its projects from it.

import type { ProgramKind } from '../../tests/support/servers/binaries.ts'

export interface CommandSuite {
  readonly kind: 'command'
  readonly name: string
  readonly about: string
  /** The npm script to run; it counts as one check. */
  readonly script: string
}

export interface TestSuite {
  readonly kind: 'tests'
  readonly name: string
  readonly about: string
  readonly folders: readonly string[]
  readonly timeoutMs: number
  /** One test file at a time: for suites that start processes or compete for the disk. */
  readonly isSerial?: boolean
  /** Serial suites next to each other that may run two at a time: each leaves a core idle. */
  readonly sharesMachine?: boolean
  /** Prepares the whole suite, besides the servers that all suites share. */
  readonly setup?: string
  /** Programs its tests use; they are provided before the first suite runs. */
  readonly needs?: readonly ProgramKind[]
}

export type Suite = CommandSuite | TestSuite

const command = (name: string, script: string, about: string): CommandSuite => ({
  kind: 'command',
  name,
  script,
  about,
})

const tests = (
  name: string,
  about: string,
  timeoutMs: number,
  more: Partial<Omit<TestSuite, 'kind' | 'name' | 'about' | 'timeoutMs'>> = {},
): TestSuite => ({ kind: 'tests', name, about, timeoutMs, folders: [`tests/${name}`], ...more })

const servers: readonly ProgramKind[] = ['postgres', 'redis']

export const testSuites: readonly TestSuite[] = [
  tests('unit', 'each file of src and scripts by itself', 30_000, {
    folders: ['src', 'scripts'],
    needs: servers,
  }),
  tests('cron', 'cron expressions against tables and other implementations', 60_000),
  tests('support', 'what the tests themselves stand on: servers, proxies', 60_000, {
    needs: servers,
  }),
  tests('conformance', 'what every store owes its callers', 60_000, {
    needs: [...servers, 'pooler'],
  }),
  tests('differential', 'one random history through all stores', 120_000, { needs: servers }),
  tests('copy', 'a whole store moved to another', 120_000, { needs: servers }),
  tests('scenarios', 'whole uses of the scheduler, on each store', 60_000, { needs: servers }),
  tests('library', 'the public API and the test kit, as a program uses them', 60_000, {
    needs: servers,
  }),
  tests('actions', 'what jobs do without code of their own, against real servers', 60_000),
  tests(
    'sources',
    'sources fetched page by page into tables, from a server that misbehaves',
    60_000,
    { needs: ['postgres'] },
  ),
  tests('http', 'the service over HTTP: rules, tokens, limits, outages', 60_000, {
    needs: servers,
  }),
  tests('client', 'the published client against a real service', 60_000),
  tests('docs', 'every code block and table of the documentation', 60_000),
  tests('simulation', 'many nodes, one virtual clock, injected faults', 180_000),
  tests('end-to-end', 'real processes, killed and restarted', 120_000, {
    isSerial: true,
    sharesMachine: true,
    needs: servers,
  }),
  tests('dashboard', 'the dashboard in a real browser', 120_000, {
    isSerial: true,
    sharesMachine: true,
    needs: ['chromium'],
  }),
  tests('cli', 'every command as a user runs it: real processes, a terminal', 120_000, {
    isSerial: true,
    sharesMachine: true,
    needs: servers,
  }),
  tests(
    'first-month',
    'the packed package as users meet it: real processes, default options',
    90_000,
    {
      setup: 'tests/first-month/harness/global-setup.ts',
      needs: [...servers, 'faketime'],
    },
  ),
  tests('packaging', 'the tarball as its users get it', 180_000, { isSerial: true }),
]

export const suites: readonly Suite[] = [
  command('format', 'format:check', 'every file is formatted'),
  command('types', 'types', 'everything type-checks'),
  command('lint', 'lint', 'no lint findings'),
  command('build', 'build', 'dist is built'),
  command('tidy', 'tidy', 'layers, sizes, words and docs hold'),
  ...testSuites,
]
