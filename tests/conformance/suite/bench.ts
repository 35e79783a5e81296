// What each test of the suite is given: a fresh store, a second handle onto it and its clock.

import type { Job } from '../../../src/core/job.ts'
import type { RecordWrite } from '../../../src/core/record.ts'
import type { Instant } from '../../../src/core/time.ts'
import type { Count, Store } from '../../../src/store/port.ts'
import { readAll, type Clock } from '../../support/builders.ts'

export interface Bench {
  readonly store: Store
  readonly url: string | null
  readonly second: () => Promise<Store>
  readonly clock: Clock
}

export type UseBench = () => Bench

export async function put(store: Store, ...jobs: Job[]): Promise<void> {
  const { results } = await store.insert(jobs, { now: jobs[0]?.createdAt ?? 0 })
  const isIn = results.every(result => result === 'inserted')
  if (!isIn) throw new Error(`insert: ${results.join(', ')}`)
}

export async function stored(store: Store, id: string): Promise<Job> {
  const [held] = await store.get([id])
  if (!held) throw new Error(`job ${id} is gone`)
  return held
}

export async function allJobs(store: Store): Promise<Job[]> {
  return readAll(page => store.list({}, page))
}

/** Written only if it is not there yet, or has the version given; null writes it anyway. */
export function note(key: string, expectedVersion: number | null = 0): RecordWrite {
  return { kind: 'note', key, value: { of: key }, expectedVersion, expireAt: null }
}

/** What a step that is refused must have left as it was. */
export async function heldIn(store: Store, now: Instant) {
  return {
    jobs: await allJobs(store),
    attempts: await readAll(page => store.attempts({}, page)),
    records: await readAll(page => store.listRecords('note', page, now)),
  }
}

/** Counts in a fixed order, without rows that say nothing. */
export function sortedCounts(counts: readonly Count[]): Count[] {
  const key = (count: Count) =>
    JSON.stringify([count.queue, count.handler, count.kind, count.state])
  return counts
    .filter(({ count, pruned }) => count > 0 || pruned > 0)
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
}
