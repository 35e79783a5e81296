// insert: idempotent by id, bounded by the number of waiting jobs of a queue.

import { describe, expect, it } from 'vitest'
import { pauseJob } from '../../../src/core/control/pause.ts'
import type { RecordWrite } from '../../../src/core/record.ts'
import { allJobs, put, stored, type UseBench } from './bench.ts'
import {
  claimOne,
  everyMinute,
  finish,
  job,
  newJob,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'

const at = { now: T0 }

export function insertTests(bench: UseBench): void {
  describe('insert', () => {
    it('answers for each job in the order given', async () => {
      const { store } = bench()
      await put(store, job('b'))
      const { results } = await store.insert([job('a'), job('b'), job('c')], at)
      expect(results).toEqual(['inserted', 'exists', 'inserted'])
    })

    it('leaves a job that exists as it is', async () => {
      const { store } = bench()
      const first = job('a', { payload: { n: 1 } })
      await put(store, first)
      expect((await store.insert([job('a', { payload: { n: 2 } })], at)).results).toEqual([
        'exists',
      ])
      expect(await stored(store, 'a')).toEqual(first)
    })

    it('takes the first of two jobs with one id in one batch', async () => {
      const { store } = bench()
      const { results } = await store.insert(
        [job('a', { name: 'one' }), job('a', { name: 'two' })],
        at,
      )
      expect(results).toEqual(['inserted', 'exists'])
      expect((await stored(store, 'a')).spec.name).toBe('one')
    })

    it('lists jobs in the order they were inserted, also within a batch', async () => {
      const { store } = bench()
      await put(store, job('z'), job('m'))
      await put(store, job('a'))
      expect((await allJobs(store)).map(held => held.id)).toEqual(['z', 'm', 'a'])
    })

    it('does nothing for an empty batch', async () => {
      expect((await bench().store.insert([], at)).results).toEqual([])
    })
  })
  fullQueueTests(bench)
  recordTests(bench)
}

function record(key: string, expectedVersion: number | null = 0): RecordWrite {
  return { kind: 'k', key, value: 'v', expectedVersion, expireAt: null }
}

function recordTests(bench: UseBench): void {
  const keysOf = async (...keys: string[]) =>
    (await bench().store.getRecords('k', keys, T0)).map(held => held.key).sort()

  describe('insert with records', () => {
    it('writes jobs and records together', async () => {
      const { store } = bench()
      const records = [record('one'), record('two', null)]
      expect((await store.insert([job('a'), job('b')], { now: T0, records })).results).toEqual([
        'inserted',
        'inserted',
      ])
      expect(await keysOf('one', 'two')).toEqual(['one', 'two'])
      expect(await allJobs(store)).toHaveLength(2)
    })

    it('writes nothing at all when one record conflicts', async () => {
      const { store } = bench()
      await store.putRecords([record('taken')], T0)
      const records = [record('one'), record('taken')]
      expect((await store.insert([job('a'), job('b')], { now: T0, records })).results).toEqual([
        'conflict',
        'conflict',
      ])
      expect(await allJobs(store)).toEqual([])
      expect(await keysOf('one')).toEqual([])
      expect((await store.counts()).filter(({ count }) => count > 0)).toEqual([])
    })

    it('says conflict rather than exists or full', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await store.putRecords([record('taken')], T0)
      const options = { now: T0, waitingMax: 1, records: [record('taken')] }
      expect((await store.insert([job('a'), job('b')], options)).results).toEqual([
        'conflict',
        'conflict',
      ])
    })

    it('takes an expired record for none', async () => {
      const { store } = bench()
      await store.putRecords([{ ...record('old'), expireAt: T0 }], T0 - 1)
      expect(
        (await store.insert([job('a')], { now: T0, records: [record('old')] })).results,
      ).toEqual(['inserted'])
      expect(await keysOf('old')).toEqual(['old'])
    })

    it('writes the records if any job was inserted, and none otherwise', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const some = { now: T0, waitingMax: 1, records: [record('none')] }
      expect((await store.insert([job('a'), job('b')], some)).results).toEqual(['exists', 'full'])
      expect((await store.insert([], some)).results).toEqual([])
      expect(await keysOf('none')).toEqual([])
      const more = { now: T0, records: [record('more')] }
      expect((await store.insert([job('a'), job('b')], more)).results).toEqual([
        'exists',
        'inserted',
      ])
      expect(await keysOf('more')).toEqual(['more'])
    })

    it('lets one of two callers with the same key in, and only one', async () => {
      const { store, second } = bench()
      const other = await second()
      const options = { now: T0, records: [record('key')] }
      const results = await Promise.all([
        store.insert([job('a')], options),
        other.insert([job('b')], options),
      ])
      expect(results.flatMap(one => one.results).sort()).toEqual(['conflict', 'inserted'])
      expect(await allJobs(store)).toHaveLength(1)
    })
  })
}

function fullQueueTests(bench: UseBench): void {
  describe('insert into a bounded queue', () => {
    it('leaves out what no longer fits and says so', async () => {
      const { store } = bench()
      const jobs = [job('a'), job('b'), job('c')]
      expect((await store.insert(jobs, { now: T0, waitingMax: 2 })).results).toEqual([
        'inserted',
        'inserted',
        'full',
      ])
      expect(await store.get(['c'])).toEqual([])
    })

    it('has no bound when none is given', async () => {
      const { store } = bench()
      await store.insert([job('a')], { now: T0, waitingMax: 1 })
      expect((await store.insert([job('b')], { now: T0, waitingMax: null })).results).toEqual([
        'inserted',
      ])
      expect((await store.insert([job('c')], at)).results).toEqual(['inserted'])
    })

    it('says exists rather than full for a job that is already there', async () => {
      const { store } = bench()
      await put(store, job('a'))
      expect((await store.insert([job('a')], { now: T0, waitingMax: 1 })).results).toEqual([
        'exists',
      ])
    })

    it('counts each queue by itself', async () => {
      const { store } = bench()
      await put(store, job('a', { queue: 'x' }))
      const jobs = [job('b', { queue: 'x' }), job('c', { queue: 'y' })]
      expect((await store.insert(jobs, { now: T0, waitingMax: 1 })).results).toEqual([
        'full',
        'inserted',
      ])
    })

    it('counts waiting jobs only: running, paused and ended ones take no room', async () => {
      const { store } = bench()
      await put(store, job('ended'))
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await put(store, job('running'))
      await claimOne(store, T0)
      const paused = newJob({ id: 'paused', spec: everyMinute })
      await put(store, paused)
      await write(store, pauseJob(paused, {}, T0), T0)
      const jobs = [job('a'), job('b')]
      expect((await store.insert(jobs, { now: T0, waitingMax: 1 })).results).toEqual([
        'inserted',
        'full',
      ])
    })
  })
}
