// Creating jobs one by one from many places at once: they share calls of the store, and each caller
// still hears of its own job only.

import { beforeEach, expect, test } from 'vitest'
import { newJob, T0 } from '../../tests/support/builders.ts'
import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import { systemClock } from '../runtime/clock.ts'
import { MemoryStore } from '../store/memory/store.ts'
import type { InsertOptions } from '../store/port.ts'
import { Inserting } from './inserting.ts'

/** Takes its time, and can be made to dislike a job or to be away. */
class Slow extends MemoryStore {
  override readonly isRemote = true
  readonly calls: number[] = []
  underWay = 0
  mostUnderWay = 0
  disliked = ''
  failsAt = Infinity
  /** The first call waits for it. */
  heldUp: Promise<void> | null = null

  override async insert(jobs: readonly Job[], options: InsertOptions) {
    const call = this.calls.push(jobs.length)
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay)
    await new Promise<void>(resolve => systemClock.soon(resolve))
    if (call === 1) await this.heldUp
    this.underWay--
    if (call >= this.failsAt) throw new SchedulerError('STORE_UNAVAILABLE', 'away')
    if (jobs.some(job => job.id === this.disliked)) throw new RangeError('not this one')
    return super.insert(jobs, options)
  }
}

let store: Slow

beforeEach(async () => {
  store = new Slow(() => T0)
  await store.open()
})

function inserting(waitingMax: number | null = null) {
  const way = new Inserting({ store, waitingMax, node: null })
  return { insert: async (jobs: Job[], now: Instant) => (await way.insert(jobs, now)).results }
}
const some = (count: number) => Array.from({ length: count }, () => newJob())

test('one alone goes to the store by itself', async () => {
  const [job] = some(1)
  expect(await inserting().insert([job!], T0)).toEqual(['inserted'])
  expect(store.calls).toEqual([1])
})

test('what is asked for in one breath is one call, and each gets its own answer', async () => {
  const way = inserting(3)
  const jobs = some(4)
  const twice = [jobs[0]!, jobs[0]!, jobs[1]!]
  const answers = await Promise.all([
    way.insert(twice.slice(0, 1), T0),
    way.insert(twice.slice(1), T0),
    way.insert(jobs.slice(2), T0),
  ])
  expect(store.calls).toEqual([5])
  expect(answers).toEqual([['inserted'], ['exists', 'inserted'], ['inserted', 'full']])
})

test('what is asked for while a call is under way shares the next one', async () => {
  const way = inserting()
  const first = way.insert(some(1), T0)
  await Promise.resolve()
  const others = some(20).map(job => way.insert([job], T0))
  await Promise.all([first, ...others])
  expect(store.calls).toEqual([1, 20])
})

test('callers that go on asking stay together', async () => {
  const way = inserting()
  const goOn = async () => {
    for (let i = 0; i < 10; i++) expect(await way.insert(some(1), T0)).toEqual(['inserted'])
  }
  const first = goOn()
  await Promise.resolve()
  await Promise.all([first, ...Array.from({ length: 9 }, goOn)])
  expect(store.calls.length).toBeLessThan(14)
  expect(store.mostUnderWay).toBe(1)
})

test('one that the store refuses fails alone', async () => {
  const way = inserting()
  const jobs = some(3)
  store.disliked = jobs[1]!.id
  const answers = await Promise.allSettled(jobs.map(job => way.insert([job], T0)))
  expect(answers.map(answer => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((await store.get(jobs.map(job => job.id))).length).toBe(2)
})

test('nobody is told of success while the store is away, and it is asked once', async () => {
  const way = inserting()
  store.failsAt = 1
  const answers = await Promise.allSettled(some(3).map(job => way.insert([job], T0)))
  expect(answers.map(answer => answer.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(store.calls).toEqual([3])
  store.failsAt = Infinity
  expect(await way.insert(some(1), T0)).toEqual(['inserted'])
})

test('a shared call is never longer than a batch', async () => {
  const way = inserting()
  const lists = Array.from({ length: 15 }, () => some(90))
  const answers = await Promise.all(lists.map(list => way.insert(list, T0)))
  expect(answers.flat().length).toBe(1_350)
  expect(store.calls).toEqual([990, 360])
})

test('a long list is sent in batches, three at a time and in order', async () => {
  const jobs = some(3_500)
  const results = await inserting().insert(jobs, T0)
  expect(results).toEqual(jobs.map(() => 'inserted'))
  expect(store.calls).toEqual([1_000, 1_000, 1_000, 500])
  expect(store.mostUnderWay).toBe(3)
  const page = await store.list({}, { limit: 3 })
  expect(page.items.map(job => job.id)).toEqual(jobs.slice(0, 3).map(job => job.id))
})

test('a call that takes long does not hold up those behind it, and answers stay in order', async () => {
  const jobs = some(6_500)
  await store.insert(jobs.slice(5_000, 5_001), { now: T0, waitingMax: null })
  store.calls.length = 0
  let release = () => {}
  store.heldUp = new Promise(resolve => (release = resolve))
  const answer = inserting().insert(jobs, T0)
  while (store.calls.length < 7 || store.underWay > 1) {
    await new Promise<void>(resolve => systemClock.soon(resolve))
  }
  release()
  const results = await answer
  expect(results.length).toBe(6_500)
  expect(results.flatMap((result, i) => (result === 'inserted' ? [] : [[i, result]]))).toEqual([
    [5_000, 'exists'],
  ])
})

test('a list that fails is over when its caller hears of it', async () => {
  store.failsAt = 2
  await expect(inserting().insert(some(5_000), T0)).rejects.toThrow('away')
  expect(store.underWay).toBe(0)
  expect(store.calls.length).toBeLessThan(5)
})
