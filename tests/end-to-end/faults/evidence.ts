// Everything there is to look at when the storm is over: the store through its own queries, and
// what the processes wrote down.

import { openStore } from '../../../src/compose.ts'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { Job } from '../../../src/core/job.ts'
import type { LedgerEntry } from '../../../src/core/history/ledger.ts'
import type { Instant } from '../../../src/core/time.ts'
import { CorrectedClock, type Clock } from '../../../src/runtime/clock.ts'
import { Events } from '../../../src/runtime/events.ts'
import { readLedger } from '../../../src/jobs/ledger.ts'
import { Handlers } from '../../../src/engine/handlers.ts'
import { SystemIds } from '../../../src/runtime/ids.ts'
import { makeParts } from '../../../src/create-engine.ts'
import { reapAll } from '../../../src/engine/reaper.ts'
import { engineSettings } from '../../../src/runtime/settings.ts'
import { Wake } from '../../../src/runtime/wake.ts'
import type { Count, Store } from '../../../src/store/port.ts'
import { eventually } from '../../support/servers/wait.ts'
import { readAll } from '../kill-check.ts'
import type { Line } from './witness.ts'
import { isHealthy } from './workload.ts'

export interface Evidence {
  readonly jobs: readonly Job[]
  readonly attempts: readonly Attempt[]
  /** Of every schedule. */
  readonly ledgers: ReadonlyMap<string, readonly LedgerEntry[]>
  readonly counts: readonly Count[]
  readonly lines: readonly Line[]
  /** Created before the storm. */
  readonly seeded: readonly string[]
  /** After the last fault; everything due by then has been decided since. */
  readonly quietAt: Instant
  /** Nodes that were killed. */
  readonly dead: readonly string[]
  /** When the clock was set back, by the machine's own. */
  readonly steps: readonly Instant[]
  /** By the clock of the store. */
  readonly readAt: Instant
}

export type Dump = Pick<Evidence, 'jobs' | 'attempts' | 'ledgers' | 'counts' | 'readAt'>

export const openDirectly = (url: string, clock: Clock): Promise<Store> =>
  openStore(url, { now: () => clock.now(), listens: false })

export async function readStore(store: Store, wall: Clock): Promise<Dump> {
  const jobs = await readAll(page => store.list({}, page))
  const attempts = await readAll(page => store.attempts({}, page))
  const ledgers = new Map<string, LedgerEntry[]>()
  for (const { id, kind, spec } of jobs) {
    if (kind !== 'job' || spec.trigger.kind !== 'interval') continue
    if (!isHealthy(id)) continue
    const entries: LedgerEntry[] = []
    for await (const entry of readLedger({ store, clock: wall }, id)) entries.push(entry)
    ledgers.set(id, entries)
  }
  const counts = await store.counts()
  return { jobs, attempts, ledgers, counts, readAt: wall.now() }
}

/**
 * Takes over what the last nodes left held, as the next node would: one that gave a run up because
 * its lease was about to end leaves that lease to run out.
 */
export async function takeOver(store: Store, withinMs: number, wall: Clock): Promise<void> {
  const clock = new CorrectedClock(wall)
  const parts = makeParts({
    store,
    clock,
    ids: new SystemIds(),
    handlers: new Handlers(),
    settings: engineSettings({ nodeId: 'evidence' }),
    events: new Events(),
    wake: new Wake(clock),
  })
  const look = async () => {
    await reapAll(parts)
    const { items } = await store.list({ states: ['running'] }, { limit: 1 })
    return items.length === 0 ? true : null
  }
  // What is held even then is found by the check.
  await eventually('nothing is held', look, withinMs).catch(() => {})
}

/** Nodes create tasks that are due so much later at most. */
const AHEAD_MAX_MS = 60_000

/** What is still open although it should not be. */
async function unfinished(store: Store, quietAt: Instant): Promise<string[]> {
  const open = await readAll(page => store.list({ states: ['waiting', 'running'] }, page))
  return open
    .filter(({ id }) => isHealthy(id))
    .filter(({ spec: { trigger }, nextAt }) =>
      // A time that somebody gave stays when the clock is set back: it lies ahead again.
      trigger.kind === 'once'
        ? trigger.at <= quietAt + AHEAD_MAX_MS
        : nextAt === null || nextAt <= quietAt,
    )
    .map(({ id, state, nextAt, dueAt }) => `${id} is ${state}, next ${nextAt}, due ${dueAt}`)
}

/** Waits until everything due by then was decided; returns what was not, when time is up. */
export async function settledDown(
  store: Store,
  quietAt: Instant,
  withinMs: number,
): Promise<string[]> {
  let left: string[] = ['nothing could be read']
  const look = async () => {
    left = await unfinished(store, quietAt)
    return left.length === 0 ? true : null
  }
  await eventually('everything due is decided', look, withinMs).catch(() => {})
  return left
}
