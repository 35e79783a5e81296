// overdue and nextDueAt: what needs attention without being due, and when to look again.

import { describe, expect, it } from 'vitest'
import { pauseJob } from '../../../src/core/control/pause.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimIds,
  claimOne,
  everyMinute,
  job,
  newJob,
  onRequest,
  succeeded,
  finish,
  T0,
  write,
} from '../../support/builders.ts'
import { allJobs, put, type UseBench } from './bench.ts'

async function pausedUntil(store: Store, id: string, until: number | null): Promise<void> {
  const held = newJob({ id, spec: everyMinute })
  await put(store, held)
  await write(store, pauseJob(held, { until }, T0), T0)
}

async function idsOf(store: Store, now: number, limit = 100): Promise<string[]> {
  return (await store.overdue({ now, limit })).map(held => held.id)
}

export function overdueTests(bench: UseBench): void {
  describe('overdue', () => {
    it('names a running job from the very end of its lease on', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0, { leaseMs: 1_000 })
      expect(await idsOf(store, T0 + 999)).toEqual([])
      expect(await store.overdue({ now: T0 + 1_000, limit: 10 })).toEqual([held])
      expect(await idsOf(store, T0 + 1_001)).toEqual(['a'])
    })

    it('names a paused job from the very end of its pause on', async () => {
      const { store } = bench()
      await pausedUntil(store, 'a', T0 + 1_000)
      await pausedUntil(store, 'for-good', null)
      expect(await idsOf(store, T0 + 999)).toEqual([])
      expect(await idsOf(store, T0 + 1_000)).toEqual(['a'])
    })

    it('follows a renewed lease', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0, { leaseMs: 1_000 })
      const lease = { id: 'a', token: held.lease!.token, fence: 1 }
      await store.renew({ leases: [lease], until: T0 + 5_000 })
      expect(await idsOf(store, T0 + 1_000)).toEqual([])
      expect(await idsOf(store, T0 + 5_000)).toEqual(['a'])
    })

    it('follows a lease that was made to end earlier, as after a clock step', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0, { leaseMs: 600_000 })
      const lease = { id: 'a', token: held.lease!.token, fence: 1 }
      await store.renew({ leases: [lease], until: T0 + 1_000 })
      expect(await idsOf(store, T0 + 999)).toEqual([])
      expect(await idsOf(store, T0 + 1_000)).toEqual(['a'])
    })

    it('orders by the end that passed first, whatever ended, up to the limit', async () => {
      const { store } = bench()
      await pausedUntil(store, 'second', T0 + 2_000)
      await put(store, job('third'), job('fourth', { queue: 'x' }))
      await claimOne(store, T0, { leaseMs: 3_000 })
      await claimOne(store, T0, { leaseMs: 3_000, queue: 'x' })
      await pausedUntil(store, 'first', T0 + 1_000)
      const all = ['first', 'second', 'third', 'fourth']
      expect(await idsOf(store, T0 + 3_000)).toEqual(all)
      expect(await idsOf(store, T0 + 3_000, 2)).toEqual(all.slice(0, 2))
    })

    it('knows nothing of jobs that are merely due or ended', async () => {
      const { store } = bench()
      await put(store, job('ended'))
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await put(store, job('due'))
      expect(await idsOf(store, T0 + 1e9)).toEqual([])
    })

    it('changes nothing', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await claimOne(store, T0)
      const before = await allJobs(store)
      await store.overdue({ now: T0 + 1e9, limit: 10 })
      expect(await allJobs(store)).toEqual(before)
      expect(await idsOf(store, T0 + 1e9)).toEqual(['a'])
    })

    it('names running jobs of paused queues too', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await claimOne(store, T0)
      await store.setQueuePaused('default', true)
      expect(await idsOf(store, T0 + 1e9)).toEqual(['a'])
    })
  })
  nextDueTests(bench)
}

const once = (at: number) => ({ trigger: { kind: 'once', at } }) as const
const line = { queue: 'default', handler: 'work' }

function nextDueTests(bench: UseBench): void {
  describe('nextDueAt', () => {
    it('is the earliest due moment, passed or not', async () => {
      const { store } = bench()
      await put(store, job('b', once(T0 + 500)), job('a', once(T0 + 100)))
      expect(await store.nextDueAt([line])).toBe(T0 + 100)
      await put(store, job('c', once(T0 - 100)))
      expect(await store.nextDueAt([line])).toBe(T0 - 100)
      await claimIds(store, T0 + 100)
      expect(await store.nextDueAt([line])).toBe(T0 + 500)
    })

    it('is null when nothing waits for a moment', async () => {
      const { store } = bench()
      expect(await store.nextDueAt([line])).toBeNull()
      await put(store, job('running'), job('manual', onRequest))
      await claimOne(store, T0)
      expect(await store.nextDueAt([line])).toBeNull()
      expect(await store.nextDueAt([])).toBeNull()
    })

    it('looks only at the lines asked for', async () => {
      const { store } = bench()
      await put(
        store,
        job('a', { ...once(T0 + 1), queue: 'x', handler: 'two' }),
        job('b', { ...once(T0 + 2), queue: 'x', handler: 'one' }),
        job('c', { ...once(T0 + 3), queue: 'y', handler: 'two' }),
      )
      const one = { queue: 'x', handler: 'one' }
      const two = { queue: 'y', handler: 'two' }
      expect(await store.nextDueAt([one, two])).toBe(T0 + 2)
      expect(await store.nextDueAt([two])).toBe(T0 + 3)
      expect(await store.nextDueAt([line])).toBeNull()
    })

    it('passes over paused queues', async () => {
      const { store } = bench()
      await put(store, job('a', { ...once(T0 + 1), queue: 'x' }), job('b', once(T0 + 2)))
      await store.setQueuePaused('x', true)
      const lines = [line, { queue: 'x', handler: 'work' }]
      expect(await store.nextDueAt(lines)).toBe(T0 + 2)
      await store.setQueuePaused('x', false)
      expect(await store.nextDueAt(lines)).toBe(T0 + 1)
    })

    it('passes over paused jobs', async () => {
      const { store } = bench()
      await pausedUntil(store, 'a', null)
      expect(await store.nextDueAt([line])).toBeNull()
    })
  })
}
