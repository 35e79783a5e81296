// npm run chaos: faults for as long as one likes; `--help` lists the options.

import { parseArgs } from 'node:util'
import { provide } from '../support/servers/provide.ts'
import { chaosRun, type ChaosResult } from './faults/chaos-run.ts'
import { deploysLines, deploysRun } from './faults/deploys.ts'
import { flushLines, flushRun } from './faults/flush.ts'
import { manyNodes, manyNodesLines } from './faults/many-nodes.ts'
import { rigKinds, type RigKind } from './faults/rig.ts'
import { progressLine, sentences, summaryOf } from './faults/summary.ts'
import { killPreset } from './kill-loop.ts'

const HELP = `npm run chaos -- [options]

Runs several nodes on each real store while everything goes wrong, then checks what is left.

  --store NAME      sqlite, postgres, redis or all (default)
  --minutes N       how long each store is tried (default 1)
  --kills N         go on until so many nodes were killed; likewise --restarts N of the server
  --nodes N         nodes at a time (default 4)
  --seed N          repeats the moments of a run (default 1)
  --json            the result as JSON on the output, progress on the standard error
  --preset NAME     another scenario instead of the storm:
    one-process       one SQLite process killed over and over (--kills, default 1000)
    ten-nodes         100,000 occurrences on ten nodes (--kills, default 5)
    deploys           rolling deploys of three programs with different lists of jobs (--deploys, default 60)
    flush             Redis flushed under running nodes and restored from its log (--rounds, default 20)

Exit code: 0 when nothing was found, 1 when something was, 2 when it could not run.`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    deploys: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '20' },
    store: { type: 'string', default: 'all' },
    minutes: { type: 'string' },
    kills: { type: 'string' },
    restarts: { type: 'string' },
    nodes: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    preset: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

function say(text: string): void {
  // What a program reads comes alone on the output.
  if (values.json) console.error(text)
  else console.log(text)
}

function storesAsked(): RigKind[] {
  if (values.store === 'all') return [...rigKinds]
  const kind = rigKinds.find(name => name === values.store)
  if (kind === undefined) throw new Error(`the stores are ${rigKinds.join(', ')} and all`)
  return [kind]
}

function goalAsked() {
  const kills = Number(values.kills ?? 0)
  const restarts = Number(values.restarts ?? 0)
  const hasCounts = kills + restarts > 0
  const minutes = Number(values.minutes ?? (hasCounts ? 0 : 1))
  return { minMs: minutes * 60_000, atLeast: { kills, restarts } }
}

async function storm(kind: RigKind): Promise<ChaosResult> {
  say(`${kind}: ${values.nodes} nodes, seed ${values.seed}`)
  let last = 0
  const result = await chaosRun({
    kind,
    seed: Number(values.seed),
    nodes: Number(values.nodes),
    goal: goalAsked(),
    onProgress: counts => {
      if (++last % 10 === 0) say(progressLine(kind, last, counts))
    },
  })
  for (const line of sentences(result)) say(line)
  return result
}

/** 100,000 occurrences on one store, PostgreSQL unless told. */
async function tenNodes(): Promise<number> {
  const kind = values.store === 'all' ? 'postgres' : storesAsked()[0]!
  const result = await manyNodes({
    kind,
    nodes: 10,
    jobs: 1_000,
    runsPerJob: 100,
    everyMs: 500,
    kills: Number(values.kills ?? 5),
    stops: 5,
    leaseMs: 5_000,
    tickMs: 500,
    seed: Number(values.seed),
    onProgress: say,
  })
  for (const line of manyNodesLines(result)) say(line)
  const { lost, duplicates, violations } = result
  if (values.json) console.log(JSON.stringify(result, null, 2))
  return lost.length + duplicates.length + violations.length > 0 ? 1 : 0
}

interface Finding {
  readonly lost: readonly string[]
  readonly duplicates: readonly string[]
  readonly violations: readonly string[]
}

/** Prints what one run of a preset came to. */
function report<R extends Finding>(result: R, lines: readonly string[]): R {
  for (const line of lines) say(line)
  return result
}

async function deploys(): Promise<Finding[]> {
  const results: Finding[] = []
  for (const kind of storesAsked()) {
    const result = await deploysRun({
      kind,
      deploys: Number(values.deploys),
      seed: Number(values.seed),
      onProgress: text => say(`${kind}: ${text}`),
    })
    results.push(report(result, deploysLines(result)))
  }
  return results
}

async function flush(): Promise<Finding[]> {
  const result = await flushRun({
    rounds: Number(values.rounds),
    nodes: Number(values.nodes),
    seed: Number(values.seed),
    onProgress: say,
  })
  return [report(result, flushLines(result))]
}

function exitCodeOf(results: readonly Finding[]): number {
  if (values.json) console.log(JSON.stringify(results, null, 2))
  const found = results.flatMap(one => [...one.lost, ...one.duplicates, ...one.violations])
  return found.length > 0 ? 1 : 0
}

/** Where a server cannot be had, the start of its store says so. */
async function provideServers(): Promise<void> {
  const kinds = values.preset === 'flush' ? (['redis'] as const) : storesAsked()
  await provide(
    kinds.filter(kind => kind !== 'sqlite'),
    { print: say },
  )
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  if (values.preset === 'one-process') {
    return killPreset(Number(values.kills ?? 1_000), Number(values.seed), say)
  }
  await provideServers()
  if (values.preset === 'ten-nodes') return tenNodes()
  if (values.preset === 'deploys') return exitCodeOf(await deploys())
  if (values.preset === 'flush') return exitCodeOf(await flush())
  if (values.preset !== undefined) {
    throw new Error('--preset must be one-process, ten-nodes, deploys or flush')
  }
  const results: ChaosResult[] = []
  for (const kind of storesAsked()) results.push(await storm(kind))
  if (values.json) console.log(JSON.stringify(results.map(summaryOf), null, 2))
  return results.some(one => summaryOf(one).found > 0) ? 1 : 0
}

/** Connections that were cut or held on purpose may never end by themselves: they end here. */
function leave(code: number): void {
  process.stdout.write('', () => process.exit(code))
}

try {
  leave(await main())
} catch (error) {
  console.error(`chaos: ${error instanceof Error ? error.message : String(error)}`)
  leave(2)
}
