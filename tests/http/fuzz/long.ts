// npm run fuzz -- --store postgres|redis|sqlite|all --requests 200000 [--seed 1] [--json]: the API
// fuzz for as long as one likes, in rounds of one seed each.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { provide } from '../../support/servers/provide.ts'

const ROUND = 10_000
const stores = ['sqlite', 'postgres', 'redis'] as const
type StoreName = (typeof stores)[number]
const root = fileURLToPath(new URL('../../..', import.meta.url))
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'all' },
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})

interface Report {
  readonly statuses: Readonly<Record<string, number>>
  readonly reached: number
  readonly failures: readonly string[]
}

interface Round extends Report {
  readonly store: StoreName
  readonly seed: number
  readonly requests: number
  readonly isPassed: boolean
}

function say(text: string): void {
  // What a program reads comes alone on the output.
  if (values.json) console.error(text)
  else console.log(text)
}

function numberOf(name: 'requests' | 'seed'): number {
  const given = Number(values[name])
  if (Number.isSafeInteger(given) && given >= 1) return given
  throw new Error(`--${name} must be a whole number from 1 (got ${values[name]})`)
}

function storesAsked(): readonly StoreName[] {
  const asked = stores.filter(name => values.store === 'all' || values.store === name)
  if (asked.length === 0) throw new Error(`the stores are ${stores.join(', ')} and all`)
  return asked
}

async function round(store: StoreName, seed: number, requests: number): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-fuzz-'))
  const path = join(folder, 'report.json')
  const env = {
    ...process.env,
    CARILLON_SEED: String(seed),
    CARILLON_FUZZ: String(requests),
    CARILLON_FUZZ_STORE: store,
    CARILLON_FUZZ_REPORT: path,
  }
  const words = ['run', '--project', 'http', 'tests/http/fuzz.test.ts', '-t', 'random requests']
  const child = spawn(process.execPath, [vitest, ...words], { cwd: root, env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  }
  const code = await new Promise<number | null>(resolve => child.on('close', resolve))
  const none: Report = { statuses: {}, reached: 0, failures: [] }
  const told = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Report) : none
  rmSync(folder, { recursive: true, force: true })
  // A round whose test was skipped has told nothing, and shows nothing.
  const isPassed = code === 0 && told !== none
  if (!isPassed) say(output)
  return { ...told, store, seed, requests, isPassed }
}

function lineOf({ store, seed, statuses, reached, isPassed }: Round): string {
  const answered = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
  const total = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  const end = isPassed ? 'passed' : 'FAILED'
  const what = `${total} requests (${answered.join(', ')}), ${reached} operations succeeded`
  return `${store}: seed ${seed}, ${what}: ${end}`
}

async function fuzz(store: StoreName): Promise<Round[]> {
  const rounds: Round[] = []
  let left = numberOf('requests')
  for (let seed = numberOf('seed'); left > 0; seed++) {
    const requests = Math.min(ROUND, left)
    const done = await round(store, seed, requests)
    say(lineOf(done))
    rounds.push(done)
    left -= requests
  }
  return rounds
}

async function main(): Promise<number> {
  const asked = storesAsked()
  const servers = asked.filter(name => name !== 'sqlite')
  await provide(servers, { print: say })
  const rounds: Round[] = []
  for (const store of asked) rounds.push(...(await fuzz(store)))
  if (values.json) console.log(JSON.stringify(rounds, null, 2))
  return rounds.every(({ isPassed }) => isPassed) ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`fuzz: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 2
}
