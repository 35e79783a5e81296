// When the server or the way to it fails: a clear error within a bound, nothing half done, and on
// it goes once that is over.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  T0,
  claimOne,
  claimRequest,
  job,
  newJob,
  readAll,
  succeeded,
} from '../../../tests/support/builders.ts'
import { systemAfter } from '../../../tests/support/redis.ts'
import { FaultProxy } from '../../../tests/support/servers/proxy.ts'
import { askRedis, startRedis, type RedisServer } from '../../../tests/support/servers/redis.ts'
import { eventually } from '../../../tests/support/servers/wait.ts'
import { beforeAllWith } from '../../../tests/support/skip.ts'
import { settle } from '../../core/run/settle.ts'
import { HOUR } from '../../core/time.ts'
import { breaksLink, translated } from './errors.ts'
import { RedisStore } from './store.ts'

const CALL_MS = 1_200

let server: RedisServer
let proxy: FaultProxy
let store: RedisStore
let made = 0
beforeAllWith('redis', async () => {
  server = await startRedis()
  proxy = await FaultProxy.to({ host: '127.0.0.1', port: server.port })
  return async () => {
    await proxy.close()
    await server.stop()
  }
})
beforeEach(async () => {
  store = openable()
  await store.open()
})
afterEach(async () => {
  await proxy.set({ kind: 'pass' })
  await store.close()
})

const openable = () => storeOf(++made)

function storeOf(namespace: number): RedisStore {
  const url = `${proxy.through(server.url)}?namespace=failures-${namespace}`
  return new RedisStore({ url, clock: () => T0, after: systemAfter, callMs: CALL_MS })
}

const done = { outcome: succeeded, startedAt: T0 }
const unavailable = { code: 'STORE_UNAVAILABLE' }

async function attempts(): Promise<number> {
  return (await readAll(page => store.attempts({}, page))).length
}

describe('a server that was flushed', () => {
  const lost = { code: 'STORE_LOST', details: { reason: 'marker' } }

  it('takes on no work and says what to do', async () => {
    await store.insert([job('a')], { now: T0 })
    await askRedis(server.url, 'FLUSHALL')
    await expect(store.insert([job('b')], { now: T0 })).rejects.toMatchObject(lost)
    await expect(store.claim(claimRequest())).rejects.toMatchObject(lost)
    await expect(store.renew({ leases: [], until: T0 })).resolves.toEqual([])
    expect(await store.now()).toBe(T0)
  })

  it('is not taken for a new one when the connection is made anew', async () => {
    await store.insert([job('a')], { now: T0 })
    await askRedis(server.url, 'FLUSHALL')
    await proxy.set({ kind: 'refuse' }).catch(() => {})
    await store.get(['a']).catch(() => {})
    await proxy.set({ kind: 'pass' })
    await expect(store.insert([job('b')], { now: T0 })).rejects.toMatchObject(lost)
    expect(await askRedis(server.url, 'DBSIZE')).toBe(0)
  })

  it('stays lost to those who used it when somebody else opens it and makes it new', async () => {
    const replaced = { code: 'STORE_LOST', details: { reason: 'replaced' } }
    await store.insert([job('a')], { now: T0 })
    const held = await claimOne(store, T0)
    await askRedis(server.url, 'FLUSHALL')
    const other = storeOf(made)
    await other.open()
    expect((await other.insert([job('c')], { now: T0 })).results).toEqual(['inserted'])
    const refused = [
      () => store.insert([job('b')], { now: T0 }),
      () => store.claim(claimRequest()),
      () => store.commit([settle(held, done, T0)], { now: T0 }),
      () => store.remove(['c']),
    ]
    for (const call of refused) await expect(call()).rejects.toMatchObject(replaced)
    // A connection that is made anew finds the same.
    await proxy.set({ kind: 'refuse' }).catch(() => {})
    await store.get(['a']).catch(() => {})
    await proxy.set({ kind: 'pass' })
    for (const call of refused) await expect(call()).rejects.toMatchObject(replaced)
    await other.close()
    const again = storeOf(made)
    await again.open()
    expect((await claimOne(again, T0)).id).toBe('c')
    await again.close()
  })
})

