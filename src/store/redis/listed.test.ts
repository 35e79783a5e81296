// Lists by mark: made for namespaces that have none, given up for older programs, put right.

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
import { pauseJob } from '../../core/pause.ts'
import type { JobFilter } from '../store.ts'
import type { Link } from './client.ts'
import { Connection } from './connection.ts'
import { count } from './count.ts'
import { inspect } from './inspect.ts'
import { list } from './list.ts'
import { Shelf } from './shelf.ts'
import { RedisStore } from './store.ts'
import { redisUpkeep } from './upkeep.ts'

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

const indexes = ['mj:0', 'mj:1', 'mj:2', 'mj:4'].flatMap(key => [key, `${key}:default`])

/** As a program left it that knew of no marks. */
async function withoutMarks(): Promise<void> {
  for (const key of indexes) await send('DEL', key)
  await send('HSET', 'meta', 'layout', '1')
}

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

async function tellsAll(asked: Pick<RedisStore, 'list' | 'count'>): Promise<void> {
  for (const [id, filter] of sought) {
    for (const where of [{}, { tenant: 'default' }]) {
      const whole = { kind: 'job', ...filter, ...where } as const
      const found = await readAll(page => asked.list(whole, page))
      expect(found.map(one => one.id)).toEqual([id])
      expect(await asked.count(whole, 9)).toBe(1)
    }
  }
}

describe('a namespace without lists by mark', () => {
  it('gets them when it is opened, and older programs are kept out from then on', async () => {
    await fill()
    await withoutMarks()
    await store.close()
    store = await opened()
    await tellsAll(store)
    expect(await store.inspect(9)).toEqual([])
    const fields = ['application', 'layout', 'unlisted']
    expect(await send('HMGET', 'meta', ...fields)).toEqual(['carillon', '2', null])
    expect(await send('ZCARD', 'mj:0')).toBe(2)
  })

  it('is walked while others have not finished making them', async () => {
    await fill()
    await withoutMarks()
    await send('HSET', 'meta', 'layout', '2', 'unlisted', '0')
    // As a link that is made anew finds it after an outage.
    const connection = new Connection({ url: place.url, after: systemAfter })
    await connection.open()
    const shelf = new Shelf(connection, 'test', '')
    await tellsAll({
      list: (filter, page) => list(shelf, filter, page),
      count: (filter, max) => count(shelf, filter, max),
    })
    expect(await inspect(shelf, 9)).toEqual([])
    connection.close()
    expect(await send('EXISTS', 'mj:0')).toBe(0)
  })

  it('can be had back for an older program, and is listed again', async () => {
    await fill()
    const upkeep = redisUpkeep({ url: place.url, after: systemAfter })
    await upkeep.migrate(1)
    expect(await upkeep.version()).toBe(1)
    expect(await send('EXISTS', 'mj:0')).toBe(0)
    await expect(upkeep.migrate(0)).rejects.toMatchObject({ code: 'SETTINGS_INVALID' })
    await upkeep.migrate(2)
    expect(await upkeep.version()).toBe(2)
    await upkeep.close()
    await tellsAll(store)
    expect(await store.inspect(9)).toEqual([])
  })
})

describe('a job that is not listed as what it is', () => {
  it.each([
    ['missing', () => send('ZREM', 'mj:4:default', '000000000001')],
    ['in the list of another status', () => send('ZADD', 'mj:2', '1', '000000000001')],
  ])('%s is found and listed anew', async (_, damage) => {
    await fill()
    await damage()
    const faults = await store.inspect(9)
    expect(faults).toMatchObject([{ kind: 'list', key: '000000000001' }])
    await store.mend(faults[0]!)
    expect(await store.inspect(9)).toEqual([])
    await tellsAll(store)
  })

  it('although it is gone is found and taken out', async () => {
    await fill()
    await send('ZADD', 'mj:1', '77', '000000000077')
    const faults = await store.inspect(9)
    expect(faults).toMatchObject([{ kind: 'orphan', key: '000000000077' }])
    await store.mend(faults[0]!)
    expect(await store.inspect(9)).toEqual([])
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
