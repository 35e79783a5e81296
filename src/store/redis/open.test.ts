// Opening: addresses, servers that must be refused, and namespaces that are someone else's.

import { channel } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { T0, claimOne, finish, job, succeeded } from '../../../tests/support/builders.ts'
import { linkTo, systemAfter } from '../../../tests/support/redis.ts'
import { askRedis, startRedis, type RedisServer } from '../../../tests/support/servers/redis.ts'
import { eventually } from '../../../tests/support/servers/wait.ts'
import { beforeAllWith } from '../../../tests/support/skip.ts'
import { addressOf } from './address.ts'
import { LAYOUT } from './check.ts'
import { DAY } from '../../core/time.ts'
import { RedisStore } from './store.ts'

let server: RedisServer
let made = 0
beforeAllWith('redis', async () => {
  server = await startRedis()
  return () => server.stop()
})

const freshUrl = () => `${server.url}?namespace=open-${++made}`
const storeAt = (url: string) => new RedisStore({ url, clock: () => T0, after: systemAfter })

async function send(url: string, ...words: string[]): Promise<unknown> {
  const link = await linkTo(url)
  try {
    return await link.send(words)
  } finally {
    link.destroy()
  }
}

describe('an address', () => {
  it('is taken apart, and shown without its password', () => {
    const address = addressOf('rediss://me:s3cret@redis.example:6380/2?namespace=jobs')
    expect(address).toMatchObject({ isTls: true, namespace: 'jobs', password: 's3cret' })
    expect(address.url).toBe('rediss://me:s3cret@redis.example:6380/2')
    expect(address.label).toBe('redis.example:6380/2?namespace=jobs')
    expect(addressOf('redis://host').label).toBe('host/0?namespace=carillon')
  })

  it.each([
    'redis://me:s3cret@host?namespace=a{b}',
    'redis://me:s3cret@host?namespace=',
    'redis://me:s3cret@host?name=x',
    'redis://me:s3cret@host:99999',
    'redis:s3cret',
  ])('that is not valid is refused without its password', url => {
    const refusal = expect.objectContaining({ code: 'SETTINGS_INVALID' }) as Error
    expect(() => addressOf(url)).toThrow(refusal)
    try {
      addressOf(url)
    } catch (error) {
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('s3cret')
    }
  })
})

