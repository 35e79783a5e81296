// Who goes first when several are due: lanes take turns, rank orders inside one (spec D4).

import { describe, expect, it } from 'vitest'
import type { JobSpec } from '../../../src/core/spec.ts'
import { AGE_MS } from '../../../src/core/limits.ts'
import type { Job } from '../../../src/core/job.ts'
import { claimIds, job, T0 } from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'

const LOW = 2
const NORMAL = 3
const HIGH = 4
const CRITICAL = 6

function of(lane: string, ...ids: string[]): Job[] {
  return ids.map(id => job(id, { lane }))
}

function ranked(id: string, priority: JobSpec['priority'], at = T0): Job {
  return job(id, { priority, trigger: { kind: 'once', at } })
}

export function orderTests(bench: UseBench): void {
  insideALane(bench)
  betweenLanes(bench)
  cursorTests(bench)
}

function insideALane(bench: UseBench): void {
  describe('inside a lane', () => {
    it('serves CRITICAL, HIGH, NORMAL, LOW however they were pushed', async () => {
      const { store } = bench()
      const pushed = [
        ranked('low', LOW),
        ranked('critical', CRITICAL),
        ranked('high', HIGH),
        ranked('normal', NORMAL),
      ]
      await put(store, ...pushed)
      expect(await claimIds(store, T0)).toEqual(['critical', 'high', 'normal', 'low'])
    })

    it('serves the same order when claimed one by one', async () => {
      const { store } = bench()
      await put(store, ranked('low', LOW), ranked('critical', CRITICAL), ranked('high', HIGH))
      const order = []
      for (let i = 0; i < 3; i++) order.push(...(await claimIds(store, T0, { limit: 1 })))
      expect(order).toEqual(['critical', 'high', 'low'])
    })

    it('serves equal priorities in the order they were pushed', async () => {
      const { store } = bench()
      await put(store, ranked('c2', CRITICAL), ranked('c1', CRITICAL), ranked('c3', CRITICAL))
      expect(await claimIds(store, T0)).toEqual(['c2', 'c1', 'c3'])
    })

    it('serves the earlier moment first among equal priorities', async () => {
      const { store } = bench()
      await put(store, ranked('later', NORMAL, T0), ranked('sooner', NORMAL, T0 - 1))
      expect(await claimIds(store, T0)).toEqual(['sooner', 'later'])
    })

    it('lets low priority age past fresh high priority, exactly at its bound', async () => {
      const { store } = bench()
      const edge = T0 + (CRITICAL - LOW) * AGE_MS
      await put(store, ranked('old-low', LOW, T0), ranked('at-edge', CRITICAL, edge))
      await put(store, ranked('before-edge', CRITICAL, edge - 1))
      expect(await claimIds(store, edge)).toEqual(['before-edge', 'old-low', 'at-edge'])
    })
  })
}

