// commit: a change is written iff version and lease token still match.

import { describe, expect, it } from 'vitest'
import { change } from '../../../src/core/change.ts'
import { cancelJob } from '../../../src/core/control/control.ts'
import { editJob } from '../../../src/core/control/edit.ts'
import { pauseJob } from '../../../src/core/control/pause.ts'
import { settle } from '../../../src/core/run/settle.ts'
import {
  claimIds,
  claimOne,
  commitOne,
  everyMinute,
  job,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const done = { outcome: succeeded, startedAt: T0 }

export function commitTests(bench: UseBench): void {
  matchTests(bench)
  batchTests(bench)
  specTests(bench)
}

function matchTests(bench: UseBench): void {
  describe('commit', () => {
    it('writes the job exactly as given', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const step = settle(await claimOne(store, T0), done, T0 + 5)
      expect(await commitOne(store, step, T0 + 5)).toBe('committed')
      expect(await stored(store, 'a')).toEqual(step.job)
    })

    it('conflicts when the version has moved on, and writes nothing', async () => {
      const { store } = bench()
      const first = job('a', everyMinute)
      await put(store, first)
      const paused = await write(store, pauseJob(first, { note: 'first' }, T0), T0)
      expect(await commitOne(store, cancelJob(first, 'late', T0), T0)).toBe('conflict')
      expect(await stored(store, 'a')).toEqual(paused)
    })

    it('conflicts when it holds another token than the lease', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const claimed = await claimOne(store, T0)
      const step = { ...settle(claimed, done, T0), token: 'someone-else' }
      expect(await commitOne(store, step, T0)).toBe('conflict')
      expect(await stored(store, 'a')).toEqual(claimed)
    })

    it('conflicts when it holds no token while there is a lease', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const claimed = await claimOne(store, T0)
      expect(await commitOne(store, { ...settle(claimed, done, T0), token: null }, T0)).toBe(
        'conflict',
      )
      expect(await stored(store, 'a')).toEqual(claimed)
    })

    it('conflicts when it holds a token while there is no lease', async () => {
      const { store } = bench()
      const waiting = job('a', everyMinute)
      await put(store, waiting)
      const step = { ...pauseJob(waiting, {}, T0), token: 'held-long-ago' }
      expect(await commitOne(store, step, T0)).toBe('conflict')
      expect(await stored(store, 'a')).toEqual(waiting)
    })

    it('refuses a result that is given twice', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const step = settle(await claimOne(store, T0), done, T0)
      expect(await commitOne(store, step, T0)).toBe('committed')
      expect(await commitOne(store, step, T0)).toBe('conflict')
      expect((await store.attempts({ jobId: 'a' }, { limit: 10 })).items).toHaveLength(1)
    })

    it('says missing for a job that is not there', async () => {
      const { store } = bench()
      const step = pauseJob(job('ghost', everyMinute), {}, T0)
      expect(await commitOne(store, step, T0)).toBe('missing')
      expect(await store.get(['ghost'])).toEqual([])
    })

    it('conflicts with the version from before a renewal', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const claimed = await claimOne(store, T0)
      const lease = { id: 'a', token: claimed.lease!.token, fence: claimed.counters.fence }
      const [renewed] = await store.renew({ leases: [lease], until: T0 + 60_000 })
      expect(await commitOne(store, settle(claimed, done, T0), T0)).toBe('conflict')
      const current = { ...claimed, version: renewed!.version }
      expect(await commitOne(store, settle(current, done, T0), T0)).toBe('committed')
    })
  })
}

function batchTests(bench: UseBench): void {
  describe('commit of several changes', () => {
    it('answers for each by itself, in the order given', async () => {
      const { store } = bench()
      const [a, b] = [job('a', everyMinute), job('b', everyMinute)]
      await put(store, a, b)
      await write(store, pauseJob(b, {}, T0), T0)
      const steps = [
        pauseJob(job('ghost', everyMinute), {}, T0),
        pauseJob(b, {}, T0),
        pauseJob(a, {}, T0),
      ]
      const { results } = await store.commit(steps, { now: T0 })
      expect(results).toEqual(['missing', 'conflict', 'committed'])
      expect((await stored(store, 'a')).state).toBe('paused')
    })

    it('lets only the first of two changes from one version through', async () => {
      const { store } = bench()
      const a = job('a', everyMinute)
      await put(store, a)
      const steps = [pauseJob(a, {}, T0), cancelJob(a, 'late', T0)]
      expect((await store.commit(steps, { now: T0 })).results).toEqual(['committed', 'conflict'])
      expect((await stored(store, 'a')).state).toBe('paused')
    })

    it('does nothing for an empty list', async () => {
      expect((await bench().store.commit([], { now: T0 })).results).toEqual([])
    })
  })
}

function specTests(bench: UseBench): void {
  describe('commit of a changed spec', () => {
    it('is read back, and claims follow it', async () => {
      const { store } = bench()
      const a = job('a')
      await put(store, a)
      const spec = { ...a.spec, queue: 'other', handler: 'mine', lane: 'l', priority: 6 } as const
      const edited = await write(store, editJob(a, spec, T0)!, T0)
      expect(await stored(store, 'a')).toEqual(edited)
      expect(await claimIds(store, T0)).toEqual([])
      expect(await claimIds(store, T0, { queue: 'other', handlers: ['mine'] })).toEqual(['a'])
    })

    it('is seen by a handle that had read the old one', async () => {
      const { store, second } = bench()
      const a = job('a')
      await put(store, a)
      const other = await second()
      expect(await stored(other, 'a')).toEqual(a)
      const edited = editJob(a, { ...a.spec, payload: { fresh: true } }, T0)!
      await write(store, edited, T0)
      expect((await stored(other, 'a')).spec.payload).toEqual({ fresh: true })
      const claimed = await claimOne(other, T0)
      expect(claimed.spec.payload).toEqual({ fresh: true })
    })

    it('changes priority and due moment in the order of claims', async () => {
      const { store } = bench()
      const [a, b] = [job('a'), job('b')]
      await put(store, a, b)
      await write(store, editJob(b, { ...b.spec, priority: 6 }, T0)!, T0)
      expect(await claimIds(store, T0)).toEqual(['b', 'a'])
    })

    it('leaves the place in the list as it was', async () => {
      const { store } = bench()
      const [a, b] = [job('a'), job('b')]
      await put(store, a, b)
      const step = change(a, { ...a, revision: 2 }, T0)
      await write(store, step, T0)
      const { items } = await store.list({}, { limit: 10 })
      expect(items.map(held => held.id)).toEqual(['a', 'b'])
    })
  })
}
