// upcoming: what waits, in the order it becomes due.

import { describe, expect, it } from 'vitest'
import { pauseJob } from '../../../src/core/control/pause.ts'
import { MINUTE } from '../../../src/core/time.ts'
import { limits } from '../../../src/core/limits.ts'
import type { DueCountRequest, UpcomingRequest } from '../../../src/store/port.ts'
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

    it('is of one kind when asked, and leaves out as many as the offset says', async () => {
      const { store } = bench()
      const task = (id: string, at: number) =>
        newJob({ id, kind: 'task', spec: { ...once(T0 + at), tenant: 't1' } })
      await put(
        store,
        ...[1, 2, 3, 4].flatMap(at => [job(`j${at}`, once(T0 + at)), task(`t${at}`, at)]),
      )
      expect(await ids({ kind: 'job' })).toEqual(['j1', 'j2', 'j3', 'j4'])
      expect(await ids({ kind: 'task', tenant: 't1', limit: 2 })).toEqual(['t1', 't2'])
      expect(await ids({ kind: 'job', offset: 1, limit: 2 })).toEqual(['j2', 'j3'])
      expect(await ids({ tenant: 't1', offset: 3, limit: 2 })).toEqual(['t4'])
      expect(await ids({ offset: 7 })).toEqual(['t4'])
      expect(await ids({ offset: 8 })).toEqual([])
    })

    it('reads with an offset behind more than one look takes in', async () => {
      const { store } = bench()
      const many = limits.scannedMax + 500
      for (let from = 0; from < many; from += 1_000) {
        const count = Math.min(1_000, many - from)
        await put(
          store,
          ...Array.from({ length: count }, (_, i) => job(`j${from + i}`, once(T0 + 9))),
        )
      }
      expect(await ids({ kind: 'job', offset: many - 2, limit: 9 })).toEqual([
        `j${many - 2}`,
        `j${many - 1}`,
      ])
      const window = { from: T0, until: T0 + 20, widthMs: 10 }
      expect(await store.countDue({ ...window, kind: 'job' })).toEqual([many, 0])
    })
  })

  describe('countDue', () => {
    const countDue = (more: Partial<DueCountRequest> = {}) =>
      bench().store.countDue({ from: T0, until: T0 + 10, widthMs: 5, ...more })

    it('counts what waits in each part, from the first moment until before the last', async () => {
      await put(bench().store, ...[0, 4, 5, 9, 10].map(at => job(`at-${at}`, once(T0 + at))))
      expect(await countDue()).toEqual([2, 2])
      expect(await countDue({ from: T0 + 1, widthMs: 4 })).toEqual([1, 1, 1])
      expect(await countDue({ from: T0 + 10, until: T0 + 11 })).toEqual([1])
      expect(await countDue({ until: T0 })).toEqual([])
    })

    it('is of one tenant, queue or kind when asked', async () => {
      await put(
        bench().store,
        job('a', { ...once(T0 + 1), tenant: 't1' }),
        job('b', { ...once(T0 + 1), tenant: 't2', queue: 'x' }),
        newJob({ id: 'c', kind: 'task', spec: { ...once(T0 + 6), tenant: 't1', queue: 'x' } }),
      )
      expect(await countDue()).toEqual([2, 1])
      expect(await countDue({ tenant: 't1' })).toEqual([1, 1])
      expect(await countDue({ queue: 'x' })).toEqual([1, 1])
      expect(await countDue({ kind: 'job' })).toEqual([2, 0])
      expect(await countDue({ tenant: 't1', queue: 'x', kind: 'task' })).toEqual([0, 1])
      expect(await countDue({ tenant: 'nobody' })).toEqual([0, 0])
      expect(await countDue({ queue: 'nothing' })).toEqual([0, 0])
    })

    it('counts what is due already and left by a claim, not what runs', async () => {
      const { store } = bench()
      await put(store, ...[1, 2, 7].map(at => job(`at-${at}`, once(T0 + at))))
      await claimIds(store, T0 + 3, { limit: 1 })
      expect(await countDue()).toEqual([1, 1])
      expect(await countDue({ tenant: 'default', kind: 'job' })).toEqual([1, 1])
    })

    it('refuses more parts than the limit, and parts of no length', async () => {
      const tooMany = countDue({ until: T0 + limits.partsMax + 1, widthMs: 1 })
      await expect(tooMany).rejects.toMatchObject({ code: 'QUERY_INVALID' })
      await expect(countDue({ widthMs: 0 })).rejects.toMatchObject({ code: 'QUERY_INVALID' })
    })
  })
}
