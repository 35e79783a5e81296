// How long a command takes from a cold start, beside a Node process that does nothing.
// Usage: tsx bench/start.ts [--rounds N] [--quick]

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { assertBuilt } from './http/rig.ts'
import { inFolder, median, show } from './support.ts'

const START_MS = 200
const main = fileURLToPath(
  new URL('../packages/carillon-service/dist/cli/main.js', import.meta.url),
)
const { values } = parseArgs({
  options: { rounds: { type: 'string' }, quick: { type: 'boolean', default: false } },
})
const rounds = Number(values.rounds ?? (values.quick ? 5 : 25))

const commands: readonly (readonly string[])[] = [
  ['--version'],
  ['next', '0 9 * * *'],
  ['next', '0 9 * * *', '--tz', 'Europe/Berlin'],
  ['add', '--help'],
  ['list'],
  ['show', 'nightly'],
  ['runs'],
  ['pause', 'nightly', '--dry-run'],
]

assertBuilt()
await inFolder(async folder => {
  const nothing = join(folder, 'nothing.mjs')
  writeFileSync(nothing, '')
  const env = { ...process.env, CARILLON_DATA: folder }
  const took = (args: readonly string[]): number => {
    const from = process.hrtime.bigint()
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
    return Number(process.hrtime.bigint() - from) / 1e6
  }
  took([main, 'add', 'nightly', '--cron', '0 3 * * *', '--http', 'https://example.com'])
  // In turns, so that a slow minute of the machine slows all of them.
  const cases = [[nothing], ...commands.map(words => [main, ...words])]
  const times = cases.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [n, args] of cases.entries()) times[n]!.push(took(args))
  }
  show({ name: 'node, an empty module', value: median(times[0]!), unit: 'ms' })
  for (const [n, words] of commands.entries()) {
    const value = median(times[n + 1]!)
    const name = `carillon ${words.join(' ')}`
    show({ name, value, unit: 'ms', target: START_MS, lowerIsBetter: true })
  }
})
