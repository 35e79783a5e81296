// Everything there is to look at when the storm is over: the store through its own queries, and
// what the processes wrote down.

import { openStore } from '../../../src/compose.ts'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { Job } from '../../../src/core/job.ts'
import type { LedgerEntry } from '../../../src/core/ledger.ts'
import type { Instant } from '../../../src/core/time.ts'
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
