// When what all jobs have done is added up again, and who waits for it.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { everyMinute, newJob, T0 } from '../../../../tests/support/builders.ts'
import { afterSuccess } from '../../../../tests/support/pure.ts'
import { MINUTE, SECOND, type Millis } from '../../../core/time.ts'
import type { JobFilter, PageRequest } from '../../../store/port.ts'
import { MemoryStore } from '../../../store/memory/store.ts'
import { Collector, FRESH_MAX } from './sums.ts'

const settings = { metricsMs: 30 * SECOND }
const MANY = FRESH_MAX + 1
let now = T0
let store: SlowStore
let collector: Collector

/** Takes its time to list, by the clock of the test. */
class SlowStore extends MemoryStore {
  tookMs: Millis = 0
  lists = 0

  override async list(filter: JobFilter, page: PageRequest) {
    this.lists++
    now += this.tookMs
    return super.list(filter, page)
  }
}

beforeEach(async () => {
  now = T0
  store = new SlowStore(() => now)
  await store.open()
  collector = new Collector({ store, settings, clock: { now: () => now, soon: setImmediate } })
})

afterEach(() => store.close())

async function addRun(): Promise<void> {
  const job = newJob({ id: `job-${now}`, spec: everyMinute })
  await store.insert([afterSuccess(job, T0, 100)], { now })
}

const successes = async (jobs: number) => (await collector.read({}, jobs)).succeeded

describe('the sums of all jobs', () => {
  test('few jobs are added up on every call', async () => {
    expect(await successes(FRESH_MAX)).toBe(0)
    await addRun()
    expect(await successes(FRESH_MAX)).toBe(1)
  })

  test('those of many are kept as long as metrics are', async () => {
    expect(await successes(MANY)).toBe(0)
    await addRun()
    now += settings.metricsMs - 1
    expect(await successes(MANY)).toBe(0)
    now += 1
    expect(await successes(MANY)).toBe(1)
  })

  test('adding up takes no more than a twentieth of the time', async () => {
    store.tookMs = 3 * SECOND
    await successes(MANY)
    now = T0 + MINUTE - 1
    await successes(MANY)
    expect(store.lists).toBe(1)
    now = T0 + MINUTE
    await successes(MANY)
    expect(store.lists).toBe(2)
  })

  test('nobody waits for newer ones that take long: the next caller has them', async () => {
    store.tookMs = 3 * SECOND
    await successes(MANY)
    await addRun()
    now = T0 + MINUTE
    expect(await successes(MANY)).toBe(0)
    // Few jobs are waited for, by the collection that is under way.
    expect(await successes(FRESH_MAX)).toBe(1)
    expect(await successes(MANY)).toBe(1)
    expect(store.lists).toBe(2)
  })

  test('callers at the same time share one collection', async () => {
    await Promise.all([collector.read({}, 1), collector.read({}, 1)])
    expect(store.lists).toBe(1)
  })
})
