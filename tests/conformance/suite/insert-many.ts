// insert of many at once: stores may say of them once what they share, and take them for new until
// they find otherwise, but each is its own.

import { describe, expect, it } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { InsertResult, Store } from '../../../src/store/port.ts'
import { claimRequest, job, newJob, T0, type JobOverrides } from '../../support/builders.ts'
import { allJobs, note, put, stored, type UseBench } from './bench.ts'

const at = { now: T0 }
const idOf = (i: number) => `job-${String(i).padStart(3, '0')}`
const many = (count: number): Job[] => Array.from({ length: count }, (_, i) => job(idOf(i)))

/** Each differs from the plain one in one thing. */
const differing: readonly JobOverrides[] = [
  {},
  { spec: { lane: 'another' } },
  { spec: { queue: 'another' } },
  { spec: { tenant: 'another' } },
  { spec: { name: 'another' } },
  { spec: { priority: 1 } },
  { spec: { payload: { n: 1 } } },
  { spec: { trigger: { kind: 'once', at: T0 + MINUTE } } },
  { spec: { trigger: { kind: 'manual' } } },
  { spec: { retention: { attempts: 3, ageMs: MINUTE } } },
  { kind: 'task' },
  { kind: 'task', seriesId: idOf(0) },
  { declared: { app: 'app', definition: 'one', key: 'k', generation: 'g' } },
  { now: T0 - MINUTE },
]

async function waiting(store: Store): Promise<number> {
  const counts = await store.counts()
  return counts.reduce((sum, one) => sum + (one.state === 'waiting' ? one.count : 0), 0)
}

export function insertManyTests(bench: UseBench): void {
  describe('insert of many', () => {
    it('puts in those that are alike, each as its own', async () => {
      const { store } = bench()
      const jobs = many(60)
      await put(store, ...jobs)
      expect(await allJobs(store)).toEqual(jobs)
      expect(await waiting(store)).toBe(60)
      const claimed = await store.claim(claimRequest({ limit: 60 }))
      expect(claimed.map(({ id }) => id).sort()).toEqual(jobs.map(({ id }) => id))
      expect(claimed.map(({ spec }) => spec)).toEqual(jobs.map(({ spec }) => spec))
    })

    it.each(differing)('keeps apart one that differs in %j', async one => {
      const { store } = bench()
      const jobs = many(30).with(17, newJob({ ...one, id: idOf(17) }))
      await put(store, ...jobs)
      expect(await store.get(jobs.map(({ id }) => id))).toEqual(jobs)
    })

    it('leaves those alone that are there, and puts in the others', async () => {
      const { store } = bench()
      const held = [job(idOf(20), { name: 'first' }), job(idOf(59), { name: 'last' })]
      await put(store, ...held)
      const { results } = await store.insert(many(60), at)
      const there = results.flatMap((result, i) => (result === 'inserted' ? [] : [[i, result]]))
      expect(there).toEqual([20, 59].map(i => [i, 'exists']))
      for (const one of held) expect(await stored(store, one.id)).toEqual(one)
      expect(await waiting(store)).toBe(60)
      expect((await allJobs(store)).slice(2)).toEqual(many(59).toSpliced(20, 1))
    })

    it('writes records with those that are new, and none where all are there', async () => {
      const { store } = bench()
      const jobs = many(40)
      const noted = async () =>
        (await store.getRecords('note', ['a', 'b'], T0)).map(({ key }) => key)
      await store.insert(jobs.slice(0, 39), at)
      const { results } = await store.insert(jobs, { ...at, records: [note('a')] })
      expect(results.lastIndexOf('exists')).toBe(38)
      expect(results[39]).toBe('inserted')
      await store.insert(jobs, { ...at, records: [note('b')] })
      expect(await noted()).toEqual(['a'])
    })

    it('lets one of two callers with the same jobs in, for each of them', async () => {
      const { store, second } = bench()
      const other = await second()
      const [first, rest] = [many(60), many(90).slice(30)]
      const [one, two] = await Promise.all([store.insert(first, at), other.insert(rest, at)])
      const isIn = (result: InsertResult | undefined) => result === 'inserted'
      const ids = [
        ...first.filter((_, i) => isIn(one.results[i])),
        ...rest.filter((_, i) => isIn(two.results[i])),
      ]
      expect(ids.map(({ id }) => id).sort()).toEqual(many(90).map(({ id }) => id))
      expect(await waiting(store)).toBe(90)
    })
  })
}
