// Lists by status: what is in them as jobs go on, put right where it is not, and offsets in them.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  T0,
  claimOne,
  everyMinute,
  failed,
  finish,
  job,
  readAll,
  write,
} from '../../../tests/support/builders.ts'
import { linkTo, systemAfter } from '../../../tests/support/redis.ts'
import { freshPlace, type FreshPlace } from '../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../tests/support/skip.ts'
import { pauseJob } from '../../core/control/pause.ts'
import type { JobFilter } from '../port.ts'
import type { Link } from './client.ts'
import { RedisStore } from './store.ts'

let place: FreshPlace
let link: Link
let store: RedisStore
beforeEach(async () => {
  const found = await freshPlace('redis')
  if ('missing' in found) skipTest(found.missing)
  place = found
  link = await linkTo(place.url)
  store = await opened()
})
afterEach(async () => {
  await store.close()
  link.destroy()
  await place.clean()
})

async function opened(): Promise<RedisStore> {
  const made = new RedisStore({ url: place.url, clock: () => T0, after: systemAfter })
  await made.open()
  return made
}

const send = (command: string, key: string, ...words: string[]) =>
  link.send([command, `{${place.name}}:${key}`, ...words])

const sought: [string, JobFilter][] = [
  ['fails', { states: ['failed'] }],
  ['rests', { states: ['paused'] }],
  ['runs', { states: ['running'] }],
  ['starts', { states: ['waiting'], isUnstarted: true }],
  ['goes on', { states: ['waiting'], isUnstarted: false }],
]

/** One job of each status, named after it. */
async function fill(): Promise<void> {
  const add = (id: string, more = {}) => store.insert([job(id, more)], { now: T0 })
  await add('fails')
  await finish(store, await claimOne(store, T0), failed({ final: true }), T0)
  await add('runs')
  await claimOne(store, T0)
  await add('rests', everyMinute)
  const [resting] = await store.get(['rests'])
  await write(store, pauseJob(resting!, {}, T0), T0)
  await add('goes on', everyMinute)
  await add('starts')
}

async function expectAll(asked: Pick<RedisStore, 'list' | 'count'>): Promise<void> {
  for (const [id, filter] of sought) {
    for (const where of [{}, { tenant: 'default' }]) {
      const whole = { kind: 'job', ...filter, ...where } as const
      const found = await readAll(page => asked.list(whole, page))
      expect(found.map(one => one.id)).toEqual([id])
      expect(await asked.count(whole, 9)).toBe(1)
    }
  }
}

describe('a job of each status', () => {
  it('is found by it, for its tenant and for all', async () => {
    await fill()
    await expectAll(store)
    expect(await store.maintenance.inspect(9)).toEqual([])
  })

  it('stays among the unstarted ones while it runs for the first time, and is not listed there', async () => {
    await store.insert([job('first')], { now: T0 })
    const waiting = { kind: 'job', states: ['waiting'], isUnstarted: true } as const
    const held = await claimOne(store, T0)
    expect(await send('ZCARD', 'jobs:by-status:unstarted')).toBe(1)
    expect((await store.list(waiting, { limit: 9 })).items).toEqual([])
    expect(await store.count(waiting, 9)).toBe(0)
    await finish(store, held, failed({}), T0)
    expect(await send('ZCARD', 'jobs:by-status:unstarted')).toBe(0)
    expect(await send('ZCARD', 'jobs:by-status:live:default')).toBe(1)
    expect(await store.maintenance.inspect(9)).toEqual([])
  })
})

describe('a job that is not listed as what it is', () => {
  it.each([
    ['missing', () => send('ZREM', 'jobs:by-status:failed:default', '000000000001')],
    [
      'in the list of another status',
      () => send('ZADD', 'jobs:by-status:paused', '1', '000000000001'),
    ],
  ])('%s is found and listed anew', async (_, damage) => {
    await fill()
    await damage()
    const faults = await store.maintenance.inspect(9)
    expect(faults).toMatchObject([{ kind: 'list', key: '000000000001' }])
    await store.maintenance.repair(faults[0]!)
    expect(await store.maintenance.inspect(9)).toEqual([])
    await expectAll(store)
  })

  it('although it is gone is found and taken out', async () => {
    await fill()
    await send('ZADD', 'jobs:by-status:unstarted', '77', '000000000077')
    const faults = await store.maintenance.inspect(9)
    expect(faults).toMatchObject([{ kind: 'orphan', key: '000000000077' }])
    await store.maintenance.repair(faults[0]!)
    expect(await store.maintenance.inspect(9)).toEqual([])
  })
})

describe('offsets', () => {
  it('are found among several lists from both ends and behind a cursor', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `job-${i}`)
    await store.insert(
      ids.map(id => job(id, everyMinute)),
      { now: T0 },
    )
    for (const held of await store.get(ids.filter((_, i) => i % 3 === 0))) {
      await write(store, pauseJob(held, {}, T0), T0)
    }
    await store.remove(['job-5', 'job-6'])
    const left = ids.filter(id => id !== 'job-5' && id !== 'job-6')
    const filter = { kind: 'job', tenant: 'default' } as const
    for (const newestFirst of [false, true]) {
      const order = newestFirst ? left.toReversed() : left
      const { cursor } = await store.list(filter, { limit: 2, newestFirst })
      for (const offset of [0, 1, 4, 36, 37, 38, 99]) {
        const page = { limit: 3, newestFirst, offset }
        const seen = await store.list(filter, page)
        expect(seen.items.map(({ id }) => id)).toEqual(order.slice(offset, offset + 3))
        const behind = await store.list(filter, { ...page, cursor })
        expect(behind.items.map(({ id }) => id)).toEqual(order.slice(offset + 2, offset + 5))
      }
    }
  })
})
