// counts: one snapshot of how many rows are in which state, equal to the rows themselves.

import { describe, expect, it } from 'vitest'
import { begin } from '../../../src/core/run/begin.ts'
import { cancelJob, retryJob } from '../../../src/core/control/control.ts'
import { editJob } from '../../../src/core/control/edit.ts'
import type { Job } from '../../../src/core/job.ts'
import { ENDED_TASK_KEPT_MS } from '../../../src/core/limits.ts'
import { pauseJob, resumeJob } from '../../../src/core/control/pause.ts'
import type { Count, Store } from '../../../src/store/port.ts'
import {
  claimOne,
  commitOne,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { allJobs, put, sortedCounts, stored, type UseBench } from './bench.ts'

/** The counts as the rows themselves give them. */
async function truth(store: Store, tenant?: string): Promise<Count[]> {
  const tallies = new Map<string, Count>()
  for (const { spec, kind, state } of await allJobs(store)) {
    const { queue, handler } = spec
    if (tenant !== undefined && tenant !== spec.tenant) continue
    const key = JSON.stringify([queue, handler, kind, state])
    const count = (tallies.get(key)?.count ?? 0) + 1
    tallies.set(key, { queue, handler, kind, state, count, pruned: 0 })
  }
  return sortedCounts([...tallies.values()])
}

async function expectTruth(store: Store): Promise<void> {
  expect(sortedCounts(await store.counts())).toEqual(await truth(store))
  for (const tenant of ['default', 't1', 't2']) {
    expect(sortedCounts(await store.counts({ tenant }))).toEqual(await truth(store, tenant))
  }
}

async function stateCount(store: Store, state: Job['state']): Promise<number> {
  const counts = await store.counts()
  return counts.filter(held => held.state === state).reduce((sum, held) => sum + held.count, 0)
}

export function countTests(bench: UseBench): void {
  describe('counts', () => {
    it('are empty for an empty store', async () => {
      const { store } = bench()
      expect(sortedCounts(await store.counts())).toEqual([])
    })

    it('tell queues, handlers and kinds apart', async () => {
      const { store } = bench()
      const task = newJob({ id: 't', kind: 'task' })
      await put(store, job('a'), job('b', { queue: 'x' }), job('c', { handler: 'h' }), task)
      await put(store, job('d'))
      expect(sortedCounts(await store.counts())).toHaveLength(4)
      await expectTruth(store)
    })
  })
  transitionTests(bench)
  tenantTests(bench)
  prunedTests(bench)
}

function tenantTests(bench: UseBench): void {
  describe('counts of a tenant', () => {
    it('are its own, and those of all together their sum', async () => {
      const { store } = bench()
      await put(store, job('a', { tenant: 't1' }), job('b', { tenant: 't2' }), job('c'))
      await put(store, job('d', { tenant: 't1' }))
      const line = { queue: 'default', handler: 'work', kind: 'job', state: 'waiting', pruned: 0 }
      expect(sortedCounts(await store.counts({ tenant: 't1' }))).toEqual([{ ...line, count: 2 }])
      expect(sortedCounts(await store.counts({}))).toEqual([{ ...line, count: 4 }])
      expect(sortedCounts(await store.counts({ tenant: 'nobody' }))).toEqual([])
    })

    it('follow claim, success and removal', async () => {
      const { store } = bench()
      await put(store, job('a', { tenant: 't1' }), job('b', { tenant: 't2' }))
      const held = await claimOne(store, T0)
      await expectTruth(store)
      await finish(store, held, succeeded, T0)
      await expectTruth(store)
      await store.remove(['a'])
      await expectTruth(store)
    })

    it('follow an edit that gives the job to another tenant', async () => {
      const { store } = bench()
      const held = job('a', { ...everyMinute, tenant: 't1' })
      await put(store, held)
      const edit = editJob(held, { ...held.spec, tenant: 't2' }, T0)!
      await write(store, edit, T0)
      await expectTruth(store)
      expect(await commitOne(store, edit, T0)).toBe('conflict')
      await expectTruth(store)
      expect(sortedCounts(await store.counts({ tenant: 't1' }))).toEqual([])
    })
  })
}

function transitionTests(bench: UseBench): void {
  describe('counts follow', () => {
    it('claim and success', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'))
      const held = await claimOne(store, T0)
      expect(await stateCount(store, 'running')).toBe(1)
      await expectTruth(store)
      await finish(store, held, succeeded, T0)
      expect(await stateCount(store, 'completed')).toBe(1)
      await expectTruth(store)
    })

    it('failure, manual retry and cancel', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const stopped = await finish(store, await claimOne(store, T0), failed({ final: true }), T0)
      expect(await stateCount(store, 'failed')).toBe(1)
      const again = await write(store, retryJob(stopped, T0), T0)
      expect(await stateCount(store, 'failed')).toBe(0)
      await expectTruth(store)
      await write(store, cancelJob(again, 'enough', T0), T0)
      expect(await stateCount(store, 'cancelled')).toBe(1)
      await expectTruth(store)
    })

    it('a retry that waits and a claim given back', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'))
      await finish(store, await claimOne(store, T0), failed(), T0)
      await finish(store, await claimOne(store, T0), { kind: 'released' }, T0)
      expect(await stateCount(store, 'waiting')).toBe(2)
      await expectTruth(store)
    })

    it('pause, resume and an edit that moves the job to another queue', async () => {
      const { store } = bench()
      const held = job('a', everyMinute)
      await put(store, held)
      const paused = await write(store, pauseJob(held, {}, T0), T0)
      expect(await stateCount(store, 'paused')).toBe(1)
      await expectTruth(store)
      const resumed = await write(store, resumeJob(paused, T0), T0)
      const moved = { ...resumed.spec, queue: 'x', handler: 'y' }
      await write(store, editJob(resumed, moved, T0)!, T0)
      await expectTruth(store)
      expect(sortedCounts(await store.counts())).toMatchObject([{ queue: 'x', handler: 'y' }])
    })

    it('detached inserts, conflicts and removal', async () => {
      const { store } = bench()
      const overlap = { policy: 'allow' } as const
      const series = newJob({ id: 's', now: T0 - 60_000, spec: { ...everyMinute, overlap } })
      await put(store, series, job('gone'), job('kept', { queue: 'x' }))
      await store.remove(['gone', 'ghost'])
      await expectTruth(store)
      const claimed = await claimOne(store, T0)
      const step = begin(claimed, T0).change!
      await write(store, step, T0)
      expect((await store.commit([step], { now: T0 })).results).toEqual(['conflict'])
      expect((await store.insert(step.inserts, { now: T0 })).results).toEqual(['exists'])
      await expectTruth(store)
    })
  })
}

