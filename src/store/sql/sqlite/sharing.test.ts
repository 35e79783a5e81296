// Two stores on one file, as two processes have it: what one knows must not go stale by the other.

import { mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  T0,
  claimIds,
  claimOne,
  claimRequest,
  commitOne,
  finish,
  job,
  spec,
  succeeded,
} from '../../../../tests/support/builders.ts'
import { begin } from '../../../core/run/begin.ts'
import { editJob } from '../../../core/control/edit.ts'
import { settle } from '../../../core/run/settle.ts'
import { SqliteStore } from './store.ts'
import { watchFile } from './watch.ts'

let folder: string
let a: SqliteStore
let b: SqliteStore
const ticks: (() => void)[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  const options = { path: join(folder, 'jobs.db'), clock: () => T0 }
  const every = (_: number, callback: () => void) => {
    ticks.push(callback)
    return () => ticks.splice(0)
  }
  a = new SqliteStore(options)
  b = new SqliteStore({ ...options, every })
  await a.open()
  await b.open()
})
afterEach(async () => {
  await a.close()
  await b.close()
  rmSync(folder, { recursive: true, force: true })
})

it('claims every job once', async () => {
  await a.insert(
    Array.from({ length: 300 }, (_, i) => job(`job-${i}`, { lane: `lane-${i % 7}` })),
    { now: T0 },
  )
  const taken: string[] = []
  for (let round = 0; taken.length < 300; round++) {
    const store = round % 2 === 0 ? a : b
    taken.push(...(await claimIds(store, T0, { limit: 11 })))
  }
  expect(new Set(taken).size).toBe(300)
  expect(await a.claim(claimRequest())).toEqual([])
  expect(await a.verify()).toEqual([])
})

it('settles an attempt once, whoever comes first', async () => {
  await a.insert([job('x')], { now: T0 })
  const claimed = await claimOne(a, T0)
  const started = begin(claimed, T0)
  expect(started.kind).toBe('run')
  const step = settle(claimed, { outcome: succeeded, startedAt: T0 }, T0 + 5)
  expect(await commitOne(b, step, T0 + 5)).toBe('committed')
  expect(await commitOne(a, step, T0 + 5)).toBe('conflict')
  await b.remove(['x'])
  expect(await commitOne(a, step, T0 + 5)).toBe('missing')
  expect(await a.verify()).toEqual([])
})

it('does not take a job that came back under its old id for the one that was claimed', async () => {
  await a.insert([job('x')], { now: T0 })
  const claimed = await claimOne(a, T0)
  await b.remove(['x'])
  await b.insert([job('x', { payload: 'another' })], { now: T0 })
  const step = settle(claimed, { outcome: succeeded, startedAt: T0 }, T0 + 5)
  expect(await commitOne(a, step, T0 + 5)).toBe('conflict')
  const [again] = await a.get(['x'])
  expect(again!.spec.payload).toBe('another')
})

it('reads a spec another store changed, and its new line', async () => {
  await a.insert([job('x', { payload: 1 })], { now: T0 })
  const [before] = await b.get(['x'])
  const edit = editJob(before!, spec({ payload: 2, queue: 'other', lane: 'l2' }), T0)
  expect(await commitOne(b, edit!, T0)).toBe('committed')
  const [seen] = await a.get(['x'])
  expect(seen).toEqual(edit!.job)
  expect(await claimIds(a, T0)).toEqual([])
  expect(await claimIds(a, T0, { queue: 'other' })).toEqual(['x'])
  expect(await a.verify()).toEqual([])
})

it('respects a pause and a cursor the other set', async () => {
  await a.insert(
    ['p', 'q', 'r', 's'].map(lane => job(lane, { lane })),
    { now: T0 },
  )
  expect(await claimIds(a, T0, { limit: 1 })).toEqual(['p'])
  expect(await claimIds(b, T0, { limit: 1 })).toEqual(['q'])
  await a.setQueuePaused('default', true)
  expect(await claimIds(b, T0, { limit: 1 })).toEqual([])
  expect(await b.nextDueAt([{ queue: 'default', handler: 'work' }])).toBeNull()
  await b.setQueuePaused('default', false)
  expect(await claimIds(a, T0, { limit: 1 })).toEqual(['r'])
})

it('counts waiting jobs of both', async () => {
  await a.insert([job('1'), job('2')], { now: T0 })
  expect(
    (await b.insert([job('3'), job('4'), job('1')], { now: T0, waitingMax: 3 })).results,
  ).toEqual(['inserted', 'full', 'exists'])
  await finish(a, await claimOne(a, T0), succeeded, T0 + 1)
  expect((await b.insert([job('4')], { now: T0, waitingMax: 3 })).results).toEqual(['inserted'])
})

