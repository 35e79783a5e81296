// Builds the world of a plan, lets it run to its end and hands over its history.

import type { Attempt } from '../../src/core/attempt.ts'
import type { Job } from '../../src/core/job.ts'
import { emptyRows, type Rows } from '../../src/store/memory/rows.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import type { Page, PageRequest, Store } from '../../src/store/port.ts'
import { aim } from './deeds.ts'
import type { Dump, History } from './history.ts'
import {
  ABORT_GRACE_MS,
  CHECK_MS,
  LOOK_MS,
  makePlan,
  REAP_MS,
  type Blow,
  type Plan,
} from './plan.ts'
import { Random } from './random.ts'
import { Recorder } from './recorder.ts'
import { WorldClock } from './sim-clock.ts'
import { SimNode, type Surroundings } from './sim-node.ts'
import { Weather } from './weather.ts'

/** A mistake built in from outside: a store that errs, or nodes that trust their own clocks. */
export interface Mutant {
  readonly store?: (store: Store, rows: Rows, clock: WorldClock) => Store
  readonly trustsOwnClock?: boolean
}

export interface WorldOptions {
  readonly mutant?: Mutant
  readonly keepsLines?: boolean
}

export interface WorldRun {
  readonly plan: Plan
  readonly history: History
  readonly labels: ReadonlyMap<string, number>
  readonly digest: string
  readonly lines: readonly string[]
  readonly events: number
}

export async function runSeed(seed: number, options: WorldOptions = {}): Promise<WorldRun> {
  return runPlan(makePlan(seed), options)
}

export async function runPlan(plan: Plan, options: WorldOptions = {}): Promise<WorldRun> {
  const random = new Random(`${plan.seed}:world`)
  const world = new WorldClock(plan.startAt)
  const rows = emptyRows()
  const memory = new MemoryStore(() => world.now(), rows)
  await memory.open()
  const recorder = new Recorder(rows, world, options.keepsLines ?? false)
  const weather = new Weather(random.fork('weather'), plan.latency, plan.fronts)
  const { mutant } = options
  const inner = mutant?.store ? mutant.store(memory, rows, world) : memory
  const trustsOwnClock = mutant?.trustsOwnClock ?? false
  const calls = { open: new Set<never>() }
  const around: Surroundings = { plan, world, inner, weather, recorder, calls, trustsOwnClock }
  const nodes = plan.nodes.map(node => new SimNode(around, node))
  for (const node of nodes) node.start()
  for (const { kind, node, from, to } of plan.fronts) recorder.faults.push({ kind, node, from, to })
  for (const blow of plan.blows)
    world.after(blow.at - plan.startAt, () => strike(around, nodes, blow))
  const scene = { around, nodes, rows, random: random.fork('deeds') }
  for (const deed of plan.deeds) world.after(deed.at - plan.startAt, () => aim(scene, deed))
  await world.runUntil(plan.endAt)
  for (const witness of recorder.witness) recorder.line(JSON.stringify(witness))
  const history = await makeHistory(plan, recorder, memory)
  return {
    plan,
    history,
    labels: recorder.labels,
    digest: recorder.digest(),
    lines: recorder.lines,
    events: world.events,
  }
}

function strike(
  { world, recorder, plan }: Surroundings,
  nodes: readonly SimNode[],
  blow: Blow,
): void {
  const node = nodes.find(({ id }) => id === blow.node)!
  const forMs = Math.min(blow.forMs, Math.max(0, plan.quietAt - world.now()))
  const hit =
    blow.kind === 'freeze'
      ? node.freeze(forMs)
      : blow.kind === 'crash'
        ? node.crash(forMs)
        : blow.kind === 'stop'
          ? node.stop(forMs, blow.drainMs)
          : node.kill(forMs)
  if (!hit) return
  const at = world.now()
  recorder.faults.push({ kind: blow.kind, node: blow.node, from: at, to: at + forMs })
}

async function makeHistory(plan: Plan, recorder: Recorder, store: Store): Promise<History> {
  const { seed, startAt, quietAt, endAt, leaseMs, slots, latency } = plan
  const { writes, refusals, client, faults, witness, lives, measures } = recorder
  return {
    seed,
    startAt,
    quietAt,
    endAt,
    bounds: {
      leaseMs,
      reapMs: REAP_MS,
      lookMs: LOOK_MS,
      checkIntervalMs: CHECK_MS,
      abortGraceMs: ABORT_GRACE_MS,
      slots,
      roundTripMs: latency.maxMs * 2,
    },
    writes,
    refusals,
    client,
    faults,
    witness,
    lives,
    measures,
    dump: await dumpOf(store),
  }
}

async function dumpOf(store: Store): Promise<Dump> {
  const jobs: Job[] = await readAll(page => store.list({}, page))
  const attempts: Attempt[] = await readAll(page => store.attempts({}, page))
  const entries = []
  for (const { id } of jobs) entries.push(...(await readAll(page => store.ledger(id, page))))
  const skips = entries.filter(entry => entry.decision === 'skip')
  return { jobs, attempts, skips }
}

async function readAll<T>(query: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await query({ limit: 500, cursor })
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null)
  return items
}
