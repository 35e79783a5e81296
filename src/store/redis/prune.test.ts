// What removed and pruned jobs leave: no key of theirs, and counts that agree with the rows.

import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  T0,
  claimOne,
  claimRequest,
  everyMinute,
  failed,
  finish,
  job,
  newJob,
  readAll,
} from '../../../tests/support/builders.ts'
import { linkTo, systemAfter } from '../../../tests/support/redis.ts'
import { askRedis, startRedis } from '../../../tests/support/servers/redis.ts'
import { freshPlace, type FreshPlace } from '../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../tests/support/skip.ts'
import type { Attempt } from '../../core/attempt.ts'
import { change } from '../../core/change.ts'
import { retryJob } from '../../core/control/control.ts'
import type { Job } from '../../core/job.ts'
import { ENDED_TASK_KEPT_MS } from '../../core/limits.ts'
import { INCIDENT_KIND } from '../../core/alerts/incident.ts'
import { removalOf } from '../../core/record.ts'
import { TASK_OUTCOME_KIND } from '../../core/schedule/series.ts'
import { settle } from '../../core/run/settle.ts'
import { HOUR, MINUTE } from '../../core/time.ts'
import type { PruneRequest } from '../port.ts'
import { constants } from './scripts.ts'
import { RedisStore } from './store.ts'

let place: FreshPlace
let store: RedisStore
beforeEach(async () => {
  const found = await freshPlace('redis')
  if ('missing' in found) skipTest(found.missing)
  place = found
  store = new RedisStore({ url: place.url, clock: () => T0, after: systemAfter })
  await store.open()
})
afterEach(async () => {
  await store.close()
  await place.clean()
})

async function keys(): Promise<string[]> {
  const link = await linkTo(place.url)
  const found: string[] = []
  let cursor = '0'
  do {
    const words = ['SCAN', cursor, 'MATCH', `{${place.name}}:*`, 'COUNT', '1000']
    const [next, some] = (await link.send(words)) as [string, string[]]
    found.push(...some)
    cursor = next
  } while (cursor !== '0')
  link.destroy()
  return found.map(key => key.slice(key.indexOf(':') + 1)).sort()
}

/** What a namespace keeps for good: numbers and names of queues and routes, however many jobs. */
const lasting = new Set(['meta', 'queues:turn', 'ready:latest-due', 'routes', 'sequence'])

async function keysOfJobs(): Promise<string[]> {
  return (await keys()).filter(key => !lasting.has(key))
}

const line = { at: T0, level: 'info', message: 'x', fields: null } as const

/** Jobs with everything a job can have: runs, retries, skips, progress, logs, a series, an app. */
async function busyJobs(): Promise<string[]> {
  const declared = { app: 'shop', definition: 'd', key: 'k', generation: '1' }
  const jobs = ['a', 'b', 'c'].map(id =>
    newJob({ id, now: T0 - HOUR, declared, seriesId: 's', spec: { ...everyMinute, tenant: id } }),
  )
  await store.insert(jobs, { now: T0 })
  for (let i = 0; i < 2; i++) {
    for (const held of await store.claim(claimRequest({ limit: 9, now: T0 + i * MINUTE }))) {
      const { token, attemptId } = held.lease!
      const lease = { jobId: held.id, token, fence: held.counters.fence, attemptId }
      await store.report([{ ...lease, checkpoint: 1, lines: [line] }], T0)
      await finish(store, held, failed({ retryAfterMs: 1 }), T0 + i * MINUTE)
    }
  }
  await claimOne(store, T0 + HOUR)
  return jobs.map(({ id }) => id)
}

describe('jobs that are removed', () => {
  it('leave no key behind', async () => {
    const ids = await busyJobs()
    expect(await readAll(page => store.ledger('a', page))).not.toHaveLength(0)
    expect((await keysOfJobs()).length).toBeGreaterThan(15)
    await store.remove(ids)
    // Outcomes of tasks wait for their series, incidents for the alerts: those remove them.
    for (const kind of [TASK_OUTCOME_KIND, INCIDENT_KIND]) {
      const { items } = await store.listRecords(kind, { limit: 99 }, T0)
      await store.putRecords(items.map(removalOf), T0)
    }
    expect(await keysOfJobs()).toEqual([])
    expect(await store.counts()).toEqual([])
    expect(await readAll(page => store.tenants(page))).toEqual([])
  })

  it('leave the rest of a long history to pruning', async () => {
    const count = 2 * constants.HISTORY_BATCH + 5
    let held: Job = job('a', { trigger: { kind: 'manual' } })
    await store.insert([held, job('other')], { now: T0 })
    const steps = Array.from({ length: count }, (_, i) => {
      const counters = { ...held.counters, attempts: i + 1 }
      const step = change(held, { ...held, counters }, T0, { attempt: attempt(i + 1) })
      held = step.job
      return step
    })
    expect(new Set((await store.commit(steps, { now: T0 })).results)).toEqual(
      new Set(['committed']),
    )
    await store.remove(['a'])
    expect(await store.attempts({}, { limit: 9 })).toMatchObject({ items: [] })
    for (let i = 0; i < 3; i++) await store.prune({ now: T0, limit: 9, endedTasksMax: 9 })
    await store.remove(['other'])
    expect(await keysOfJobs()).toEqual([])
  })
})