it('wakes listeners when the other wrote, and only then', async () => {
  let woken = 0
  const stop = b.listen({ onWake: () => woken++ })
  const tick = () => ticks.forEach(look => look())
  tick()
  await b.insert([job('own')], { now: T0 })
  tick()
  expect(woken).toBe(0)
  await a.insert([job('x')], { now: T0 })
  tick()
  tick()
  expect(woken).toBe(1)
  stop()
  expect(ticks).toEqual([])
})

/** Time and writes to the log as a test tells them. */
function toldStore() {
  const timers = new Map<() => void, number>()
  const told: (() => void)[] = []
  const every = (ms: number, callback: () => void) => {
    timers.set(callback, ms)
    return () => timers.delete(callback)
  }
  const watch = (path: string, onWrite: () => void) => {
    if (!path.endsWith('-wal')) return null
    told.push(onWrite)
    return () => told.splice(0)
  }
  const pass = (ms: number) =>
    [...timers].filter(([, pause]) => pause === ms).forEach(([look]) => look())
  const write = () => told.forEach(tell => tell())
  const store = new SqliteStore({ path: join(folder, 'jobs.db'), clock: () => T0, every, watch })
  return { store, pass, write, timers, told }
}

it('looks at once when told of a write, and after a rest for all that came meanwhile', async () => {
  const { store, pass, write, timers, told } = toldStore()
  await store.open()
  let woken = 0
  const stop = store.listen({ onWake: () => woken++ })
  expect([...timers.values()]).toEqual([2_000])
  await a.insert([job('1')], { now: T0 })
  write()
  expect(woken).toBe(1)
  for (const id of ['2', '3']) {
    await a.insert([job(id)], { now: T0 })
    write()
  }
  expect(woken).toBe(1)
  pass(250)
  expect(woken).toBe(2)
  pass(250)
  // It has told of a write: looks that nothing calls for are rarer.
  expect([...timers.values()]).toEqual([10_000])
  await store.insert([job('own')], { now: T0 })
  write()
  expect(woken).toBe(2)
  stop()
  expect([timers.size, told.length]).toEqual([0, 0])
  await store.close()
})

it('still looks from time to time when nobody tells it of writes', async () => {
  const { store, pass, write } = toldStore()
  await store.open()
  let woken = 0
  store.listen({ onWake: () => woken++ })
  await a.insert([job('1')], { now: T0 })
  pass(2_000)
  expect(woken).toBe(1)
  write()
  await a.insert([job('2')], { now: T0 })
  pass(2_000)
  expect(woken).toBe(1)
  pass(10_000)
  expect(woken).toBe(2)
  await store.close()
})

it('is told of writes by the system, as they happen', async () => {
  const never = () => () => {}
  const path = join(folder, 'jobs.db')
  const store = new SqliteStore({ path, clock: () => T0, every: never, watch: watchFile })
  await store.open()
  const woken = new Promise<void>(resolve => store.listen({ onWake: resolve }))
  await a.insert([job('1')], { now: T0 })
  await expect(woken).resolves.toBeUndefined()
  await store.close()
})

it('is told at once of jobs that another inserted, and not of outcomes', async () => {
  const told: (() => void)[] = []
  const watch = (path: string, onWrite: () => void) => {
    if (path.endsWith('-wake')) told.push(onWrite)
    return () => {}
  }
  const path = join(folder, 'jobs.db')
  const store = new SqliteStore({ path, clock: () => T0, every: () => () => {}, watch })
  await store.open()
  const writtenAt = () => statSync(`${path}-wake`).mtimeMs
  utimesSync(`${path}-wake`, 0, 0)
  let wakes = 0
  const stop = store.listen({ onWake: () => wakes++ })
  expect(told).toHaveLength(1)
  await a.insert([job('x')], { now: T0 })
  expect(writtenAt()).toBeGreaterThan(0)
  told[0]!()
  expect(wakes).toBe(1)
  utimesSync(`${path}-wake`, 0, 0)
  const claimed = await claimOne(a, T0)
  await commitOne(a, settle(claimed, { outcome: succeeded, startedAt: T0 }, T0 + 5), T0 + 5)
  expect(writtenAt()).toBe(0)
  stop()
  await store.close()
})

it('has nothing to watch where there is no file', () => {
  expect(watchFile(join(folder, 'none'), () => {})).toBeNull()
})
