// Opening, closing, and the store's own clock.

import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/port.ts'
import { claimRequest, job, T0 } from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const closedCalls: Record<string, (store: Store) => Promise<unknown>> = {
  insert: store => store.insert([job('a')], { now: T0 }),
  claim: store => store.claim(claimRequest()),
  insertAndClaim: store => store.insert([job('a')], { now: T0, claim: claimRequest() }),
  commit: store => store.commit([], { now: T0 }),
  renew: store => store.renew({ leases: [], until: T0 }),
  overdue: store => store.overdue({ now: T0, limit: 1 }),
  nextDueAt: store => store.nextDueAt([{ queue: 'default', handler: 'work' }]),
  get: store => store.get(['a']),
  list: store => store.list({}, { limit: 1 }),
  attempts: store => store.attempts({}, { limit: 1 }),
  ledger: store => store.ledger('a', { limit: 1 }),
  counts: store => store.counts(),
  setQueuePaused: store => store.setQueuePaused('default', true),
  pausedQueues: store => store.pausedQueues(),
  remove: store => store.remove(['a']),
  prune: store => store.prune({ now: T0, limit: 1, endedTasksMax: 1 }),
  'report of late measures': store =>
    store.report([{ jobId: 'a', attemptId: 'b', measures: {} }], T0),
  report: store => store.report([], T0),
  progress: store => store.progress('a'),
  log: store => store.log('a', { limit: 1 }),
  putRecords: store => store.putRecords([], T0),
  getRecords: store => store.getRecords('kind', ['key'], T0),
  listRecords: store => store.listRecords('kind', { limit: 1 }, T0),
}

export function lifetimeTests(bench: UseBench): void {
  describe('open and close', () => {
    it('tells what survives a crash in one line', () => {
      const { store } = bench()
      expect(store.promise.length).toBeGreaterThan(10)
      expect(store.promise).not.toContain('\n')
      expect(['memory', 'sqlite', 'postgres', 'redis']).toContain(store.kind)
    })

    it('follows the clock it was given', async () => {
      const { store, clock } = bench()
      expect(await store.now()).toBe(T0)
      clock.now = T0 + 12_345
      expect(await store.now()).toBe(T0 + 12_345)
    })

    it.each(Object.keys(closedCalls))('%s fails on a closed store', async name => {
      const { store } = bench()
      await store.close()
      const call = async () => closedCalls[name]!(store)
      await expect(call()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    })

    it('closing twice is harmless', async () => {
      const { store } = bench()
      await store.close()
      await expect(store.close()).resolves.toBeUndefined()
    })

    it('a second handle sees the same data and outlives the first', async () => {
      const { store, second } = bench()
      await put(store, job('a'))
      const other = await second()
      await store.close()
      expect((await stored(other, 'a')).id).toBe('a')
    })
  })
}