describe('opening', () => {
  it('leaves no timer on a connected socket that would wake a process for nothing', async () => {
    const sockets: Socket[] = []
    const onSocket = (message: unknown) => sockets.push((message as { socket: Socket }).socket)
    const connecting = channel('net.client.socket')
    connecting.subscribe(onSocket)
    const store = storeAt(freshUrl())
    let isReady = false
    await store.open()
    const leave = store.listen({ onWake: () => (isReady = true) })
    await eventually('the channel', () => isReady || null)
    connecting.unsubscribe(onSocket)
    expect(sockets.length).toBe(2)
    for (const { timeout } of sockets) expect(timeout).toBeGreaterThan(DAY)
    leave()
    await store.close()
  })

  it('marks the namespace, keeps what was stored, and may be repeated', async () => {
    const url = freshUrl()
    const store = storeAt(url)
    await store.open()
    await store.open()
    await store.insert([job('a'), job('b')], { now: T0 })
    const done = await finish(store, await claimOne(store, T0), succeeded, T0 + 5)
    await store.close()
    await store.open()
    expect(await store.get(['a', 'b'])).toEqual([done, job('b')])
    expect((await store.attempts({ jobId: 'a' }, { limit: 9 })).items).toHaveLength(1)
    await store.close()
    const { namespace } = addressOf(url)
    expect(await send(url, 'HGETALL', `{${namespace}}:meta`)).toEqual([
      'identity',
      expect.stringMatching(/^\d{16}$/),
      'application',
      'carillon',
      'layout',
      String(LAYOUT),
    ])
  })

  it('of a namespace of before there were identities works, and leaves its marker as it is', async () => {
    const url = freshUrl()
    const key = `{${addressOf(url).namespace}}:meta`
    await send(url, 'HSET', key, 'application', 'carillon', 'layout', String(LAYOUT))
    const store = storeAt(url)
    await store.open()
    expect((await store.insert([job('a')], { now: T0 })).results).toEqual(['inserted'])
    expect(await send(url, 'HGET', key, 'identity')).toBeNull()
    await send(url, 'HSET', key, 'identity', '1')
    const replaced = { code: 'STORE_LOST', details: { reason: 'replaced' } }
    await expect(store.insert([job('b')], { now: T0 })).rejects.toMatchObject(replaced)
    await store.close()
  })

  it('by many at once makes one identity for all', async () => {
    const url = freshUrl()
    const stores = Array.from({ length: 5 }, () => storeAt(url))
    await Promise.all(stores.map(store => store.open()))
    for (const [i, store] of stores.entries()) {
      expect((await store.insert([job(`job-${i}`)], { now: T0 })).results).toEqual(['inserted'])
      await store.close()
    }
  })

  it('says in one line what survives', async () => {
    const store = storeAt(freshUrl())
    await store.open()
    expect(store.promise).toContain('the last two seconds')
    await store.close()
  })

  it('fails when nobody is there', async () => {
    const store = storeAt('redis://127.0.0.1:1?namespace=x')
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await expect(store.get(['a'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})

const markerGone = { kind: 'marker', about: 'no marker', key: '' } as const

describe('refuses', () => {
  it('a layout from the future, and leaves it as it was', async () => {
    const url = freshUrl()
    const key = `{${addressOf(url).namespace}}:meta`
    await send(url, 'HSET', key, 'application', 'carillon', 'layout', '99')
    await expect(storeAt(url).open()).rejects.toMatchObject({
      code: 'STORE_NEWER',
      details: { version: 99, known: LAYOUT },
    })
    expect(await send(url, 'HGET', key, 'layout')).toBe('99')
  })

  it.each([true, false])(
    'H3 an older layout with the way over, and leaves it as it was',
    async migrates => {
      const url = freshUrl()
      const key = `{${addressOf(url).namespace}}:meta`
      await send(url, 'HSET', key, 'application', 'carillon', 'layout', '2')
      const store = new RedisStore({ url, after: systemAfter, migrates })
      await expect(store.open()).rejects.toMatchObject({
        code: 'STORE_OLDER',
        message: expect.stringContaining('carillon store copy redis://… sqlite:old.db') as string,
        details: { version: 2, needed: LAYOUT },
      })
      expect(await send(url, 'HGET', key, 'layout')).toBe('2')
    },
  )

  it('H3 to adopt keys of an older layout that lost their marker', async () => {
    const url = freshUrl()
    const prefix = `{${addressOf(url).namespace}}:`
    await send(url, 'HSET', `${prefix}jobs`, '000000000001', 'row')
    await send(url, 'HSET', `${prefix}specs`, '000000000001', 'spec')
    const { maintenance } = storeAt(url)
    await expect(maintenance.repair(markerGone)).rejects.toMatchObject({ code: 'STORE_OLDER' })
    expect(await send(url, 'EXISTS', `${prefix}meta`)).toBe(0)
  })

  it('S2 to go below its layout', async () => {
    const store = storeAt(freshUrl())
    const { maintenance } = store
    expect(await maintenance.version()).toBe(LAYOUT)
    await maintenance.migrate(LAYOUT)
    await expect(maintenance.migrate(LAYOUT - 1)).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
    })
    await store.close()
  })

  it.each([
    ['of another application', ['HSET', 'meta', 'application', 'other', 'layout', '1']],
    ['of another kind', ['SET', 'meta', 'x']],
    ['of another type under our names', ['SET', 'jobs', 'x']],
  ])('keys %s', async (_, [command, name, ...rest]) => {
    const url = freshUrl()
    const key = `{${addressOf(url).namespace}}:${name}`
    await send(url, command!, key, ...rest)
    await expect(storeAt(url).open()).rejects.toMatchObject({ code: 'STORE_FOREIGN' })
  })

  it('jobs without a marker, until they are adopted', async () => {
    const url = freshUrl()
    const first = storeAt(url)
    await first.open()
    await first.insert([job('a')], { now: T0 })
    await first.close()
    await send(url, 'DEL', `{${addressOf(url).namespace}}:meta`)
    const lost = { code: 'STORE_LOST', message: expect.stringContaining('doctor --repair') }
    await expect(storeAt(url).open()).rejects.toMatchObject(lost)
    await storeAt(url).maintenance.repair(markerGone)
    const again = storeAt(url)
    await again.open()
    expect(
      (await again.list({ kind: 'job', states: ['waiting'] }, { limit: 5 })).items,
    ).toHaveLength(1)
    await again.close()
  })

  it('a server that evicts keys', async () => {
    await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    const opening = storeAt(freshUrl()).open()
    await expect(opening).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining('noeviction') as string,
    })
    await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  })

  it('a replica', async () => {
    const replica = await startRedis({ settings: { replicaof: `127.0.0.1 ${server.port}` } })
    try {
      const store = storeAt(`${replica.url}?namespace=x`)
      await expect(store.open()).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    } finally {
      await replica.stop()
    }
  })
})

describe('a server', () => {
  it('that keeps nothing on disk is warned about', async () => {
    await askRedis(server.url, 'CONFIG', 'SET', 'appendonly', 'no')
    const warnings: string[] = []
    const hear = (warning: Error) => warnings.push(warning.message)
    process.on('warning', hear)
    const store = storeAt(freshUrl())
    await store.open()
    expect(store.promise).toContain('WARNING: appendonly is off')
    await eventually('the warning', () => (warnings.length > 0 ? true : null))
    expect(warnings.join()).toContain('appendonly is off')
    process.off('warning', hear)
    await store.close()
    await askRedis(server.url, 'CONFIG', 'SET', 'appendonly', 'yes')
  })

  it('that waits for its disk each time promises more', async () => {
    await askRedis(server.url, 'CONFIG', 'SET', 'appendfsync', 'always')
    const store = storeAt(freshUrl())
    await store.open()
    expect(store.promise).toContain('survives crashes and loss of power')
    await store.close()
    await askRedis(server.url, 'CONFIG', 'SET', 'appendfsync', 'everysec')
  })

  it('that is not told its own password says so without it, and one that tells little is used', async () => {
    const rights = 'on >s3cret ~* &* +@all -info -config'.split(' ')
    await askRedis(server.url, 'ACL', 'SETUSER', 'app', ...rights)
    const named = (password: string) => freshUrl().replace('redis://', `redis://app:${password}@`)
    const error: unknown = await storeAt(named('wr0ng'))
      .open()
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(`${String(error)} ${String((error as Error).cause)}`).not.toContain('wr0ng')
    const store = storeAt(named('s3cret'))
    await store.open()
    expect(store.promise).toContain('INFO is not permitted')
    expect(store.promise).not.toContain('s3cret')
    expect((await store.insert([job('a')], { now: T0 })).results).toEqual(['inserted'])
    await store.close()
  })
})
