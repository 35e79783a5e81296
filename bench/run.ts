// `npm run bench`: Carillon beside its peers; `--only` picks sections, or benchmarks of Carillon alone.
// npm run bench -- [--only NAME,…] [--peers NAME,…] [--rounds N] [--quick | --full] [--json] [--report]

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { root } from './side/fleet.ts'
import { compare, keep, resultsFile, sections } from './side/main.ts'
import { report } from './side/report.ts'
import type { Results } from './side/results.ts'

/** Of Carillon alone, in more detail; each with options of its own. */
const benches: Readonly<Record<string, string>> = {
  store: 'bench/store/main.ts',
  engine: 'bench/engine/main.ts',
  fair: 'bench/fair.ts',
  http: 'bench/http/main.ts',
  dashboard: 'bench/dashboard/main.ts',
  start: 'bench/start.ts',
}

const options = {
  only: { type: 'string' },
  peers: { type: 'string' },
  rounds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  'no-build': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const { values, tokens } = parseArgs({
  options,
  // What the benchmarks of Carillon alone take, they check.
  strict: false,
  tokens: true,
})

function refuse(text: string): never {
  console.error(text)
  process.exit(2)
}

function node(...args: string[]): void {
  const stdio = ['ignore', values.json ? 'ignore' : 'inherit', 'inherit'] as const
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: [...stdio] })
  if (status !== 0) process.exit(status ?? 1)
}

/** Peers are installed when they are first needed, in a folder of their own. */
function installPeers(): void {
  const folder = join(root, 'bench/peers')
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return
  if (!values.json) console.log('installing the peers into bench/peers/node_modules')
  const stdio = ['ignore', values.json ? 'ignore' : 'inherit', 'inherit'] as const
  // Not `npm ci`: it refuses the lock where parts for other systems cannot be looked up.
  // And said here: `npm run` hands its own settings on, which would count above those of the folder.
  const words = ['install', '--no-save', '--no-audit', '--no-engine-strict']
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: [...stdio] })
  if (status !== 0) refuse('the peers could not be installed')
}

const readResults = (): Results | null =>
  existsSync(resultsFile) ? (JSON.parse(readFileSync(resultsFile, 'utf8')) as Results) : null

function alone(name: string): void {
  const rest = process.argv.slice(2).filter((_, i) => {
    const only = tokens.find(token => token.kind === 'option' && token.name === 'only')!
    return i !== only.index && i !== only.index + 1
  })
  const args = ['--expose-gc', '--import', 'tsx', benches[name]!, ...rest]
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function listOf(value: unknown): string[] | null {
  return typeof value === 'string' ? value.split(',').filter(name => name !== '') : null
}

const help = `npm run bench -- [options]

  --only NAME,…    these sections: ${Object.keys(sections).join(', ')}
                   or benchmarks of Carillon alone: ${Object.keys(benches).join(', ')}
  --peers NAME,…   beside these peers only
  --rounds N       medians of so many, 5 unless told
  --quick, --full  small numbers to try it out; up to a million schedules
  --json           the results on standard output
  --report         docs/explanation/performance.md from the results kept
  --no-build       the service is measured as it was built last

  npm run bench -- --only jobs --peers graphile-worker --rounds 9`

/** Options of the benchmarks of Carillon alone are theirs to know. */
function refuseStrangers(only: readonly string[] | null): void {
  if (only?.some(name => Object.hasOwn(benches, name))) return
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (!Object.hasOwn(options, token.name)) {
      refuse(`unknown option ${token.rawName}; npm run bench -- --help`)
    }
  }
}

async function main(): Promise<void> {
  if (values.help) return console.log(help)
  const only = listOf(values.only)
  refuseStrangers(only)
  const known = [...Object.keys(sections), ...Object.keys(benches)]
  const stranger = only?.find(name => !known.includes(name))
  if (stranger !== undefined) {
    refuse(`unknown benchmark ${JSON.stringify(stranger)}; known: ${known.join(', ')}`)
  }
  for (const name of only ?? []) if (Object.hasOwn(benches, name)) alone(name)
  const wanted = (only ?? Object.keys(sections)).filter(name => Object.hasOwn(sections, name))
  if (wanted.length > 0 && !(values.report && only === null)) {
    installPeers()
    // The service is measured as it is published.
    if (wanted.includes('api') && !values['no-build']) node('--import', 'tsx', 'scripts/build.ts')
    const isQuick = values.quick === true
    const rounds = Number(values.rounds ?? (isQuick ? 1 : 5))
    if (!Number.isInteger(rounds) || rounds < 1) refuse('--rounds takes a whole number above 0')
    const scale = { isQuick, isFull: values.full === true, rounds }
    const earlier = readResults()
    const results = await compare({
      only: wanted,
      peers: listOf(values.peers),
      scale,
      isJson: values.json === true,
      onSection: soFar => keep(soFar, earlier),
    })
    if (values.json) console.log(JSON.stringify(results, null, 2))
    else console.log(`\nkept in ${resultsFile}`)
  }
  if (values.report) {
    const results = readResults() ?? refuse(`no results to report: ${resultsFile} is missing`)
    for (const file of report(results)) console.log(`wrote ${file}`)
  }
}

await main()