function betweenLanes(bench: UseBench): void {
  describe('between lanes', () => {
    it('alternates two users with three jobs each', async () => {
      const { store } = bench()
      await put(store, ...of('u1', 'a1', 'a2', 'a3'), ...of('u2', 'b1', 'b2', 'b3'))
      expect(await claimIds(store, T0)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
    })

    it('alternates them also over small claims', async () => {
      const { store } = bench()
      await put(store, ...of('u1', 'a1', 'a2', 'a3'), ...of('u2', 'b1', 'b2', 'b3'))
      const order = []
      for (let i = 0; i < 6; i++) order.push(...(await claimIds(store, T0, { limit: 1 })))
      expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
    })

    it('serves the single job of another user next, however many one user has', async () => {
      const { store } = bench()
      await put(store, ...Array.from({ length: 50 }, (_, i) => of('A', `a${i}`)[0]!))
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['a0'])
      await put(store, ...of('B', 'b'))
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['b'])
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['a1'])
    })

    it('does not let priority cross lanes', async () => {
      const { store } = bench()
      const urgent = ['x1', 'x2', 'x3'].map(id => job(id, { lane: 'b', priority: CRITICAL }))
      await put(store, ...urgent, job('calm', { lane: 'a', priority: 1 }))
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['calm', 'x1'])
    })

    it('gives what a short lane leaves to the longer ones', async () => {
      const { store } = bench()
      await put(store, ...of('a', 'a1'), ...of('b', 'b1', 'b2', 'b3', 'b4'), ...of('c', 'c1', 'c2'))
      expect(await claimIds(store, T0, { limit: 6 })).toEqual(['a1', 'b1', 'c1', 'b2', 'c2', 'b3'])
    })

    it('orders lanes by UTF-16 code units, whatever they are made of', async () => {
      const { store } = bench()
      const lanes = ['\uE000', '😀', 'ä', 'a', 'Z', 'a b', "it's", '日本', '%_"\\', 'A\u0301']
      await put(store, ...lanes.map((lane, i) => job(`job-${i}`, { lane })))
      const sorted = lanes.map((lane, i) => ({ lane, i }))
      sorted.sort((a, b) => (a.lane < b.lane ? -1 : 1))
      const expected = sorted.map(({ i }) => `job-${i}`)
      expect(await claimIds(store, T0, { limit: 4 })).toEqual(expected.slice(0, 4))
      expect(await claimIds(store, T0, { limit: 4 })).toEqual(expected.slice(4, 8))
      expect(await claimIds(store, T0)).toEqual(expected.slice(8))
    })
  })
}

function cursorTests(bench: UseBench): void {
  describe('the turn of the lanes', () => {
    it('goes on behind the lane served last', async () => {
      const { store } = bench()
      await put(store, ...of('a', 'a1', 'a2'), ...of('b', 'b1', 'b2'), ...of('c', 'c1', 'c2'))
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['a1', 'b1'])
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['c1', 'a2'])
      expect(await claimIds(store, T0)).toEqual(['b2', 'c2'])
    })

    it('stays where it is when everything due fits', async () => {
      const { store } = bench()
      await put(store, ...of('a', 'a1'), ...of('b', 'b1'), ...of('c', 'c1'))
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['a1'])
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['b1', 'c1'])
      await put(store, ...of('a', 'a2'), ...of('b', 'b2'), ...of('c', 'c2'))
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['b2'])
    })

    it('finds its place also when the lane it stands at is gone', async () => {
      const { store } = bench()
      await put(store, ...of('a', 'a1'), ...of('b', 'b1'), ...of('d', 'd1', 'd2'))
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['a1', 'b1'])
      await put(store, ...of('a', 'a2'), ...of('c', 'c1'))
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['c1'])
    })

    it('is kept for each queue by itself', async () => {
      const { store } = bench()
      for (const queue of ['x', 'y']) {
        await put(store, ...['a', 'b', 'c'].map(lane => job(`${queue}-${lane}`, { queue, lane })))
      }
      expect(await claimIds(store, T0, { queue: 'x', limit: 1 })).toEqual(['x-a'])
      expect(await claimIds(store, T0, { queue: 'y', limit: 1 })).toEqual(['y-a'])
      expect(await claimIds(store, T0, { queue: 'x', limit: 1 })).toEqual(['x-b'])
    })

    it('is shared by every handle', async () => {
      const { store, second } = bench()
      const other = await second()
      await put(store, ...of('a', 'a1', 'a2'), ...of('b', 'b1', 'b2'))
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['a1'])
      expect(await claimIds(other, T0, { limit: 1 })).toEqual(['b1'])
      expect(await claimIds(store, T0, { limit: 1 })).toEqual(['a2'])
    })

    it('serves every lane within one round', async () => {
      const { store } = bench()
      const lanes = Array.from({ length: 20 }, (_, i) => `lane-${String(i).padStart(2, '0')}`)
      await put(store, ...lanes.flatMap(lane => of(lane, `${lane}.1`, `${lane}.2`, `${lane}.3`)))
      const firsts = []
      for (let i = 0; i < 4; i++) firsts.push(...(await claimIds(store, T0, { limit: 5 })))
      expect(firsts).toEqual(lanes.map(lane => `${lane}.1`))
    })
  })
}
