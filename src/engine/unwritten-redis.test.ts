// A Redis server near maxmemory: claims are small enough to pass, outcomes with their results are not.

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { systemAfter } from '../../tests/support/redis.ts'
import { askRedis, startRedis, type RedisServer } from '../../tests/support/servers/redis.ts'
import { eventually } from '../../tests/support/servers/wait.ts'
import { beforeAllWith } from '../../tests/support/skip.ts'
import { systemIds } from '../compose.ts'
import { completeSpec } from '../core/spec.ts'
import { createEngine } from '../create-engine.ts'
import { systemClock } from '../runtime/clock.ts'
import { RedisStore } from '../store/redis/store.ts'

const COUNT = 40
const ROOM_BYTES = 1_000_000
const LEASE_MS = 1_000

let server: RedisServer
beforeAllWith('redis', async () => {
  server = await startRedis()
  return () => server.stop()
})

const task = (id: string) => {
  const trigger = { kind: 'once', at: systemClock.now() } as const
  return { id, kind: 'task' as const, spec: completeSpec({ handler: 'work', trigger }) }
}

async function leaveRoom(bytes: number): Promise<void> {
  const info = String(await askRedis(server.url, 'INFO', 'memory'))
  const used = Number(/used_memory:(\d+)/.exec(info)![1])
  await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory', String(used + bytes))
}

test('G5 outcomes Redis has no room for stop claims, keep their leases and are written later', async () => {
  const store = new RedisStore({ url: `${server.url}?namespace=full`, after: systemAfter })
  await store.open()
  const settings = {
    nodeId: 'n',
    leaseMs: LEASE_MS,
    cancelCheckMs: 50,
    reapMs: 100,
    checkIntervalMs: 50,
  }
  const engine = createEngine({ store, clock: systemClock, ids: systemIds(), settings })
  const ran: string[] = []
  let finishAll = () => {}
  const finished = new Promise<void>(resolve => (finishAll = resolve))
  engine.handlers.set('work', async ({ job }) => {
    ran.push(job.id)
    await finished
    return randomBytes(44_000).toString('base64')
  })
  await engine.node.start()
  const ids = Array.from({ length: COUNT }, (_, i) => `task-${i}`)
  await engine.client.create(ids.map(task))
  await eventually('all run', () => (ran.length === COUNT ? true : null))
  await leaveRoom(ROOM_BYTES)
  finishAll()
  await eventually('trouble', () => (engine.troubles.has('outcomes_unwritten') ? true : null))
  expect(engine.troubles.isBlocked).toBe(true)
  // Small writes pass between the attempts to write the outcomes.
  await eventually('a small write', () =>
    engine.client.create([task('late')]).then(
      () => true,
      () => null,
    ),
  )
  const since = systemClock.now()
  await eventually('two leases', () => (systemClock.now() - since > 2 * LEASE_MS ? true : null))
  expect(ran).not.toContain('late')
  const held = await store.list({ states: ['running'] }, { limit: 100 })
  expect(held.items.length).toBeGreaterThan(0)
  for (const { lease } of held.items) expect(lease!.until).toBeGreaterThan(since + LEASE_MS)
  await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory', '0')
  await eventually('all are done', async () => {
    const jobs = await store.get([...ids, 'late'])
    return jobs.every(({ state }) => state === 'completed') ? true : null
  })
  expect(engine.troubles.isBlocked).toBe(false)
  expect(ran.toSorted()).toEqual([...ids, 'late'].toSorted())
  const { items } = await store.attempts({}, { limit: 100 })
  expect(items.map(({ outcome }) => outcome)).toEqual(Array(COUNT + 1).fill('succeeded'))
  await engine.node.stop()
  await store.close()
})
