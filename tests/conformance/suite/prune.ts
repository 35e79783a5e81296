// prune: bounded bites of what has expired, never a live job.

import { describe, expect, it } from 'vitest'
import { change } from '../../../src/core/change.ts'
import { cancelJob } from '../../../src/core/control/control.ts'
import type { Skip } from '../../../src/core/history/ledger.ts'
import { ENDED_JOB_KEPT_MS, ENDED_TASK_KEPT_MS } from '../../../src/core/limits.ts'
import { pauseJob } from '../../../src/core/control/pause.ts'
import { DAY } from '../../../src/core/time.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimOne,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  onRequest,
  readAll,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { allJobs, put, type UseBench } from './bench.ts'

const all = { limit: 1_000, endedTasksMax: 1_000 }
const nothing = { attempts: 0, jobs: 0, records: 0, isFull: false }

export function pruneTests(bench: UseBench): void {
  jobTests(bench)
  taskTests(bench)
  restTests(bench)
}

function jobTests(bench: UseBench): void {
  describe('prune of ended jobs', () => {
    it('takes one-offs after their time, with their attempts', async () => {
      const { store } = bench()
      await put(store, job('a'))
      await finish(store, await claimOne(store, T0), succeeded, T0)
      const end = T0 + ENDED_JOB_KEPT_MS
      expect(await store.prune({ now: end - 1, ...all })).toMatchObject({ jobs: 0 })
      expect(await store.prune({ now: end, ...all })).toMatchObject({ jobs: 1 })
      expect(await allJobs(store)).toEqual([])
      const left = await readAll(page => store.attempts({ jobId: 'a' }, page))
      expect(left).toEqual([])
    })

    it('leaves recurring jobs that stopped to be seen', async () => {
      const { store } = bench()
      await put(store, newJob({ id: 'a', now: T0 - 60_000, spec: everyMinute }))
      await finish(store, await claimOne(store, T0), failed({ final: true }), T0)
      expect(await store.prune({ now: T0 + 9_999 * DAY, ...all })).toMatchObject({ jobs: 0 })
      expect(await allJobs(store)).toHaveLength(1)
    })

    it('never takes a live one, however long ago it was due', async () => {
      const { store } = bench()
      const paused = newJob({ id: 'paused', kind: 'task', spec: everyMinute })
      await put(store, newJob({ id: 'running', kind: 'task' }))
      await claimOne(store, T0)
      await put(store, paused, newJob({ id: 'waiting', kind: 'task' }), job('manual', onRequest))
      await write(store, pauseJob(paused, {}, T0), T0)
      const before = await allJobs(store)
      const now = T0 + 9_999 * DAY
      expect(await store.prune({ now, limit: 100, endedTasksMax: 0 })).toEqual(nothing)
      expect(await allJobs(store)).toEqual(before)
    })
  })
}

async function endedTasks(store: Store, queue: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await put(store, newJob({ id: `${queue}${i}`, kind: 'task', spec: { queue } }))
    await finish(store, await claimOne(store, T0, { queue }), succeeded, T0 + i)
  }
}

function taskTests(bench: UseBench): void {
  describe('prune of ended tasks', () => {
    it('takes them by age', async () => {
      const { store } = bench()
      await endedTasks(store, 'x', 3)
      const now = T0 + 1 + ENDED_TASK_KEPT_MS
      expect(await store.prune({ now, ...all })).toMatchObject({ jobs: 2 })
      expect((await allJobs(store)).map(held => held.id)).toEqual(['x2'])
    })

    it('takes the oldest beyond the number a queue may keep', async () => {
      const { store } = bench()
      await put(store, job('ended-job', { queue: 'x' }))
      await finish(store, await claimOne(store, T0, { queue: 'x' }), succeeded, T0)
      await endedTasks(store, 'x', 5)
      await endedTasks(store, 'y', 2)
      const result = await store.prune({ now: T0 + 10, limit: 100, endedTasksMax: 2 })
      expect(result).toMatchObject({ jobs: 3, isFull: false })
      const left = ['ended-job', 'x3', 'x4', 'y0', 'y1']
      expect((await allJobs(store)).map(held => held.id)).toEqual(left)
    })

    it('goes in bounded bites', async () => {
      const { store } = bench()
      await endedTasks(store, 'x', 5)
      const request = { now: T0 + 10, limit: 2, endedTasksMax: 0 }
      expect(await store.prune(request)).toMatchObject({ jobs: 2, isFull: true })
      expect((await allJobs(store)).map(held => held.id)).toEqual(['x2', 'x3', 'x4'])
      expect(await store.prune(request)).toMatchObject({ jobs: 2, isFull: true })
      expect(await store.prune(request)).toMatchObject({ jobs: 1, isFull: false })
    })

    it('takes cancelled and failed ones as well', async () => {
      const { store } = bench()
      const [a, b] = [newJob({ id: 'a', kind: 'task' }), newJob({ id: 'b', kind: 'task' })]
      await put(store, a, b)
      await finish(store, await claimOne(store, T0), failed({ final: true }), T0)
      await write(store, cancelJob(b, 'no', T0), T0)
      const now = T0 + ENDED_TASK_KEPT_MS
      expect(await store.prune({ now, ...all })).toMatchObject({ jobs: 2 })
    })
  })
}

function restTests(bench: UseBench): void {
  describe('prune', () => {
    it('takes skips past their age out of the ledger', async () => {
      const { store } = bench()
      const held = job('a', { ...everyMinute, retention: { attempts: 5, ageMs: DAY } })
      await put(store, held)
      const skips = [T0 - 3 * DAY, T0 - DAY, T0].map((from): Skip => {
        return { jobId: 'a', from, to: from + 5, count: 2, reason: 'missed' }
      })
      await write(store, change(held, held, T0, { skips }), T0)
      await store.prune({ now: T0 + 5, ...all })
      const { items } = await store.ledger('a', { limit: 10 })
      expect(items.map(entry => entry.from)).toEqual([T0])
    })

    it('takes expired records, in bounded bites', async () => {
      const { store } = bench()
      const record = { kind: 'k', value: 1, expectedVersion: 0 }
      const ends = [T0 + 1, T0 + 2, T0 + 3, T0 + 9, null]
      await store.putRecords(
        ends.map((expireAt, i) => ({ ...record, key: `r${i}`, expireAt })),
        T0,
      )
      const request = { now: T0 + 3, limit: 2, endedTasksMax: 1 }
      expect(await store.prune(request)).toEqual({ ...nothing, records: 2, isFull: true })
      expect(await store.prune(request)).toEqual({ ...nothing, records: 1, isFull: false })
      const left = await readAll(page => store.listRecords('k', page, T0))
      expect(left.map(held => held.key)).toEqual(['r3', 'r4'])
    })

    it('has nothing to do in a store without anything expired', async () => {
      const { store } = bench()
      expect(await store.prune({ now: T0, ...all })).toEqual(nothing)
      await put(store, job('a'))
      await finish(store, await claimOne(store, T0), failed(), T0)
      expect(await store.prune({ now: T0, ...all })).toEqual(nothing)
    })
  })
}
