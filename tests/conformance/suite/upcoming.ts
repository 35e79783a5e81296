// upcoming: what waits, in the order it becomes due.

import { describe, expect, it } from 'vitest'
import { pauseJob } from '../../../src/core/pause.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { UpcomingRequest } from '../../../src/store/store.ts'
import {
  claimIds,
  claimOne,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  onRequest,
  T0,
  write,
} from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const once = (at: number) => ({ trigger: { kind: 'once', at } }) as const

export function upcomingTests(bench: UseBench): void {
  const ids = async (more: Partial<UpcomingRequest> = {}) => {
    const request = { from: T0, until: T0 + 60 * MINUTE, limit: 100, ...more }
    return (await bench().store.upcoming(request)).map(held => held.id)
  }

  describe('upcoming', () => {
    it('lists waiting jobs of all lines by their due moment, equals in the order of creation', async () => {
      const { store } = bench()
      await put(
        store,
        job('c', once(T0 + 3)),
        job('b', { ...once(T0 + 2), queue: 'x' }),
        job('d', { ...once(T0 + 3), handler: 'h' }),
        job('a', { ...once(T0 + 1), priority: 1 }),
        newJob({ id: 'e', kind: 'task', spec: { ...once(T0 + 3), queue: 'x', priority: 6 } }),
      )
      expect(await ids()).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(await ids({ limit: 3 })).toEqual(['a', 'b', 'c'])
      expect(await ids({ limit: 0 })).toEqual([])
      expect(await store.upcoming({ from: T0, until: T0 + 2, limit: 9 })).toEqual([
        await stored(store, 'a'),
      ])
    })

    it('takes its first moment in and leaves its last out', async () => {
      const { store } = bench()
      await put(store, ...[9, 10, 11, 12].map(at => job(`at-${at}`, once(T0 + at))))
      expect(await ids({ from: T0 + 10, until: T0 + 12 })).toEqual(['at-10', 'at-11'])
      expect(await ids({ from: T0 + 10, until: T0 + 10 })).toEqual([])
    })

    it('is of one tenant or queue when asked', async () => {
      const { store } = bench()
      await put(
        store,
        job('a', { tenant: 't1' }),
        job('b', { tenant: 't2', queue: 'x' }),
        job('c', { tenant: 't1', queue: 'x' }),
        job('d', { tenant: 't1', queue: 'x', handler: 'h' }),
      )
      expect(await ids({ tenant: 't1' })).toEqual(['a', 'c', 'd'])
      expect(await ids({ queue: 'x' })).toEqual(['b', 'c', 'd'])
      expect(await ids({ tenant: 't1', queue: 'x' })).toEqual(['c', 'd'])
      expect(await ids({ tenant: 't1', queue: 'x', limit: 1 })).toEqual(['c'])
      expect(await ids({ tenant: 'nobody' })).toEqual([])
      expect(await ids({ queue: 'nothing' })).toEqual([])
    })

    it('leaves out what is running, paused, ended or waits for nobody', async () => {
      const { store } = bench()
      await put(store, job('ended'))
      await finish(store, await claimOne(store, T0), failed({ final: true }), T0)
      await put(store, job('running'))
      await claimOne(store, T0)
      const paused = job('paused', everyMinute)
      await put(store, paused, job('manual', onRequest), job('waiting', everyMinute))
      await write(store, pauseJob(paused, {}, T0), T0)
      expect(await ids()).toEqual(['waiting'])
    })

    it('includes retries and jobs of paused queues', async () => {
      const { store } = bench()
      await put(store, job('retry'))
      await finish(store, await claimOne(store, T0), failed({ retryAfterMs: MINUTE }), T0)
      await put(store, job('held', { ...once(T0 + 5), queue: 'x' }))
      await store.setQueuePaused('x', true)
      expect(await ids()).toEqual(['held', 'retry'])
    })

    it('includes what is due already, also when others were served before it', async () => {
      const { store } = bench()
      await put(store, ...Array.from({ length: 9 }, (_, i) => job(`j${i}`, once(T0 + 9 - i))))
      await put(store, job('later', once(T0 + 20)))
      const served = await claimIds(store, T0 + 10, { limit: 4 })
      expect(served).toEqual(['j8', 'j7', 'j6', 'j5'])
      expect(await ids()).toEqual(['j4', 'j3', 'j2', 'j1', 'j0', 'later'])
      expect(await ids({ from: T0 + 8, limit: 2 })).toEqual(['j1', 'j0'])
    })
  })
}
