// What lies ahead, where it is read in several bites: crowds at one moment, lines of unequal length.

import { afterEach, beforeEach, expect, it } from 'vitest'
import { T0, newJob } from '../../../tests/support/builders.ts'
import { openRedis } from '../../../tests/support/redis.ts'
import type { OpenedStore } from '../../../tests/support/stores.ts'
import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { LOOK } from './jobs-query.ts'

let place: OpenedStore
beforeEach(async () => {
  place = await openRedis(() => T0)
})
afterEach(() => place.close())

function task(id: string, at: number, more: { handler?: string; tenant?: string } = {}): Job {
  return newJob({ id, kind: 'task', spec: { trigger: { kind: 'once', at }, ...more } })
}

async function fill(jobs: readonly Job[]): Promise<void> {
  for (let from = 0; from < jobs.length; from += LOOK) {
    await place.store.insert(jobs.slice(from, from + LOOK), { now: T0 })
  }
}

const idsOf = (jobs: readonly Job[]) => jobs.map(({ id }) => id)
const ahead = { from: T0 + 1, until: T0 + 1_000_000 }

it('tells a crowd at one moment in the order of creation, over several lines', async () => {
  const crowd = Array.from({ length: LOOK + 700 }, (_, i) =>
    task(`crowd-${i}`, T0 + 50, { handler: i % 4 === 0 ? 'a' : 'b' }),
  )
  const before = task('before', T0 + 10, { handler: 'c' })
  const after = Array.from({ length: 20 }, (_, i) => task(`after-${i}`, T0 + 90 - i))
  await fill([...after, ...crowd, before])
  const order = idsOf([before, ...crowd, ...after.toReversed()])
  const all = await place.store.upcoming({ ...ahead, limit: limits.scannedMax })
  expect(idsOf(all)).toEqual(order)
  const some = await place.store.upcoming({ ...ahead, limit: LOOK + 650 })
  expect(idsOf(some)).toEqual(order.slice(0, LOOK + 650))
  const late = await place.store.upcoming({ from: T0 + 85, until: T0 + 89, limit: 9 })
  expect(late.map(({ dueAt }) => dueAt! - T0)).toEqual([85, 86, 87, 88])
})

it('finds those of one tenant behind many of others, and what is due with what is not', async () => {
  const others = Array.from({ length: 2 * LOOK }, (_, i) => task(`other-${i}`, T0 + 10 + (i % 3)))
  const own = { tenant: 'own' }
  await fill([...others, task('later', T0 + 99, own), task('due', T0 - 5, own)])
  const found = await place.store.upcoming({ ...own, from: 0, until: ahead.until, limit: 9 })
  expect(idsOf(found)).toEqual(['due', 'later'])
})

it('counts all that is ready, however many routes had something and in whichever lane', async () => {
  const others = Array.from({ length: 120 }, (_, i) => task(`other-${i}`, T0, { handler: `h${i}` }))
  const ready = Array.from({ length: 2 * LOOK + 1 }, (_, i) =>
    newJob({
      id: `ready-${i}`,
      kind: 'task',
      spec: { trigger: { kind: 'once', at: T0 }, lane: `l${i % 7}` },
    }),
  )
  await fill([...others, ...ready])
  const window = { from: T0, until: T0 + 10, widthMs: 10 }
  expect(await place.store.countDue(window)).toEqual([ready.length + others.length])
  const [first] = await place.store.countDue({ ...window, queue: 'default', kind: 'task' })
  expect(first).toBe(ready.length + others.length)
})
