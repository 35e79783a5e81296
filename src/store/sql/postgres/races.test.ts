// Many writers at once: no job is had by two, nothing is lost, and what is kept beside the jobs
// (states, counts) agrees with them in the end.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { begin } from '../../../core/run/begin.ts'
import type { Change } from '../../../core/change.ts'
import type { Job } from '../../../core/job.ts'
import { pauseJob, resumeJob } from '../../../core/control/pause.ts'
import { settle } from '../../../core/run/settle.ts'
import { SECOND } from '../../../core/time.ts'
import {
  claimRequest,
  failed,
  makeIds,
  newJob,
  succeeded,
  T0,
  type Ids,
} from '../../../../tests/support/builders.ts'
import { Random } from '../../../../tests/support/random.ts'
import { askPostgres } from '../../../../tests/support/servers/postgres.ts'
import { freshPlace, type FreshPlace } from '../../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../../tests/support/skip.ts'
import { parseAddress } from './address.ts'
import { Connection, type Run } from './connection.ts'
import { PostgresStore } from './store.ts'

let place: FreshPlace
const stores: PostgresStore[] = []

beforeEach(async () => {
  const found = await freshPlace('postgres')
  if ('missing' in found) skipTest(found.missing)
  place = found
})
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  await place.clean()
})

async function open(count: number): Promise<PostgresStore[]> {
  for (let i = 0; i < count; i++) {
    const url = `${place.url}&pool=2&listen=${i % 2 === 0 ? 'on' : 'off'}`
    const store = new PostgresStore({ url, clock: () => T0, listens: false })
    stores.push(store)
    await store.open()
  }
  return stores
}

async function drain(store: PostgresStore, ids: Ids, limit: number): Promise<Job[]> {
  const taken: Job[] = []
  for (;;) {
    const claimed = await store.claim(claimRequest({ limit }, ids))
    if (claimed.length === 0) return taken
    taken.push(...claimed)
  }
}

describe('claimers', () => {
  it.each([1, 7, 40, 1_000])('of %i at a time never share a job and leave none', async limit => {
    const handles = await open(4)
    const jobs = Array.from({ length: 400 }, (_, i) =>
      newJob({ id: `job-${i}`, kind: 'task', spec: { lane: `lane-${i % 13}` } }),
    )
    await handles[0]!.insert(jobs, { now: T0 })
    const ids = makeIds()
    const taken = (await Promise.all(handles.map(store => drain(store, ids, limit)))).flat()
    // A claim that met others may have come back empty: what is left is there for the next.
    taken.push(...(await drain(handles[0]!, ids, limit)))
    expect(new Set(taken.map(held => held.id)).size).toBe(400)
    expect(taken).toHaveLength(400)
    expect(new Set(taken.map(held => held.lease!.attemptId)).size).toBe(400)
    expect(await handles[0]!.verify()).toEqual([])
  })
})

/** Of the calls that were at work when looked at, how many waited for a row or a lock of others. */
async function sampleWaits(isOver: () => boolean): Promise<{ waiting: number; active: number }> {
  const watcher = new Connection(parseAddress(`${place.url}&pool=1`))
  const found = { waiting: 0, active: 0 }
  while (!isOver()) {
    const [row] = await watcher.rows(
      `select count(*), count(*) filter (where wait_event in ('transactionid', 'tuple', 'advisory', 'object'))
        from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()
          and query like '%"${place.name}"%'`,
    )
    found.active += row![0] as number
    found.waiting += row![1] as number
  }
  await watcher.close()
  return found
}

it('claims and settles of four nodes hardly ever wait for each other', async () => {
  const handles = await open(4)
  const jobs = Array.from({ length: 1_000 }, (_, i) =>
    newJob({ id: `job-${i}`, kind: 'task', spec: { lane: `lane-${i % 13}`, tenant: `t${i % 3}` } }),
  )
  await handles[0]!.insert(jobs, { now: T0 })
  const ids = makeIds()
  // From here on the queue has a row.
  expect(await handles[0]!.claim(claimRequest({ limit: 20 }, ids))).toHaveLength(20)
  const run = async (store: PostgresStore): Promise<number> => {
    for (let count = 0; ;) {
      const claimed = await store.claim(claimRequest({ limit: 20 }, ids))
      if (claimed.length === 0) return count
      count += claimed.length
      const settled = claimed.map(held => settle(held, { outcome: succeeded, startedAt: T0 }, T0))
      await store.commit(settled, { now: T0 })
    }
  }
  let isOver = false
  const sampled = sampleWaits(() => isOver)
  const counts = await Promise.all(handles.map(run))
  isOver = true
  const { waiting, active } = await sampled
  expect(counts.reduce((sum, count) => sum + count)).toBe(980)
  expect(active).toBeGreaterThan(20)
  expect(waiting / active).toBeLessThan(0.05)
})