describe('a lease that does not decode', () => {
  const damages = ['junk', '5', '[1,"t",false]', '[1,2,3,4,5,6,7]']

  async function damaged(text: string): Promise<void> {
    await store.insert([job('bad'), job('good')], { now: T0 })
    await store.claim(claimRequest({ limit: 2 }))
    await askRedis(server.url, 'HSET', `{failures-${made}}:leases`, '000000000001', text)
  }

  it.each(damages)('%s is set aside when it is read', async text => {
    await damaged(text)
    const [bad] = await store.get(['bad'])
    expect(bad).toMatchObject({ state: 'failed', ended: { reason: 'damaged' }, lease: null })
    expect(await store.maintenance.inspect(9)).toEqual([])
    expect(await store.remove(['bad'])).toEqual([true])
  })

  it.each(damages)('%s keeps nobody from taking over other jobs', async text => {
    await damaged(text)
    const overdue = () => store.overdue({ now: T0 + HOUR, limit: 9 })
    expect((await overdue()).map(({ id }) => id)).toEqual(['good'])
    expect((await overdue()).map(({ id }) => id)).toEqual(['good'])
    expect(await store.count({ states: ['failed'] }, 9)).toBe(1)
  })

  it('does not keep its job from being removed', async () => {
    await damaged('junk')
    expect(await store.remove(['bad'])).toEqual([true])
    expect(await store.maintenance.inspect(9)).toEqual([])
  })
})

describe('a number that was overwritten', () => {
  const overwritten: readonly (readonly [name: string, field: string])[] = [
    ['attempts:first', '000000000001'],
    ['attempts:last', '000000000001'],
    ['counts', 'default\0work\u00001\u00003'],
    ['counts:waiting', 'default'],
    ['queues:turn-taken', 'default'],
  ]
  const prune = { now: T0 + HOUR, limit: 9, endedTasksMax: 0 }

  it.each(overwritten)('%s of %j stops no claim, settle, prune or removal', async (name, field) => {
    const kind = 'task'
    await store.insert([newJob({ id: 'a', kind }), newJob({ id: 'b', kind })], { now: T0 })
    const first = await claimOne(store, T0)
    await store.commit([settle(first, done, T0)], { now: T0 })
    await askRedis(server.url, 'HSET', `{failures-${made}}:${name}`, field, 'many')
    const [second] = await store.claim(claimRequest({ hasLimits: true }))
    expect(second!.id).toBe('b')
    const { results } = await store.commit([settle(second!, done, T0)], { now: T0, waitingMax: 9 })
    expect(results).toEqual(['committed'])
    expect((await store.attempts({ jobId: 'a' }, { limit: 9 })).items).toHaveLength(1)
    await expect(store.prune(prune)).resolves.toBeDefined()
    await expect(store.remove(['a', 'b'])).resolves.toHaveLength(2)
    expect(await store.list({}, { limit: 9 })).toMatchObject({ items: [] })
  })

  it('in what a handler reported stops no report', async () => {
    await store.insert([job('bad'), job('good')], { now: T0 })
    const claimed = await store.claim(claimRequest({ limit: 2 }))
    await askRedis(server.url, 'HSET', `{failures-${made}}:progress`, '000000000001', 'junk')
    const reports = claimed.map(({ id, lease, counters }) => ({
      jobId: id,
      token: lease!.token,
      fence: counters.fence,
      attemptId: lease!.attemptId,
      checkpoint: 1,
    }))
    expect(await store.report(reports, T0)).toEqual([true, true])
    expect(await store.progress('bad')).toMatchObject({ checkpoint: 1, fraction: null })
  })
})

describe('a server without our scripts', () => {
  it('gets them with the next call', async () => {
    await store.insert([job('a')], { now: T0 })
    await askRedis(server.url, 'SCRIPT', 'FLUSH')
    const held = await claimOne(store, T0)
    await askRedis(server.url, 'SCRIPT', 'FLUSH')
    expect((await store.commit([settle(held, done, T0)], { now: T0 })).results).toEqual([
      'committed',
    ])
    expect(await attempts()).toBe(1)
  })
})

describe('a connection', () => {
  it('that is cut after the script ran leaves a commit done, and its repetition refused', async () => {
    await store.insert([job('a'), job('b')], { now: T0 })
    const steps = (await store.claim(claimRequest({ limit: 2 }))).map(held =>
      settle(held, done, T0),
    )
    proxy.cutReplies()
    await expect(store.commit(steps, { now: T0 })).rejects.toMatchObject(unavailable)
    expect((await store.commit(steps, { now: T0 })).results).toEqual(['conflict', 'conflict'])
    expect(await attempts()).toBe(2)
    expect((await store.get(['a']))[0]).toEqual(steps[0]!.job)
  })

  it('that is cut after an insert leaves the job there once', async () => {
    proxy.cutReplies()
    await expect(store.insert([job('a')], { now: T0 })).rejects.toMatchObject(unavailable)
    expect((await store.insert([job('a')], { now: T0 })).results).toEqual(['exists'])
  })

  it('that is cut after a claim leaves the lease to end by itself', async () => {
    await store.insert([job('a')], { now: T0 })
    proxy.cutReplies()
    const request = claimRequest({ leaseMs: 1_000 })
    await expect(store.claim(request)).rejects.toMatchObject(unavailable)
    const [late] = await store.overdue({ now: T0 + 1_000, limit: 9 })
    expect(late).toMatchObject({ id: 'a', lease: { token: request.token } })
  })

  it('that goes silent makes calls fail within their bound', { timeout: 15_000 }, async () => {
    await store.insert([job('a')], { now: T0 })
    await proxy.set({ kind: 'blackhole' })
    // The first has a connection, the others make one that nobody answers on.
    for (let i = 0; i < 3; i++) {
      await expect(store.get(['a'])).rejects.toMatchObject(unavailable)
    }
    await proxy.set({ kind: 'pass' })
    expect(await store.get(['a'])).toHaveLength(1)
  })

  it('that is refused fails at once, as often as it is tried', async () => {
    await proxy.set({ kind: 'refuse' })
    for (let i = 0; i < 3; i++) await expect(store.now()).resolves.toBe(T0)
    for (let i = 0; i < 3; i++) {
      await expect(store.get(['a'])).rejects.toMatchObject(unavailable)
    }
    await proxy.set({ kind: 'pass' })
    expect(await store.get(['a'])).toEqual([])
  })
})