describe('tasks that ended together', () => {
  const end = T0 + ENDED_TASK_KEPT_MS

  async function endedTogether(...ids: string[]): Promise<void> {
    await store.insert(
      ids.map(id => newJob({ id, kind: 'task' })),
      { now: T0 },
    )
    const claimed = await store.claim(claimRequest({ limit: ids.length }))
    const done = { outcome: failed({ final: true }), startedAt: T0 }
    const steps = claimed.map(held => settle(held, done, T0))
    expect(new Set((await store.commit(steps, { now: T0 })).results)).toEqual(
      new Set(['committed']),
    )
  }

  const ids = async () => (await readAll(page => store.list({}, page))).map(({ id }) => id)
  const prune = (more: Partial<PruneRequest>) =>
    store.prune({ now: end, limit: 100, endedTasksMax: 100, ...more })

  it('are pruned in bites, and leave no key', async () => {
    await endedTogether('a', 'b', 'c', 'd', 'e')
    expect(await prune({ now: end - 1 })).toMatchObject({ jobs: 0 })
    expect(await prune({ limit: 2 })).toMatchObject({ jobs: 2, isFull: true })
    expect(await ids()).toEqual(['c', 'd', 'e'])
    expect(await prune({})).toMatchObject({ jobs: 3, isFull: false })
    await prune({})
    const left = (await keysOfJobs()).filter(key => !key.startsWith('pruned'))
    expect(left).toEqual([])
  })

  it('are pruned but for those that went or came back meanwhile', async () => {
    await endedTogether('a', 'b', 'c')
    await store.remove(['b'])
    const [held] = await store.get(['c'])
    await store.commit([retryJob(held!, T0)], { now: T0 })
    expect(await prune({})).toMatchObject({ jobs: 1 })
    expect(await ids()).toEqual(['c'])
  })

  it('are looked at in bounded numbers, however many they are', async () => {
    // The server counts the commands of everybody: this one must be alone.
    const server = await startRedis()
    onTestFinished(() => server.stop())
    await store.close()
    store = new RedisStore({ url: server.url, clock: () => T0, after: systemAfter })
    await store.open()
    const count = 3 * constants.TOGETHER_MAX
    for (let from = 0; from < count; from += 1_000) {
      await endedTogether(...Array.from({ length: 1_000 }, (_, i) => `t${from + i}`))
    }
    await askRedis(server.url, 'CONFIG', 'RESETSTAT')
    expect(await prune({ limit: 10, endedTasksMax: count })).toMatchObject({ jobs: 10 })
    const told = String(await askRedis(server.url, 'INFO', 'commandstats'))
    const used = /cmdstat_hmget:calls=(\d+)/.exec(told)
    // One for each batch that is looked at, one for each task that goes, and one for their specs.
    expect(Number(used![1])).toBeLessThanOrEqual(constants.TOGETHER_MAX / 1_000 + 10 + 1)
  })

  it('go oldest first above the number a queue may hold', async () => {
    await endedTogether('a', 'b')
    await endedTogether('c', 'd')
    expect(await prune({ now: T0, endedTasksMax: 3 })).toMatchObject({ jobs: 1 })
    expect(await ids()).toEqual(['b', 'c', 'd'])
    expect(await prune({ now: T0, endedTasksMax: 0, limit: 2 })).toMatchObject({ jobs: 2 })
    expect(await ids()).toEqual(['d'])
  })
})

function attempt(number: number): Attempt {
  return {
    id: `att-${String(number).padStart(6, '0')}`,
    jobId: 'a',
    run: number,
    attempt: 1,
    number,
    fence: number,
    retries: 0,
    origin: 'manual',
    retryOf: null,
    occurrence: T0,
    missed: 0,
    owner: 'node-1',
    claimedAt: T0,
    startedAt: T0,
    finishedAt: T0,
    outcome: 'succeeded',
    reason: null,
    error: null,
    result: null,
    measures: null,
    expireAt: T0 + HOUR,
  }
}