function prunedTests(bench: UseBench): void {
  describe('counts after pruning', () => {
    it('say how many rows ended in each state and are gone', async () => {
      const { store } = bench()
      const tasks = ['a', 'b', 'c'].map(id => newJob({ id, kind: 'task' }))
      await put(store, ...tasks)
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await write(store, cancelJob(await stored(store, 'c'), 'no', T0), T0)
      const now = T0 + ENDED_TASK_KEPT_MS
      await store.prune({ now, limit: 2, endedTasksMax: 100 })
      await store.prune({ now, limit: 2, endedTasksMax: 100 })
      const line = { queue: 'default', handler: 'work', kind: 'task', count: 0 }
      expect(sortedCounts(await store.counts())).toEqual([
        { ...line, state: 'cancelled', pruned: 1 },
        { ...line, state: 'completed', pruned: 2 },
      ])
    })

    it('say for each tenant what is gone', async () => {
      const { store } = bench()
      const tenant = 't1'
      const tasks = [newJob({ id: 'a', kind: 'task', spec: { tenant } }), newJob({ kind: 'task' })]
      await put(store, ...tasks)
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await store.prune({ now: T0 + ENDED_TASK_KEPT_MS, limit: 9, endedTasksMax: 100 })
      const gone = { queue: 'default', handler: 'work', kind: 'task', state: 'completed', count: 0 }
      expect(sortedCounts(await store.counts({ tenant }))).toEqual([{ ...gone, pruned: 1 }])
      expect(sortedCounts(await store.counts())).toEqual([{ ...gone, pruned: 2 }])
    })

    it('do not call removed rows pruned', async () => {
      const { store } = bench()
      await put(store, newJob({ id: 'a', kind: 'task' }))
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await store.remove(['a'])
      expect(sortedCounts(await store.counts())).toEqual([])
    })
  })
}
