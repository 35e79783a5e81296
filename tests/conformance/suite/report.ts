// report, progress and log: fenced writes of a live attempt.

import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../../src/core/attempt.ts'
import type { Job } from '../../../src/core/job.ts'
import type { Json } from '../../../src/core/json.ts'
import { limits } from '../../../src/core/limits.ts'
import { settle } from '../../../src/core/run/settle.ts'
import type { LogLine, Report, Store } from '../../../src/store/port.ts'
import {
  claimOne,
  failed,
  finish,
  job,
  readAll,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { allJobs, put, stored, type UseBench } from './bench.ts'

function reportOf(held: Job, parts: Partial<Report>): Report {
  const { token, attemptId } = held.lease!
  return { jobId: held.id, token, fence: held.counters.fence, attemptId, ...parts }
}

function line(message: string, more: Partial<LogLine> = {}): LogLine {
  return { at: T0, level: 'info', message, fields: null, ...more }
}

async function claimed(store: Store): Promise<Job> {
  await put(store, job('a'))
  return claimOne(store, T0)
}

export function reportTests(bench: UseBench): void {
  fenceTests(bench)
  progressTests(bench)
  checkpointTests(bench)
  logTests(bench)
}

function fenceTests(bench: UseBench): void {
  describe('report', () => {
    it('is written while the lease holds, for each by itself', async () => {
      const { store } = bench()
      const held = await claimed(store)
      const reports = [
        reportOf(held, { jobId: 'ghost', checkpoint: 1 }),
        reportOf(held, { token: 'other', checkpoint: 2 }),
        reportOf(held, { fence: 0, checkpoint: 3 }),
        reportOf(held, { checkpoint: 4 }),
      ]
      expect(await store.report(reports, T0)).toEqual([false, false, false, true])
      expect((await store.progress('a'))!.checkpoint).toBe(4)
      expect(await store.report([], T0)).toEqual([])
    })

    it('leaves the job itself alone, its version included', async () => {
      const { store } = bench()
      const held = await claimed(store)
      await store.report([reportOf(held, { checkpoint: 1, lines: [line('x')] })], T0)
      expect(await allJobs(store)).toEqual([held])
    })

    it('is refused after the attempt was settled, and writes nothing', async () => {
      const { store } = bench()
      const held = await claimed(store)
      await finish(store, held, failed({ retryAfterMs: 0 }), T0)
      const late = reportOf(held, { checkpoint: 'late', lines: [line('late')] })
      expect(await store.report([late], T0)).toEqual([false])
      await claimOne(store, T0)
      expect(await store.report([late], T0)).toEqual([false])
      expect(await store.progress('a')).toBeNull()
      expect((await store.log(held.lease!.attemptId, { limit: 10 })).items).toEqual([])
    })

    it('says true for a report without any news', async () => {
      const { store } = bench()
      const held = await claimed(store)
      expect(await store.report([reportOf(held, {})], T0)).toEqual([true])
      expect(await store.progress('a')).toBeNull()
    })
  })
}

function progressTests(bench: UseBench): void {
  describe('progress', () => {
    it('is null until something was reported', async () => {
      const { store } = bench()
      await claimed(store)
      expect(await store.progress('a')).toBeNull()
      expect(await store.progress('ghost')).toBeNull()
    })

    it('is the last one reported', async () => {
      const { store } = bench()
      const held = await claimed(store)
      const first = reportOf(held, { progress: { fraction: 0.25, note: 'ö' } })
      await store.report([first], T0 + 1)
      expect(await store.progress('a')).toEqual({
        attemptId: held.lease!.attemptId,
        fraction: 0.25,
        note: 'ö',
        checkpoint: undefined,
        at: T0 + 1,
      })
      await store.report([reportOf(held, { progress: { fraction: 1, note: null } })], T0 + 2)
      expect(await store.progress('a')).toMatchObject({ fraction: 1, note: null, at: T0 + 2 })
    })

    it('and checkpoint do not overwrite each other', async () => {
      const { store } = bench()
      const held = await claimed(store)
      await store.report([reportOf(held, { progress: { fraction: 0.5, note: 'half' } })], T0)
      await store.report([reportOf(held, { checkpoint: { page: 3 } })], T0 + 1)
      const both = { fraction: 0.5, note: 'half', checkpoint: { page: 3 } }
      expect(await store.progress('a')).toMatchObject(both)
      await store.report([reportOf(held, { progress: { fraction: 0.6, note: 'more' } })], T0 + 2)
      expect(await store.progress('a')).toMatchObject({ checkpoint: { page: 3 }, fraction: 0.6 })
    })
  })
}

const endings: [string, Outcome][] = [
  ['succeeded', succeeded],
  ['failed for good', failed({ final: true })],
  ['was cancelled', { kind: 'cancelled', reason: 'x' }],
  ['was skipped', { kind: 'skipped', reason: 'x' }],
]
const continuations: [string, Outcome][] = [
  ['failed', failed({ retryAfterMs: 0 })],
  ['was abandoned', { kind: 'abandoned' }],
  ['was interrupted', { kind: 'interrupted' }],
  ['was deferred', { kind: 'deferred', until: T0, reason: 'x', worked: true }],
  ['was released', { kind: 'released' }],
]

function checkpointTests(bench: UseBench): void {
  describe('a checkpoint', () => {
    it.each<[string, Json]>([
      ['null', null],
      ['false', false],
      ['an empty text', ''],
      ['nested data', { list: [1, { deep: 'ö😀' }] }],
    ])('may be %s', async (_, checkpoint) => {
      const { store } = bench()
      const held = await claimed(store)
      await store.report([reportOf(held, { checkpoint })], T0)
      expect((await store.progress('a'))!.checkpoint).toStrictEqual(checkpoint)
    })

    it.each(continuations)('survives an attempt that %s', async (_, outcome) => {
      const { store } = bench()
      const held = await claimed(store)
      await store.report([reportOf(held, { checkpoint: { page: 3 } })], T0)
      await write(store, settle(held, { outcome, startedAt: T0 }, T0), T0)
      expect((await store.progress('a'))!.checkpoint).toEqual({ page: 3 })
      const next = await claimOne(store, T0 + limits.deferralMsMin)
      expect((await store.progress('a'))!.checkpoint).toEqual({ page: 3 })
      await store.report([reportOf(next, { progress: { fraction: 0, note: null } })], T0)
      expect(await store.progress('a')).toMatchObject({
        attemptId: next.lease!.attemptId,
        checkpoint: { page: 3 },
      })
    })

    it('stays while the next attempt forgets the progress of the last one', async () => {
      const { store } = bench()
      const held = await claimed(store)
      const progress = { fraction: 0.9, note: 'nearly' }
      await store.report([reportOf(held, { progress, checkpoint: 1 })], T0)
      await finish(store, held, failed({ retryAfterMs: 0 }), T0)
      const next = await claimOne(store, T0)
      await store.report([reportOf(next, { checkpoint: 2 })], T0)
      const expected = { fraction: null, note: null, checkpoint: 2 }
      expect(await store.progress('a')).toMatchObject(expected)
    })

    it.each(endings)('is gone when its run %s', async (_, outcome) => {
      const { store } = bench()
      const held = await claimed(store)
      await store.report([reportOf(held, { checkpoint: { page: 3 } })], T0)
      await write(store, settle(held, { outcome, startedAt: T0 }, T0), T0)
      expect((await stored(store, 'a')).state).not.toBe('running')
      expect(await store.progress('a')).toBeNull()
    })
  })
}

function logTests(bench: UseBench): void {
  describe('log', () => {
    it('keeps lines in the order they were reported, page by page', async () => {
      const { store } = bench()
      const held = await claimed(store)
      const fields = { url: 'https://ö', n: [1, null] }
      const lines = [
        line('one', { level: 'debug' }),
        line('two 😀', { level: 'warn', fields }),
        line('three', { level: 'error', at: T0 - 5 }),
      ]
      await store.report([reportOf(held, { lines: lines.slice(0, 2) })], T0)
      await store.report([reportOf(held, { lines: lines.slice(2) })], T0)
      const id = held.lease!.attemptId
      for (const limit of [1, 2, 3, 4]) {
        expect(await readAll(page => store.log(id, page), { limit })).toEqual(lines)
      }
      expect((await store.log(id, { limit: 3 })).cursor).toBeNull()
      expect((await store.log('ghost', { limit: 3 })).items).toEqual([])
    })

    it('keeps the first lines of an attempt up to its bound', async () => {
      const { store } = bench()
      const held = await claimed(store)
      const many = Array.from({ length: limits.logLinesPerAttempt - 1 }, (_, i) => line(`${i}`))
      await store.report([reportOf(held, { lines: many })], T0)
      await store.report([reportOf(held, { lines: [line('fits'), line('does not')] })], T0)
      await store.report([reportOf(held, { lines: [line('nor this')] })], T0)
      const kept = await readAll(page => store.log(held.lease!.attemptId, page), { limit: 300 })
      expect(kept).toHaveLength(limits.logLinesPerAttempt)
      expect(kept.at(-1)!.message).toBe('fits')
    })

    it('stays with its attempt when the next one writes its own', async () => {
      const { store } = bench()
      const first = await claimed(store)
      await store.report([reportOf(first, { lines: [line('first')] })], T0)
      await finish(store, first, failed({ retryAfterMs: 0 }), T0)
      const second = await claimOne(store, T0)
      await store.report([reportOf(second, { lines: [line('second')] })], T0)
      await finish(store, second, succeeded, T0)
      for (const [held, message] of [
        [first, 'first'],
        [second, 'second'],
      ] as const) {
        const { items } = await store.log(held.lease!.attemptId, { limit: 10 })
        expect(items.map(kept => kept.message)).toEqual([message])
      }
    })
  })
}
