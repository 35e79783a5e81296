// The comparisons: which contenders, in which sizes, and the rounds in which they take turns.

import { rawInsert } from '../raw/inserts.ts'
import { rawCycle as rawPostgres } from '../raw/postgres-limit.ts'
import { rawCycle as rawRedis } from '../raw/redis-limit.ts'
import { rawCycle as rawSqlite } from '../raw/sqlite-limit.ts'
import type { Purpose } from './contender.ts'
import type { Entry, Fleet } from './fleet.ts'
import type { Order, PartName, Sample } from './parts.ts'
import type { Servers } from './places.ts'
import type { Ledger } from './results.ts'

export interface Scale {
  readonly isQuick: boolean
  readonly isFull: boolean
  readonly rounds: number
}

export interface Run {
  readonly fleet: Fleet
  readonly servers: Servers
  readonly entries: readonly Entry[]
  readonly ledger: Ledger
  readonly scale: Scale
  readonly tell: (text: string) => void
}

interface Step {
  readonly section: string
  readonly part: PartName
  readonly purpose: Purpose
  readonly count: (entry: Entry) => number
  readonly more?: (entry: Entry) => Readonly<Record<string, number>>
  /** Leaves work behind that closing would wait for: the process is ended instead. */
  readonly isLast?: boolean
}

const RAW_BATCH = 500
const raws = ['sqlite', 'postgres', 'redis'] as const

/** Far slower than the rest: a tenth of the work says as much about them. */
export const isSlow = ({ module, store }: Entry): boolean =>
  module === 'agenda' || (module === 'bullmq' && store === 'postgres')

export async function measureOnce(run: Run, entry: Entry, step: Step): Promise<Sample[]> {
  const { servers, fleet, tell } = run
  return servers.fresh(entry.store, async url => {
    const order: Order = {
      place: { url, purpose: step.purpose },
      serverPid: servers.pid(entry.store),
      count: step.count(entry),
      more: step.more?.(entry) ?? {},
    }
    const host = await fleet.host(entry)
    tell(`${step.section}: ${entry.name} on ${entry.store}, ${order.count}`)
    const samples = await host.measure(step.part, entry.at, order)
    if (step.isLast) await fleet.renew(entry)
    return samples
  })
}

/** A round that fails is told and left out: the others still say something. */
export async function attempt(
  run: Run,
  entry: Entry,
  work: () => Promise<Sample[]>,
): Promise<Sample[] | null> {
  try {
    return await work()
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    console.error(`${entry.name} on ${entry.store} failed: ${text}`)
    await run.fleet.renew(entry)
    return null
  }
}

/** All contenders take turns; the round before the first one warms up and is thrown away. */
export async function interleaved(
  run: Run,
  entries: readonly Entry[],
  steps: readonly Step[],
  beside: () => Promise<void> = async () => {},
): Promise<void> {
  for (let round = 0; round <= run.scale.rounds; round++) {
    // Whoever goes first would always find the machine as the last one left it.
    const order = round % 2 === 0 ? entries : entries.toReversed()
    for (const entry of order) {
      for (const step of steps) {
        const shorter = { ...step, count: (e: Entry) => Math.ceil(step.count(e) / 4) }
        const now = round === 0 ? shorter : step
        const samples = await attempt(run, entry, () => measureOnce(run, entry, now))
        if (samples && round > 0) run.ledger.add(step.section, entry, samples)
      }
    }
    if (round > 0) await beside()
  }
}

const durable = ({ entries }: Run) => entries.filter(({ store }) => store !== 'memory')
/** Measured with and without history, but only where that matters. */
const secondBest = new Map([
  ['bullmq', 'history'],
  ['carillon', 'nothing'],
])
export const best = ({ module, keeps }: Entry): boolean => secondBest.get(module) !== keeps

/** Bulk and single insert, claim to settle, and the limits of the stores in the same rounds. */
export async function jobs(run: Run): Promise<void> {
  const { isQuick } = run.scale
  const many = isQuick ? 4_000 : 50_000
  const few = isQuick ? 500 : 3_000
  const count = (entry: Entry) => (isSlow(entry) ? Math.ceil(many / 20) : many)
  const purpose = 'throughput'
  // It inserts as its twin does: once in the table is enough.
  const more = (entry: Entry) => ({ isTwin: best(entry) ? 0 : 1 })
  await interleaved(
    run,
    durable(run),
    [{ section: 'jobs', part: 'jobs', purpose, count, more }],
    () => limits(run, many),
  )
  const one = (entry: Entry) => (entry.store === 'postgres' ? Math.ceil(few / 2) : few)
  await interleaved(run, durable(run).filter(best), [
    { section: 'jobs', part: 'single', purpose, count: one },
  ])
}

async function limits(run: Run, rows: number): Promise<void> {
  const { servers, ledger, tell } = run
  for (const store of raws) {
    tell(`jobs: raw statements on ${store}`)
    const settings = 'batches of 500, nothing but the statements'
    const who = { name: 'raw statements', store, settings, version: '' }
    const inserted = await servers.fresh(store, url => rawInsert(store, url, rows))
    const cycled = await servers.fresh(store, async url => {
      if (store === 'sqlite') return rawSqlite(url.replace('sqlite:', ''), rows, RAW_BATCH)
      return store === 'postgres'
        ? rawPostgres(url, rows, RAW_BATCH)
        : rawRedis(url, rows, RAW_BATCH)
    })
    ledger.add('jobs', who, [
      { row: 'bulk-insert', value: inserted },
      { row: 'runs', value: cycled, note: 'history kept' },
    ])
  }
}

export async function latency(run: Run): Promise<void> {
  const { isQuick } = run.scale
  const count = () => (isQuick ? 40 : 200)
  const more = () => ({ calmMs: isQuick ? 200 : 700 })
  await interleaved(run, durable(run).filter(best), [
    { section: 'latency', part: 'latency', purpose: 'latency', count, more },
  ])
}

export async function flood(run: Run): Promise<void> {
  const many = run.scale.isQuick ? 2_000 : 20_000
  const count = (entry: Entry) => (isSlow(entry) ? Math.ceil(many / 20) : many)
  const entries = durable(run).filter(entry => best(entry) && !isSlow(entry))
  await interleaved(run, entries, [
    { section: 'flood', part: 'flood', purpose: 'throughput', count },
  ])
}

export async function backlog(run: Run): Promise<void> {
  const { isQuick, isFull } = run.scale
  const entries = durable(run).filter(entry => best(entry) && !isSlow(entry))
  const counts = isQuick ? [2_000, 8_000] : [10_000, isFull ? 1_000_000 : 100_000]
  const wanted = isQuick ? 500 : 5_000
  const [section, purpose] = ['backlog', 'throughput'] as const
  for (let round = 1; round <= Math.min(run.scale.rounds, 3); round++) {
    for (const entry of entries) {
      for (const size of counts) {
        const count = () => size
        const more = () => ({ wanted })
        const samples = await attempt(run, entry, async () => {
          // Its process is new: this is its warm-up.
          await measureOnce(run, entry, { section, part: 'jobs', purpose, count: () => wanted })
          const step = { section, part: 'backlog', purpose, count, more, isLast: true } as const
          return measureOnce(run, entry, step)
        })
        if (samples) run.ledger.add(section, entry, samples)
      }
    }
  }
}
