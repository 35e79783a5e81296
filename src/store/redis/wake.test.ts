// Hints: others hear when something became due sooner, and hear again after a lost connection.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { T0, claimOne, finish, job } from '../../../tests/support/builders.ts'
import { systemAfter } from '../../../tests/support/redis.ts'
import { askRedis, startRedis, type RedisServer } from '../../../tests/support/servers/redis.ts'
import { eventually } from '../../../tests/support/servers/wait.ts'
import { beforeAllWith } from '../../../tests/support/skip.ts'
import { HOUR, MINUTE } from '../../core/time.ts'
import { RedisStore } from './store.ts'

let server: RedisServer
let writer: RedisStore
let hearer: RedisStore
let heard = 0
let made = 0
beforeAllWith('redis', async () => {
  server = await startRedis()
  return () => server.stop()
})
beforeEach(async () => {
  const url = `${server.url}?namespace=wake-${++made}`
  const options = { url, clock: () => T0, after: systemAfter }
  writer = new RedisStore(options)
  hearer = new RedisStore(options)
  await writer.open()
  await hearer.open()
  hearer.listen({ onWake: () => heard++ })
  await subscribed()
  heard = 0
})
afterEach(async () => {
  await writer.close()
  await hearer.close()
})

const channel = () => `{wake-${made}}:wake`

async function subscribed(): Promise<void> {
  await eventually('the channel is joined', async () => {
    const [, count] = (await askRedis(server.url, 'PUBSUB', 'SHARDNUMSUB', channel())) as unknown[]
    return count === 1 ? true : null
  })
  // Joining itself is told, so that nothing said before is missed.
  await eventually('the first hint', () => (heard > 0 ? true : null))
}

const hint = () => eventually('a hint', () => (heard > 0 ? true : null))

/** How often it is heard when this is said: once, unless something was said before. */
async function silence(): Promise<number> {
  const before = heard
  await askRedis(server.url, 'SPUBLISH', channel(), 'the test')
  await eventually('the end of the hints', () => (heard > before ? true : null))
  return heard - before
}

const once = (at: number) => ({ trigger: { kind: 'once', at } }) as const

describe('a hint', () => {
  it('is heard by others when a job is due sooner than all before', async () => {
    await writer.insert([job('a', once(T0 + HOUR))], { now: T0 })
    expect(await hint()).toBe(true)
    heard = 0
    await writer.insert([job('b', once(T0 + 2 * HOUR))], { now: T0 })
    expect(await silence()).toBe(1)
    heard = 0
    await writer.insert([job('c', once(T0 + MINUTE))], { now: T0 })
    expect(await hint()).toBe(true)
  })

  it('is heard once for many jobs, and not while others are ready already', async () => {
    await writer.insert([job('a'), job('b'), job('c')], { now: T0 })
    expect(await hint()).toBe(true)
    expect(heard).toBe(1)
    heard = 0
    await writer.insert([job('d')], { now: T0 })
    expect(await silence()).toBe(1)
  })

  it('is heard when a lane has its first job, for those of others may wait for their limits', async () => {
    await writer.insert([job('a', { lane: 'full' })], { now: T0 })
    expect(await hint()).toBe(true)
    heard = 0
    await writer.insert([job('b', { lane: 'free' })], { now: T0 })
    expect(await hint()).toBe(true)
  })

  it('is not heard by the one who gave it', async () => {
    await hearer.insert([job('a')], { now: T0 })
    expect(await silence()).toBe(1)
  })

  it('comes with a queue that goes on', async () => {
    await writer.setQueuePaused('default', true)
    expect(await silence()).toBe(1)
    heard = 0
    await writer.setQueuePaused('default', false)
    expect(await hint()).toBe(true)
  })

  it('comes with the settle that makes a schedule due next', async () => {
    await writer.insert([job('a', once(T0))], { now: T0 })
    expect(await hint()).toBe(true)
    const held = await claimOne(writer, T0)
    heard = 0
    await finish(writer, held, { kind: 'interrupted' }, T0)
    expect(await hint()).toBe(true)
  })

  it('comes when nobody knows what was missed, and again afterwards', async () => {
    await askRedis(server.url, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
    expect(await hint()).toBe(true)
    await subscribed()
    heard = 0
    await writer.insert([job('a')], { now: T0 })
    expect(await hint()).toBe(true)
  })
})