it('inserts of four nodes that tell each other hardly ever wait for each other', async () => {
  for (let i = 0; i < 4; i++) {
    const store = new PostgresStore({ url: `${place.url}&pool=2`, clock: () => T0 })
    stores.push(store)
    store.listen({ onWake: () => {} })
    await store.open()
  }
  let isOver = false
  const sampled = sampleWaits(() => isOver)
  await Promise.all(
    stores.map(async (store, node) => {
      for (let i = 0; i < 60; i++) {
        const one = newJob({ id: `job-${node}-${i}`, kind: 'task' })
        expect((await store.insert([one], { now: T0 })).results).toEqual(['inserted'])
      }
    }),
  )
  isOver = true
  const { waiting, active } = await sampled
  expect(active).toBeGreaterThan(20)
  expect(waiting / active).toBeLessThan(0.05)
})

/** Another node that is at it: its transaction stays open until it is told. */
async function openTransaction() {
  const address = parseAddress(place.url)
  const connection = new Connection(address)
  let finish = () => {}
  const isOver = new Promise<void>(resolve => {
    finish = resolve
  })
  const [ready, isReady] = signal()
  const whole = async (statements: (run: Run) => Promise<unknown>): Promise<void> => {
    await connection.transaction(async run => {
      await statements(run)
      isReady()
      await isOver
    })
    await connection.close()
  }
  return { address, connection, whole, ready, finish }
}

function signal(): [Promise<void>, () => void] {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return [promise, resolve]
}

describe('no claim waits for another transaction', () => {
  const lanes = ['a', 'a/u', 'b', 'b/v']
  const some = (from: number) =>
    Array.from({ length: 40 }, (_, i) =>
      newJob({ id: `job-${from + i}`, kind: 'task', spec: { lane: lanes[i % 4]! } }),
    )

  it('that holds the turn of the queue and half of what is due', async () => {
    const [store] = await open(1)
    const ids = makeIds()
    await store!.insert(some(100), { now: T0 })
    // From here on the queue has a row.
    expect(await store!.claim(claimRequest({ limit: 4 }, ids))).toHaveLength(4)
    const other = await openTransaction()
    const { schema } = other.address
    const going = other.whole(async run => {
      await run(`update ${schema}.queues set turn_lane = turn_lane`)
      await run(`select 1 from ${schema}.job_states where seq % 2 = 0 for update`)
    })
    await other.ready
    const taken = await drain(store!, ids, 5)
    expect(taken).toHaveLength(18)
    other.finish()
    await going
    expect(await drain(store!, ids, 5)).toHaveLength(18)
    expect(await store!.verify()).toEqual([])
  })

  it('and an insert that is not seen for a minute is found when it is', async () => {
    const [store] = await open(1)
    const ids = makeIds()
    const other = await openTransaction()
    const late = new PostgresStore({ url: place.url, clock: () => T0, listens: false })
    stores.push(late)
    await late.open()
    const { schema } = other.address
    await late.insert(some(0), { now: T0 })
    // As if they were written here and now: nobody sees them before this transaction is over.
    const going = other.whole(async run => {
      await run(`create temp table held on commit drop as select * from ${schema}.job_states`)
      await run(`delete from ${schema}.job_states`)
      await run(`insert into ${schema}.job_states select * from held`)
    })
    await other.ready
    await store!.insert(some(100), { now: T0 })
    const later = T0 + 60 * SECOND
    expect((await drain(store!, ids, 7)).every(({ id }) => id >= 'job-100')).toBe(true)
    other.finish()
    await going
    const found: Job[] = []
    for (;;) {
      const claimed = await store!.claim(claimRequest({ limit: 7, now: later }, ids))
      if (claimed.length === 0) break
      found.push(...claimed)
    }
    expect(found).toHaveLength(40)
    expect(await store!.verify()).toEqual([])
  })
})

