// remove: any state, with everything that belongs to the job; its holder finds it gone.

import { describe, expect, it } from 'vitest'
import { pauseJob } from '../../../src/core/control/pause.ts'
import { settle } from '../../../src/core/run/settle.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimIds,
  claimOne,
  commitOne,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  readAll,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { allJobs, put, type UseBench } from './bench.ts'

const makers: Record<string, (store: Store) => Promise<void>> = {
  waiting: store => put(store, job('a')),
  running: async store => {
    await put(store, job('a'))
    await claimOne(store, T0)
  },
  paused: async store => {
    const held = job('a', everyMinute)
    await put(store, held)
    await write(store, pauseJob(held, { until: T0 + 1 }, T0), T0)
  },
  completed: async store => {
    await put(store, job('a'))
    await finish(store, await claimOne(store, T0), succeeded, T0)
  },
  failed: async store => {
    await put(store, job('a'))
    await finish(store, await claimOne(store, T0), failed({ final: true }), T0)
  },
}

export function removeTests(bench: UseBench): void {
  describe('remove', () => {
    it.each(Object.keys(makers))('takes a job that is %s', async state => {
      const { store } = bench()
      await makers[state]!(store)
      expect((await allJobs(store)).map(held => held.state)).toEqual([state])
      expect(await store.remove(['a'])).toEqual([true])
      expect(await allJobs(store)).toEqual([])
      expect(await claimIds(store, T0)).toEqual([])
      expect(await store.overdue({ now: T0 + 1e9, limit: 10 })).toEqual([])
      expect(await store.nextDueAt([{ queue: 'default', handler: 'work' }])).toBeNull()
    })

    it('says for each id whether it existed, in the order given', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'), job('c'))
      expect(await store.remove(['c', 'ghost', 'a', 'a'])).toEqual([true, false, true, false])
      expect((await allJobs(store)).map(held => held.id)).toEqual(['b'])
      expect(await store.remove([])).toEqual([])
    })

    it('takes attempts, skips, progress and log with it', async () => {
      const { store } = bench()
      const held = newJob({ id: 'a', now: T0 - 300_000, spec: everyMinute })
      await put(store, held)
      const claimed = await claimOne(store, T0)
      const { token, attemptId } = claimed.lease!
      const line = { at: T0, level: 'info', message: 'x', fields: null } as const
      const report = { jobId: 'a', token, fence: 1, attemptId, checkpoint: 1, lines: [line] }
      await store.report([report], T0)
      await finish(store, claimed, failed({ retryAfterMs: 1 }), T0)
      expect(await readAll(page => store.ledger('a', page))).toHaveLength(2)
      expect(await store.progress('a')).not.toBeNull()
      await store.remove(['a'])
      expect(await readAll(page => store.attempts({ jobId: 'a' }, page))).toEqual([])
      expect(await readAll(page => store.attempts({ id: attemptId }, page))).toEqual([])
      expect(await readAll(page => store.ledger('a', page))).toEqual([])
      expect(await readAll(page => store.log(attemptId, page))).toEqual([])
      expect(await store.progress('a')).toBeNull()
    })

    it('leaves nothing behind for a new job of the same id', async () => {
      const { store } = bench()
      await makers.completed!(store)
      await store.remove(['a'])
      await put(store, job('a'))
      expect(await readAll(page => store.attempts({ jobId: 'a' }, page))).toEqual([])
      expect(await readAll(page => store.ledger('a', page))).toEqual([])
      expect((await claimOne(store, T0)).counters).toMatchObject({ attempts: 1, fence: 1 })
    })
  })
  recordTests(bench)
  holderTests(bench)
}

function recordTests(bench: UseBench): void {
  const plain = { kind: 'k', value: 'v', expectedVersion: 0, expireAt: null }
  const keysOf = async () =>
    (await bench().store.getRecords('k', ['one', 'two'], T0)).map(held => held.key)

  describe('remove with records', () => {
    it('writes them if any of the jobs existed', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const records = [{ ...plain, key: 'one' }]
      expect(await store.remove(['ghost', 'a'], { now: T0, records })).toEqual([false, true])
      expect(await keysOf()).toEqual(['one'])
    })

    it('writes none if nothing was there to remove', async () => {
      const { store } = bench()
      const records = [{ ...plain, key: 'one' }]
      expect(await store.remove(['ghost'], { now: T0, records })).toEqual([false])
      expect(await store.remove([], { now: T0, records })).toEqual([])
      expect(await keysOf()).toEqual([])
    })

    it('removes and leaves out a record that conflicts', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await store.putRecords([{ ...plain, key: 'one', value: 'old' }], T0)
      const records = ['one', 'two'].map(key => ({ ...plain, key }))
      expect(await store.remove(['a'], { now: T0, records })).toEqual([true])
      expect(await store.getRecords('k', ['one', 'two'], T0)).toMatchObject([
        { key: 'one', value: 'old', version: 1 },
        { key: 'two', value: 'v', version: 1 },
      ])
    })
  })
}

function holderTests(bench: UseBench): void {
  describe('the holder of a removed job', () => {
    it('cannot settle, renew or report any more', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      const { token, attemptId } = held.lease!
      await store.remove(['a'])
      const step = settle(held, { outcome: succeeded, startedAt: T0 }, T0)
      expect(await commitOne(store, step, T0)).toBe('missing')
      const lease = { id: 'a', token, fence: 1 }
      expect(await store.renew({ leases: [lease], until: T0 + 1 })).toMatchObject([
        { id: 'a', isHeld: false },
      ])
      const report = { jobId: 'a', token, fence: 1, attemptId, checkpoint: 1 }
      expect(await store.report([report], T0)).toEqual([false])
      expect(await store.progress('a')).toBeNull()
      expect(await readAll(page => store.attempts({}, page))).toEqual([])
    })

    it('cannot touch a new job of the same id', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const old = await claimOne(store, T0)
      await store.remove(['a'])
      await put(store, job('a'))
      const fresh = await claimOne(store, T0)
      expect(fresh.version).toBe(old.version)
      const step = settle(old, { outcome: succeeded, startedAt: T0 }, T0)
      expect(await commitOne(store, step, T0)).toBe('conflict')
      const lease = { id: 'a', token: old.lease!.token, fence: old.counters.fence }
      expect(await store.renew({ leases: [lease], until: null })).toMatchObject([{ isHeld: false }])
    })
  })
}
