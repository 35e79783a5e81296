// npm run chaos -- --store postgres|redis|sqlite|all --minutes 5 [--kills 500 --restarts 100]
// [--nodes 4] [--seed 1] [--clock-steps] [--preset one-process|ten-nodes] [--json]: faults for as
// long as one likes.

import { parseArgs } from 'node:util'
import { provide } from '../support/servers/provide.ts'
import { chaosRun, type ChaosResult } from './faults/chaos-run.ts'
import { manyNodes, manyNodesLines } from './faults/many-nodes.ts'
import { rigKinds, type RigKind } from './faults/rig.ts'
import { progressLine, sentences, summaryOf } from './faults/summary.ts'
import { killPreset } from './kill-loop.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'all' },
    minutes: { type: 'string' },
    kills: { type: 'string' },
    restarts: { type: 'string' },
    nodes: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    preset: { type: 'string' },
    'clock-steps': { type: 'boolean', default: false },
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
    ...(values['clock-steps'] ? {} : { everyMs: { clockSteps: 0 } }),
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

/** Where a server cannot be had, the start of its store says so. */
async function provideServers(): Promise<void> {
  await provide(
    storesAsked().filter(kind => kind !== 'sqlite'),
    { print: say },
  )
}

async function main(): Promise<number> {
  if (values.preset === 'one-process') {
    return killPreset(Number(values.kills ?? 1_000), Number(values.seed), say)
  }
  await provideServers()
  if (values.preset === 'ten-nodes') return tenNodes()
  if (values.preset !== undefined) throw new Error('the presets are one-process and ten-nodes')
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
