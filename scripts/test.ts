// Provides the servers and the browser that the suites need, then runs the suites, one after another
// where they compete for the machine, and sums them up.
// Usage: npm test [-- --only unit,cron] [--bail] [--list]

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BROKER_VARIABLE, startBroker } from '../tests/support/servers/broker.ts'
import { provide } from '../tests/support/servers/provide.ts'
import { formatResult, formatSummary } from './suites/results.ts'
import type { Result } from './suites/results.ts'
import { runTurn, turnsOf } from './suites/run.ts'
import type { SuiteRun } from './suites/run.ts'
import { presentSuites, programsOf, selectSuites } from './suites/select.ts'
import type { Suite } from './suites/table.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '')

const readOptions = () =>
  parseArgs({
    options: {
      only: { type: 'string' },
      bail: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  }).values

const runAll = async (chosen: readonly Suite[], bail: boolean): Promise<Result[]> => {
  const results: Result[] = []
  const onEnd = ({ result, output }: SuiteRun): boolean => {
    results.push(result)
    if (result.failed > 0) console.log(`\n${output.trimEnd()}\n`)
    console.log(formatResult(result))
    return !(bail && result.failed > 0)
  }
  for (const turn of turnsOf(chosen)) if (!(await runTurn(root, turn, onEnd))) break
  return results
}

const main = async (): Promise<number> => {
  const { only, bail, list } = readOptions()
  const chosen = selectSuites(presentSuites(root), only)
  if (list) {
    for (const { name, about } of chosen) console.log(`${name.padEnd(14)}${about}`)
    return 0
  }
  if (chosen.length === 0) throw new Error('none of these suites has a test yet')
  const absent = await provide(programsOf(chosen))
  if (absent.size > 0 && process.env['CI'] === 'true') {
    throw new Error(['CI skips nothing, but:', ...absent.values()].join('\n  '))
  }
  const startedAt = performance.now()
  const broker = await startBroker()
  process.env[BROKER_VARIABLE] = broker.url
  let results: Result[]
  try {
    results = await runAll(chosen, bail)
  } finally {
    await broker.stop()
  }
  const missing = new Map([...absent, ...broker.missing])
  console.log(
    `\n${formatSummary(results, (performance.now() - startedAt) / 1000, [...missing.values()])}`,
  )
  return results.some(({ failed }) => failed > 0) ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`test: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 2
}
