// Retention of attempts: kept while among the newest of their job or younger than their age.

import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../../src/core/attempt.ts'
import { change } from '../../../src/core/change.ts'
import type { Job } from '../../../src/core/job.ts'
import { settle } from '../../../src/core/run/settle.ts'
import { DAY } from '../../../src/core/time.ts'
import type { PruneResult, Store } from '../../../src/store/port.ts'
import {
  claimOne,
  failed,
  finish,
  job,
  newJob,
  onRequest,
  readAll,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'

const OLD = T0 - 40 * DAY
const all = { limit: 1_000, endedTasksMax: 1_000 }
const nothing = { attempts: 0, jobs: 0, records: 0, isFull: false }

function attempt(jobId: string, number: number, finishedAt: number): Attempt {
  return {
    id: `${jobId}-${String(number).padStart(4, '0')}`,
    jobId,
    run: number,
    attempt: 1,
    number,
    fence: number,
    retries: 0,
    origin: 'manual',
    retryOf: null,
    occurrence: finishedAt,
    missed: 0,
    owner: 'node-1',
    claimedAt: finishedAt,
    startedAt: finishedAt,
    finishedAt,
    outcome: 'succeeded',
    reason: null,
    error: null,
    result: null,
    measures: null,
    expireAt: finishedAt + 30 * DAY,
  }
}

/** A job that kept `count` attempts, the first `old` of them past their age. */
async function withAttempts(store: Store, count: number, old: number, id = 'a'): Promise<Job> {
  let held: Job = job(id, onRequest)
  await put(store, held)
  for (let number = 1; number <= count; number++) {
    const next = { ...held, counters: { ...held.counters, attempts: number } }
    const kept = attempt(id, number, number <= old ? OLD + number : T0)
    held = await write(store, change(held, next, T0, { attempt: kept }), T0)
  }
  return held
}

async function numbers(store: Store, jobId = 'a'): Promise<number[]> {
  const held = await readAll(page => store.attempts({ jobId }, { ...page, newestFirst: false }))
  return held.map(kept => kept.number)
}

function span(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}

async function pruneAll(store: Store, now: number, limit: number): Promise<PruneResult[]> {
  const bites: PruneResult[] = []
  do bites.push(await store.prune({ now, limit, endedTasksMax: 1_000 }))
  while (bites.at(-1)!.isFull && bites.length < 100)
  return bites
}

export function retentionTests(bench: UseBench): void {
  attemptTests(bench)
  dropTests(bench)
}

function attemptTests(bench: UseBench): void {
  describe('prune of attempts', () => {
    it('leaves 100 of 150 rows of which 120 are old', async () => {
      const { store } = bench()
      await withAttempts(store, 150, 120)
      expect(await store.prune({ now: T0, ...all })).toMatchObject({ attempts: 50, isFull: false })
      expect(await numbers(store)).toEqual(span(51, 150))
    })

    it('keeps every young row, however many there are', async () => {
      const { store } = bench()
      await withAttempts(store, 110, 3)
      expect(await store.prune({ now: T0, ...all })).toMatchObject({ attempts: 3 })
      expect(await numbers(store)).toEqual(span(4, 110))
    })

    it('keeps the newest rows, however old they are', async () => {
      const { store } = bench()
      await withAttempts(store, 20, 20)
      expect(await store.prune({ now: T0 + 9_999 * DAY, ...all })).toMatchObject({ attempts: 0 })
      expect(await numbers(store)).toEqual(span(1, 20))
    })

    it('takes a row from the very end of its age on', async () => {
      const { store } = bench()
      await withAttempts(store, 101, 1)
      const end = OLD + 1 + 30 * DAY
      expect(await store.prune({ now: end - 1, ...all })).toMatchObject({ attempts: 0 })
      expect(await store.prune({ now: end, ...all })).toMatchObject({ attempts: 1 })
    })

    it('goes in bounded bites and says when more is waiting', async () => {
      const { store } = bench()
      await withAttempts(store, 130, 130)
      await withAttempts(store, 120, 120, 'b')
      const bites = await pruneAll(store, T0, 20)
      expect(bites[0]!.isFull).toBe(true)
      expect(bites.at(-1)!.isFull).toBe(false)
      expect(Math.max(...bites.map(bite => bite.attempts))).toBeLessThanOrEqual(20)
      expect(await numbers(store)).toEqual(span(31, 130))
      expect(await numbers(store, 'b')).toEqual(span(21, 120))
      expect(await store.prune({ now: T0, ...all })).toEqual(nothing)
    })

    it('takes the log lines of an attempt with it', async () => {
      const { store } = bench()
      const line = { at: T0, level: 'info', message: 'x', fields: null } as const
      const retention = { attempts: 1, ageMs: 1_000 }
      await put(store, job('a', { retention }))
      const first = await claimOne(store, T0)
      const { token, attemptId } = first.lease!
      await store.report([{ jobId: 'a', token, fence: 1, attemptId, lines: [line] }], T0)
      await finish(store, first, failed({ retryAfterMs: 0 }), T0)
      await finish(store, await claimOne(store, T0), succeeded, T0)
      expect((await store.log(attemptId, { limit: 9 })).items).toHaveLength(1)
      expect(await store.prune({ now: T0 + 1_000, ...all })).toMatchObject({ attempts: 1 })
      expect((await store.log(attemptId, { limit: 9 })).items).toEqual([])
    })
  })
}

function dropTests(bench: UseBench): void {
  describe('settling', () => {
    const retention = { attempts: 2, ageMs: 1_000 }

    it('drops the attempt that fell out of the newest ones and is old', async () => {
      const { store } = bench()
      const trigger = { kind: 'interval', everyMs: 600, from: 'finish', anchor: null } as const
      await put(store, newJob({ id: 'a', now: T0 - 600, spec: { trigger, retention } }))
      const kept: number[][] = []
      for (let i = 0; i < 5; i++) {
        const now = T0 + i * 600
        await finish(store, await claimOne(store, now), succeeded, now)
        kept.push(await numbers(store))
      }
      // Attempt 1 is 1200 ms old when the third is settled; each later settle drops one more.
      expect(kept).toEqual([[1], [1, 2], [2, 3], [3, 4], [4, 5]])
    })

    it('drops nothing that is still young', async () => {
      const { store } = bench()
      await put(store, job('a', { retention }))
      for (let i = 0; i < 3; i++) {
        const held = await claimOne(store, T0)
        const step = settle(held, { outcome: { kind: 'interrupted' }, startedAt: T0 }, T0)
        await write(store, step, T0)
      }
      expect(await numbers(store)).toEqual([1, 2, 3])
    })
  })
}