it('reports of one attempt side by side keep what each of them says', async () => {
  const [store] = await open(1)
  await store!.insert([newJob({ id: 'a', kind: 'task' })], { now: T0 })
  const [held] = await store!.claim(claimRequest({ limit: 1 }, makeIds()))
  const { token, attemptId } = held!.lease!
  const report = { jobId: 'a', token, fence: held!.counters.fence, attemptId }
  for (let i = 1; i <= 30; i++) {
    await Promise.all([
      store!.report([{ ...report, progress: { fraction: i / 100, note: null } }], T0),
      store!.report([{ ...report, checkpoint: i }], T0),
    ])
    expect(await store!.progress('a')).toMatchObject({ fraction: i / 100, checkpoint: i })
  }
})

it('a record written against a version conflicts with a write that is not committed yet', async () => {
  const [store] = await open(1)
  const put = (value: string, expectedVersion: number | null) =>
    store!.putRecords([{ kind: 'k', key: 'a', value, expectedVersion, expireAt: null }], T0)
  expect(await put('first', null)).toEqual(['put'])
  const other = await openTransaction()
  const going = other.whole(run =>
    run(`update ${other.address.schema}.records set value = '"other"', version = version + 1`),
  )
  await other.ready
  const written = put('mine', 1)
  const waiting = `select pid from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%${place.name}%records%'`
  await expect.poll(async () => (await askPostgres(place.url, waiting)).length).toBe(1)
  other.finish()
  await going
  expect(await written).toEqual(['conflict'])
})

function decided(held: Job, random: Random): Change {
  const started = begin(held, T0)
  if (started.kind === 'nothing') return started.change
  const outcome = random.chance(0.5) ? succeeded : failed({ retryAfterMs: 0 })
  return settle(started.job, { outcome, startedAt: T0 }, T0)
}

/** One writer: claims and settles, renews, pauses, resumes, removes, inserts. */
async function work(store: PostgresStore, seed: number, ids: Ids): Promise<void> {
  const random = new Random(seed)
  for (let step = 0; step < 40; step++) {
    const claimed = await store.claim(claimRequest({ limit: random.int(1, 9) }, ids))
    const leases = claimed.map(({ id, lease, counters }) => {
      return { id, token: lease!.token, fence: counters.fence }
    })
    if (random.chance(0.3)) {
      const renewed = await store.renew({ leases, until: T0 + SECOND })
      for (const [i, { version }] of renewed.entries()) claimed[i] = { ...claimed[i]!, version }
    }
    await store.commit(
      claimed.map(held => decided(held, random)),
      { now: T0 },
    )
    const any = await store.get(Array.from({ length: 5 }, () => `job-${random.int(0, 59)}`))
    const edits = any.flatMap(held => {
      if (held.state === 'waiting') return [pauseJob(held, { until: T0 + 5 * SECOND }, T0)]
      return held.state === 'paused' ? [resumeJob(held, T0)] : []
    })
    await store.commit(edits, { now: T0 })
    if (random.chance(0.2)) await store.remove([`job-${random.int(0, 59)}`])
    if (random.chance(0.3)) {
      await store.insert([someJob(random.int(0, 59))], { now: T0, waitingMax: 80 })
    }
    if (random.chance(0.1)) await store.prune({ now: T0, limit: 10, endedTasksMax: 5 })
  }
}

function someJob(i: number): Job {
  const trigger = { kind: 'interval', everyMs: 1, from: 'finish', anchor: null } as const
  const spec = { lane: `lane-${i % 5}`, tenant: `t${i % 3}`, trigger }
  return newJob({ id: `job-${i}`, kind: i % 4 === 0 ? 'task' : 'job', now: T0 - 1, spec })
}

describe('writers of every kind', () => {
  it('leave jobs and counts that agree', async () => {
    const handles = await open(4)
    await handles[0]!.insert(
      Array.from({ length: 60 }, (_, i) => someJob(i)),
      { now: T0 },
    )
    const ids = makeIds()
    await Promise.all(handles.map((store, i) => work(store, i + 1, ids)))
    expect(await handles[0]!.verify()).toEqual([])
    const { items } = await handles[0]!.list({}, { limit: 250 })
    expect(items.length).toBeGreaterThan(0)
    for (const held of items) expect(held.lease !== null).toBe(held.state === 'running')
  })
})
