// addMeasures: what a handler measured whose attempt had been ended without it.

import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../../src/core/attempt.ts'
import { cancelJob } from '../../../src/core/control/control.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { Store } from '../../../src/store/port.ts'
import { claimOne, everyMinute, finish, job, onRequest, T0, write } from '../../support/builders.ts'
import { allJobs, put, type UseBench } from './bench.ts'

const measures = { items_crawled: 6, items_indexed: 5, note: 'a \u0000 in it' }

/** A cancelled attempt beside one of another job. */
async function cancelled(store: Store): Promise<Attempt> {
  await put(store, job('a'))
  const change = cancelJob(await claimOne(store, T0), 'no longer wanted', T0 + 1)
  await write(store, change, T0 + 1)
  await put(store, job('b'))
  const other = cancelJob(await claimOne(store, T0 + 2), 'neither', T0 + 3)
  await write(store, other, T0 + 3)
  return change.attempt!
}

async function attemptsOf(store: Store, jobId: string): Promise<readonly Attempt[]> {
  return (await store.attempts({ jobId }, { limit: 10 })).items
}

export function measuresTests(bench: UseBench): void {
  describe('addMeasures', () => {
    it('H5 adds to the attempt that has none, and changes nothing else', async () => {
      const { store } = bench()
      const attempt = await cancelled(store)
      const jobs = await allJobs(store)
      const others = await attemptsOf(store, 'b')
      const late = { jobId: 'a', attemptId: attempt.id, measures }
      expect(await store.report([late], T0)).toEqual([true])
      expect(await attemptsOf(store, 'a')).toEqual([{ ...attempt, measures }])
      expect((await store.attempts({ id: attempt.id }, { limit: 1 })).items).toEqual([
        { ...attempt, measures },
      ])
      expect(await attemptsOf(store, 'b')).toEqual(others)
      expect(await allJobs(store)).toEqual(jobs)
    })

    it('H5 adds once: what is kept stays', async () => {
      const { store } = bench()
      const { id } = await cancelled(store)
      const add = async (more: typeof measures) => {
        return (await store.report([{ jobId: 'a', attemptId: id, measures: more }], T0))[0]
      }
      const all = [add(measures), add({ ...measures, items_crawled: 7 })]
      expect((await Promise.all(all)).filter(Boolean)).toEqual([true])
      const [{ measures: kept }] = (await attemptsOf(store, 'a')) as [Attempt]
      expect(await add({ ...measures, items_crawled: 8 })).toBe(false)
      expect((await attemptsOf(store, 'a'))[0]!.measures).toEqual(kept)
    })

    it('H5 refuses an attempt that has measures, is not there, or is of another job', async () => {
      const { store } = bench()
      const { id } = await cancelled(store)
      await put(store, job('c', onRequest))
      await put(store, job('e', everyMinute))
      const measured = await claimOne(store, T0 + MINUTE)
      const counted = { kind: 'succeeded', result: null, measures: { items: 1 } } as const
      await finish(store, measured, counted, T0 + MINUTE)
      const refused = [
        { jobId: 'b', attemptId: id },
        { jobId: 'a', attemptId: 'ghost' },
        { jobId: 'c', attemptId: id },
        { jobId: 'ghost', attemptId: id },
        { jobId: 'e', attemptId: measured.lease!.attemptId },
      ]
      for (const one of refused)
        expect(await store.report([{ ...one, measures }], T0)).toEqual([false])
      expect((await attemptsOf(store, 'e'))[0]!.measures).toEqual({ items: 1 })
      expect((await attemptsOf(store, 'a'))[0]!.measures).toBeNull()
    })

    it('H5 a job that was removed meanwhile stays gone', async () => {
      const { store } = bench()
      const { id } = await cancelled(store)
      await store.remove(['a'])
      expect(await store.report([{ jobId: 'a', attemptId: id, measures }], T0)).toEqual([false])
      expect(await attemptsOf(store, 'a')).toEqual([])
    })
  })
}
