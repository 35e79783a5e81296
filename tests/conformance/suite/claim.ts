// claim: due and waiting becomes running with a lease.

import { describe, expect, it } from 'vitest'
import { pauseJob } from '../../../src/core/control/pause.ts'
import type { Job } from '../../../src/core/job.ts'
import {
  claimIds,
  claimOne,
  claimRequest,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  onRequest,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const once = (at: number) => ({ trigger: { kind: 'once', at } }) as const

export function claimTests(bench: UseBench): void {
  whatIsClaimed(bench)
  whatIsWritten(bench)
}

function whatIsClaimed(bench: UseBench): void {
  describe('claim takes', () => {
    it('a job due exactly now, and none due a millisecond later', async () => {
      const { store } = bench()
      await put(store, job('now', once(T0)), job('later', once(T0 + 1)), job('past', once(T0 - 1)))
      expect((await claimIds(store, T0)).sort()).toEqual(['now', 'past'])
      expect(await claimIds(store, T0)).toEqual([])
      expect(await claimIds(store, T0 + 1)).toEqual(['later'])
    })

    it('jobs that another process stored, whole, whatever they hold', async () => {
      const { store, second } = bench()
      const other = await second()
      const declared = { app: 'a', definition: 'd"\u001f', key: 'k', generation: '1' }
      // Twice: after the first time a store may know better what to ask for.
      for (const round of [1, 2]) {
        const made = [
          newJob({ id: `plain ${round}` }),
          newJob({ id: `odd ${round} "\u001f{,}\\ \u{1f514}`, kind: 'task', declared }),
          newJob({ id: `of ${round}`, kind: 'task', seriesId: `series "${round}", \u001f` }),
          newJob({
            id: `full ${round}`,
            spec: { name: 'a\u001fb', payload: { 'a\u001f': ['"', null] } },
          }),
        ]
        await put(store, ...made)
        const claimed = await other.claim(claimRequest({ limit: 9 }))
        expect(claimed.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort())
        for (const held of claimed) {
          expect(held).toEqual(await stored(store, held.id))
          const {
            spec,
            declared: by,
            seriesId,
            kind,
            createdAt,
          } = made.find(one => one.id === held.id)!
          expect(held).toMatchObject({ spec, declared: by, seriesId, kind, createdAt })
        }
      }
    })

    it('only the handlers asked for', async () => {
      const { store } = bench()
      await put(store, job('a', { handler: 'one' }), job('b', { handler: 'two' }), job('c'))
      expect((await claimIds(store, T0, { handlers: ['one', 'two'] })).sort()).toEqual(['a', 'b'])
      expect(await claimIds(store, T0, { handlers: ['three'] })).toEqual([])
      expect(await claimIds(store, T0, { handlers: [] })).toEqual([])
    })

    it('only the queue asked for', async () => {
      const { store } = bench()
      await put(store, job('a', { queue: 'x' }), job('b', { queue: 'y' }))
      expect(await claimIds(store, T0, { queue: 'y' })).toEqual(['b'])
      expect(await claimIds(store, T0, { queue: 'z' })).toEqual([])
    })

    it('nothing from a paused queue, and everything once it goes on', async () => {
      const { store } = bench()
      await put(store, job('a', { queue: 'x' }), job('b', { queue: 'y' }))
      await store.setQueuePaused('x', true)
      await store.setQueuePaused('x', true)
      expect(await store.pausedQueues()).toEqual(['x'])
      expect(await claimIds(store, T0, { queue: 'x' })).toEqual([])
      expect(await claimIds(store, T0, { queue: 'y' })).toEqual(['b'])
      await store.setQueuePaused('x', false)
      expect(await store.pausedQueues()).toEqual([])
      expect(await claimIds(store, T0, { queue: 'x' })).toEqual(['a'])
    })

    it('at most the limit', async () => {
      const { store } = bench()
      await put(store, ...['a', 'b', 'c', 'd', 'e'].map(id => job(id)))
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['a', 'b'])
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['c', 'd'])
      expect(await claimIds(store, T0, { limit: 2 })).toEqual(['e'])
    })

    it('no job that runs, is paused, has ended or waits for nothing', async () => {
      const { store } = bench()
      await put(store, job('ended'))
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await put(store, job('running'))
      await claimOne(store, T0)
      const paused = newJob({ id: 'paused', now: T0 - 3_600_000, spec: everyMinute })
      await put(store, paused, job('manual', onRequest))
      await write(store, pauseJob(paused, {}, T0), T0)
      expect(await claimIds(store, T0)).toEqual([])
    })

    it('a retry at its own moment', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await finish(store, await claimOne(store, T0), failed({ retryAfterMs: 5_000 }), T0)
      expect(await claimIds(store, T0 + 4_999)).toEqual([])
      expect(await claimIds(store, T0 + 5_000)).toEqual(['a'])
    })
  })
}

function whatIsWritten(bench: UseBench): void {
  describe('claim writes', () => {
    it('a lease with the token, owner, attempt id and end that were asked for', async () => {
      const { store } = bench()
      const before = job('a')
      await put(store, before)
      const request = claimRequest({ now: T0 + 7, owner: 'node-ö', leaseMs: 999 })
      const [claimed] = await store.claim(request)
      const expected: Job = {
        ...before,
        state: 'running',
        dueAt: null,
        lease: {
          token: request.token,
          owner: 'node-ö',
          attemptId: request.attemptIds[0]!,
          claimedAt: T0 + 7,
          until: T0 + 1_006,
        },
        counters: { ...before.counters, attempts: 1, fence: 1 },
        version: 2,
      }
      expect(claimed).toEqual(expected)
      expect(await stored(store, 'a')).toEqual(expected)
    })

    it('one token and an attempt id of its own for each job of the batch', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'), job('c'))
      const request = claimRequest({ limit: 3 })
      const claimed = await store.claim(request)
      expect(claimed.map(held => held.lease!.token)).toEqual(Array(3).fill(request.token))
      expect(claimed.map(held => held.lease!.attemptId)).toEqual(request.attemptIds)
    })

    it('one step of fence, attempt counter and version with every claim', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const first = await claimOne(store, T0)
      expect(first.counters).toMatchObject({ attempts: 1, fence: 1 })
      const settled = await finish(store, first, failed({ retryAfterMs: 0 }), T0)
      const again = await claimOne(store, T0)
      expect(again.counters).toMatchObject({ attempts: 2, fence: 2 })
      expect(again.version).toBe(settled.version + 1)
    })

    it('a new fence but the same number after a claim that was given back', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await finish(store, await claimOne(store, T0), { kind: 'released' }, T0)
      const again = await claimOne(store, T0)
      expect(again.counters).toMatchObject({ attempts: 1, fence: 2 })
    })
  })
}
