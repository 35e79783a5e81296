// insert: idempotent by id, bounded by the number of waiting jobs of a queue.

import { describe, expect, it } from 'vitest'
import { pauseJob } from '../../../src/core/pause.ts'
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
      const results = await store.insert([job('a'), job('b'), job('c')], at)
      expect(results).toEqual(['inserted', 'exists', 'inserted'])
    })

    it('leaves a job that exists as it is', async () => {
      const { store } = bench()
      const first = job('a', { payload: { n: 1 } })
      await put(store, first)
      expect(await store.insert([job('a', { payload: { n: 2 } })], at)).toEqual(['exists'])
      expect(await stored(store, 'a')).toEqual(first)
    })

    it('takes the first of two jobs with one id in one batch', async () => {
      const { store } = bench()
      const results = await store.insert([job('a', { name: 'one' }), job('a', { name: 'two' })], at)
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
      expect(await bench().store.insert([], at)).toEqual([])
    })
  })
  fullQueueTests(bench)
}

function fullQueueTests(bench: UseBench): void {
  describe('insert into a bounded queue', () => {
    it('leaves out what no longer fits and says so', async () => {
      const { store } = bench()
      const jobs = [job('a'), job('b'), job('c')]
      expect(await store.insert(jobs, { now: T0, waitingMax: 2 })).toEqual([
        'inserted',
        'inserted',
        'full',
      ])
      expect(await store.get(['c'])).toEqual([])
    })

    it('has no bound when none is given', async () => {
      const { store } = bench()
      await store.insert([job('a')], { now: T0, waitingMax: 1 })
      expect(await store.insert([job('b')], { now: T0, waitingMax: null })).toEqual(['inserted'])
      expect(await store.insert([job('c')], at)).toEqual(['inserted'])
    })

    it('says exists rather than full for a job that is already there', async () => {
      const { store } = bench()
      await put(store, job('a'))
      expect(await store.insert([job('a')], { now: T0, waitingMax: 1 })).toEqual(['exists'])
    })

    it('counts each queue by itself', async () => {
      const { store } = bench()
      await put(store, job('a', { queue: 'x' }))
      const jobs = [job('b', { queue: 'x' }), job('c', { queue: 'y' })]
      expect(await store.insert(jobs, { now: T0, waitingMax: 1 })).toEqual(['full', 'inserted'])
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
      expect(await store.insert(jobs, { now: T0, waitingMax: 1 })).toEqual(['inserted', 'full'])
    })
  })
}
