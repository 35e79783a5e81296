// attempts: the history of settled tries, newest first.

import { describe, expect, it } from 'vitest'
import type { Attempt, Outcome } from '../../../src/core/attempt.ts'
import { change } from '../../../src/core/change.ts'
import { settle } from '../../../src/core/run/settle.ts'
import type { AttemptFilter, PageRequest, Store } from '../../../src/store/port.ts'
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
} from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'

const retrying = { retry: { ...newJob().spec.retry, limit: null } }

/** Attempts 1–4: run 1 fails twice and succeeds, run 2 fails. */
async function history(store: Store, id = 'a'): Promise<void> {
  const everyMs = 10
  const trigger = { kind: 'interval', everyMs, from: 'finish', anchor: null } as const
  await put(store, newJob({ id, now: T0 - everyMs, spec: { ...retrying, trigger, queue: id } }))
  const again = failed({ retryAfterMs: 1 })
  const outcomes = [again, { kind: 'timedOut', error: errorInfo } as const, succeeded, again]
  let now = T0
  for (const outcome of outcomes) {
    const settled = await finish(store, await claimOne(store, now, { queue: id }), outcome, now)
    now = settled.dueAt!
  }
}

const errorInfo = { name: 'Timeout', message: 'too slow', stack: null }

async function numbers(store: Store, filter: AttemptFilter, page?: PageRequest) {
  return (await readAll(given => store.attempts(filter, given), page)).map(held => held.number)
}

export function attemptTests(bench: UseBench): void {
  describe('attempts', () => {
    it('of a job are numbered without gaps and read newest first', async () => {
      const { store } = bench()
      await history(store)
      expect(await numbers(store, { jobId: 'a' })).toEqual([4, 3, 2, 1])
      expect(await numbers(store, { jobId: 'ghost' })).toEqual([])
    })

    it('are read oldest first when asked', async () => {
      const { store } = bench()
      await history(store)
      const page = { limit: 3, newestFirst: false }
      expect(await numbers(store, { jobId: 'a' }, page)).toEqual([1, 2, 3, 4])
    })

    it('come in pages, each once, in both directions', async () => {
      const { store } = bench()
      await history(store)
      for (const limit of [1, 2, 3, 4, 5]) {
        expect(await numbers(store, { jobId: 'a' }, { limit })).toEqual([4, 3, 2, 1])
        const up = { limit, newestFirst: false }
        expect(await numbers(store, { jobId: 'a' }, up)).toEqual([1, 2, 3, 4])
      }
      expect((await store.attempts({ jobId: 'a' }, { limit: 4 })).cursor).toBeNull()
      expect((await store.attempts({ jobId: 'a' }, { limit: 3 })).cursor).not.toBeNull()
    })

    it('are filtered by run and by outcome', async () => {
      const { store } = bench()
      await history(store)
      expect(await numbers(store, { jobId: 'a', run: 1 })).toEqual([3, 2, 1])
      expect(await numbers(store, { jobId: 'a', run: 2 })).toEqual([4])
      expect(await numbers(store, { jobId: 'a', outcomes: ['failed'] })).toEqual([4, 1])
      const outcomes = ['succeeded', 'timedOut'] as const
      expect(await numbers(store, { jobId: 'a', outcomes }, { limit: 1 })).toEqual([3, 2])
      expect(await numbers(store, { jobId: 'a', outcomes: [] })).toEqual([])
    })

    it('are found by their id', async () => {
      const { store } = bench()
      await history(store)
      await history(store, 'b')
      const { items } = await store.attempts({ jobId: 'b' }, { limit: 1 })
      const found = await store.attempts({ id: items[0]!.id }, { limit: 10 })
      expect(found.items).toEqual(items)
      expect((await store.attempts({ id: 'ghost' }, { limit: 10 })).items).toEqual([])
    })
  })
  acrossJobs(bench)
}

function acrossJobs(bench: UseBench): void {
  describe('attempts of all jobs', () => {
    it('are read by the age of their ids, across jobs, page by page', async () => {
      const { store } = bench()
      await history(store, 'b')
      await history(store, 'a')
      const all = await readAll(page => store.attempts({}, page))
      const ids = all.map(held => held.id)
      expect(ids).toHaveLength(8)
      expect(ids).toEqual([...ids].sort().reverse())
      const paged = await readAll(page => store.attempts({}, page), { limit: 3 })
      expect(paged).toEqual(all)
      const up = await readAll(page => store.attempts({}, page), { limit: 3, newestFirst: false })
      expect(up).toEqual([...all].reverse())
    })

    it('are filtered by outcome', async () => {
      const { store } = bench()
      await history(store, 'b')
      await history(store, 'a')
      const filter: AttemptFilter = { outcomes: ['succeeded'] }
      const found = await readAll(page => store.attempts(filter, page), { limit: 1 })
      expect(found.map(held => held.jobId)).toEqual(['a', 'b'])
    })
  })
  everyOutcome(bench)
}

const outcomes: Outcome[] = [
  { kind: 'succeeded', result: { deep: [1, null, 'ö'] }, measures: { cpuMs: 1.5 } },
  { kind: 'failed', error: { ...errorInfo, stack: 'at\nhere' }, final: true, retryAfterMs: null },
  { kind: 'timedOut', error: errorInfo },
  { kind: 'cancelled', reason: 'superseded' },
  { kind: 'abandoned' },
  { kind: 'interrupted' },
  { kind: 'skipped', reason: 'nothing new' },
  { kind: 'deferred', until: T0 + 1, reason: 'busy', worked: true },
]

function everyOutcome(bench: UseBench): void {
  describe('an attempt', () => {
    it.each(outcomes)('that ended as $kind is read back as written', async outcome => {
      const { store } = bench()
      await put(store, job('a'))
      const claimed = await claimOne(store, T0)
      const step = settle(claimed, { outcome, startedAt: T0 + 1 }, T0 + 77)
      expect((await store.commit([step], { now: T0 + 77 })).results).toEqual(['committed'])
      const { items } = await store.attempts({ jobId: 'a' }, { limit: 2 })
      expect(items).toEqual([step.attempt])
      expect(items[0]).toMatchObject({ outcome: outcome.kind, claimedAt: T0, startedAt: T0 + 1 })
    })

    it('with every field set is read back as written', async () => {
      const { store } = bench()
      await put(store, job('a', onRequest))
      const [held] = await store.get(['a'])
      const attempt: Attempt = fullAttempt
      const step = change(held!, held!, T0, { attempt })
      expect((await store.commit([step], { now: T0 })).results).toEqual(['committed'])
      expect((await store.attempts({}, { limit: 2 })).items).toEqual([attempt])
    })
  })
}

const fullAttempt: Attempt = {
  id: 'att-ünï',
  jobId: 'a',
  run: 7,
  attempt: 3,
  number: 12,
  fence: 2 ** 40,
  retries: 2,
  origin: 'retry',
  retryOf: 5,
  occurrence: T0 - 1,
  missed: 31_536_000,
  owner: 'node "1"',
  claimedAt: T0,
  startedAt: T0 + 1,
  finishedAt: T0 + 2,
  outcome: 'failed',
  reason: 'because',
  error: { name: 'E', message: "it's 😀", stack: 'line\n  line' },
  result: ['x', { y: 0.1 }],
  measures: { memoryMb: 12 },
  expireAt: 8_640_000_000_000_000,
}
