// Everything there is to look at when the storm is over: the store through its own queries, and
// what the processes wrote down.

import { openStore } from '../../../src/compose.ts'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { Job } from '../../../src/core/job.ts'
import type { LedgerEntry } from '../../../src/core/ledger.ts'
import type { Instant } from '../../../src/core/time.ts'
import { CorrectedClock, systemClock } from '../../../src/engine/clock.ts'
import { Events } from '../../../src/engine/events.ts'
import { reapAll } from '../../../src/engine/reaper.ts'
import { Wake } from '../../../src/engine/wake.ts'
import type { Count, Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/servers/wait.ts'
import { readAll } from '../kill-check.ts'
import type { Line } from './witness.ts'

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
}

export type Dump = Pick<Evidence, 'jobs' | 'attempts' | 'ledgers' | 'counts'>

export const openDirectly = (url: string): Promise<Store> =>
  openStore(url, { now: () => Date.now(), listens: false })

export async function readStore(store: Store): Promise<Dump> {
  const jobs = await readAll(page => store.list({}, page))
  const attempts = await readAll(page => store.attempts({}, page))
  const ledgers = new Map<string, LedgerEntry[]>()
  for (const { id, kind, spec } of jobs) {
    if (kind !== 'job' || spec.trigger.kind !== 'interval') continue
    ledgers.set(id, await readAll(page => store.ledger(id, page)))
  }
  return { jobs, attempts, ledgers, counts: await store.counts() }
}

/**
 * Takes over what the last nodes left held, as the next node would: one that gave a run up because
 * its lease was about to end leaves that lease to run out.
 */
export async function takeOver(store: Store, withinMs: number): Promise<void> {
  const clock = new CorrectedClock(systemClock)
  const parts = { store, clock, events: new Events(), wake: new Wake(clock) }
  const look = async () => {
    await reapAll(parts)
    const { items } = await store.list({ states: ['running'] }, { limit: 1 })
    return items.length === 0 ? true : null
  }
  // What is held even then is found by the check.
  await eventually('nothing is held', look, withinMs).catch(() => {})
}

/** What is still open although it should not be. */
async function unfinished(store: Store, quietAt: Instant): Promise<string[]> {
  const open = await readAll(page => store.list({ states: ['waiting', 'running'] }, page))
  return open
    .filter(
      ({ spec, nextAt }) => spec.trigger.kind === 'once' || nextAt === null || nextAt <= quietAt,
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