describe('a server that is killed', () => {
  it('comes back with everything that was acknowledged', async () => {
    const jobs = Array.from({ length: 300 }, (_, i) => newJob({ id: `job-${i}`, kind: 'task' }))
    await store.insert(jobs, { now: T0 })
    const steps = (await store.claim(claimRequest({ limit: 100 }))).map(held =>
      settle(held, done, T0),
    )
    await store.commit(steps.slice(0, 50), { now: T0 })
    // It answers before its file is written while the disk is busy: that is the window.
    await eventually('the file is written', async () => {
      const info = String(await askRedis(server.url, 'INFO', 'persistence'))
      return info.includes('aof_buffer_length:0') ? true : null
    })
    await server.kill()
    await expect(store.get(['job-0'])).rejects.toMatchObject(unavailable)
    await server.start()
    expect(await attempts()).toBe(50)
    expect(await store.count({ states: ['completed'] }, 999)).toBe(50)
    expect(await store.count({ states: ['running'] }, 999)).toBe(50)
    expect(await store.count({ states: ['waiting'] }, 999)).toBe(200)
    const { results: rest } = await store.commit(steps, { now: T0 })
    expect(rest).toEqual([...Array(50).fill('conflict'), ...Array(50).fill('committed')])
  })
})

describe('a server that became a replica', () => {
  it('is an outage until it is a primary again', async () => {
    await store.insert([job('a')], { now: T0 })
    await askRedis(server.url, 'REPLICAOF', '127.0.0.1', '1')
    await expect(store.insert([job('b')], { now: T0 })).rejects.toMatchObject(unavailable)
    await expect(store.insert([job('b')], { now: T0 })).rejects.toMatchObject({
      code: 'STORE_READ_ONLY',
    })
    await askRedis(server.url, 'REPLICAOF', 'NO', 'ONE')
    expect((await store.insert([job('b')], { now: T0 })).results).toEqual(['inserted'])
  })
})

describe('a server without memory', () => {
  it('is named, leaves no half batch, and lets go of what is removed', async () => {
    await store.insert([job('a'), job('b')], { now: T0 })
    const held = await claimOne(store, T0)
    await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory', '1mb')
    const full = { code: 'STORE_FULL' }
    await expect(store.insert([job('c')], { now: T0 })).rejects.toMatchObject(full)
    await expect(store.commit([settle(held, done, T0)], { now: T0 })).rejects.toMatchObject(full)
    expect(await store.get(['a', 'b', 'c'])).toHaveLength(2)
    const lease = { id: held.id, token: held.lease!.token, fence: held.counters.fence }
    expect(await store.renew({ leases: [lease], until: T0 + 9 })).toMatchObject([{ isHeld: true }])
    expect(await store.remove(['b'])).toEqual([true])
    await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory', '0')
    expect((await store.insert([job('c')], { now: T0 })).results).toEqual(['inserted'])
  })
})

describe('errors', () => {
  class SimpleError extends Error {}

  it.each([
    ['OOM command not allowed', 'STORE_FULL'],
    ['MISCONF Redis is configured to save', 'STORE_READ_ONLY'],
    ['LOADING Redis is loading the dataset in memory', 'STORE_UNAVAILABLE'],
    ['MASTERDOWN Link with MASTER is down', 'STORE_UNAVAILABLE'],
    ['READONLY You can not write against a read only replica', 'STORE_UNAVAILABLE'],
    ['WRONGTYPE Operation against a key', 'STORE_CORRUPT'],
  ])('%s is %s', (message, code) => {
    const error = new SimpleError(message)
    expect(translated(error, 'host')).toMatchObject({ code, cause: error })
  })

  it('of the program are passed on as they came', () => {
    const error = new TypeError('a fault')
    expect(translated(error, 'host')).toBe(error)
    expect(breaksLink(error)).toBe(false)
    const bug = new SimpleError('ERR user_script:12: attempt to index a nil value')
    expect(translated(bug, 'host')).toBe(bug)
  })
})
