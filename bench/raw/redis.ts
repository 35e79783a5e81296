// The Redis store by itself: inserting, claiming and settling, contention, idling, beside what the
// same server gives to minimal scripts. Starts a server of its own. Usage: redis [--quick]

import { begin } from '../../src/core/begin.ts'
import type { Change } from '../../src/core/change.ts'
import { createJob, type Job } from '../../src/core/job.ts'
import { settle } from '../../src/core/settle.ts'
import { completeSpec, type SpecInput } from '../../src/core/spec.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import type { ClaimRequest } from '../../src/store/store.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { askRedis, startRedis } from '../../tests/support/servers/redis.ts'
import { rawCycle } from './redis-limit.ts'

const isQuick = process.argv.includes('--quick')
const ROWS = isQuick ? 20_000 : 100_000
const FUTURE = isQuick ? 100_000 : 1_000_000
const T0 = Date.UTC(2026, 0, 5, 12)
const payload = {
  to: 'someone@example.org',
  template: 'welcome',
  values: { a: 1, b: 'x'.repeat(99) },
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

let made = 0
const nextId = (): string => {
  const count = (++made).toString(16).padStart(12, '0')
  return `0195c3d2-${count.slice(0, 4)}-7${count.slice(1, 4)}-8000-${count}`
}

interface Timed<T> {
  readonly result: T
  readonly ms: number
}

async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const from = performance.now()
  const result = await work()
  return { result, ms: performance.now() - from }
}

const show = (what: string, value: string): void => console.log(`${what.padEnd(62)} ${value}`)
const perSecond = (rows: number, ms: number): number => Math.round((rows / ms) * 1000)

const server = await startRedis()

/** Nothing else is on the server: what was there before is gone. */
async function openStore(name: string): Promise<RedisStore> {
  await askRedis(server.url, 'FLUSHALL')
  const url = `${server.url}?namespace=${name}`
  const store = new RedisStore({ url, clock: () => T0, listens: false })
  await store.open()
  return store
}

interface Shape {
  readonly lanes: number
  readonly spec: Partial<SpecInput>
  readonly now: number
  readonly due: (i: number) => number
}

function makeJobs(count: number, { lanes, spec, now, due }: Shape): Job[] {
  return Array.from({ length: count }, (_, i) => {
    const job = createJob(
      {
        id: nextId(),
        spec: completeSpec({
          handler: 'send',
          trigger: { kind: 'once', at: due(i) },
          payload,
          lane: `lane-${String(i % lanes).padStart(6, '0')}`,
          ...spec,
        }),
        kind: spec.trigger ? 'job' : 'task',
      },
      now,
    )
    return spec.trigger ? { ...job, nextAt: due(i), dueAt: due(i) } : job
  })
}

async function insertAll(store: RedisStore, jobs: readonly Job[], batch: number, now: number) {
  let ms = 0
  for (let i = 0; i < jobs.length; i += batch) {
    const { ms: took } = await timed(() => store.insert(jobs.slice(i, i + batch), { now }))
    ms += took
  }
  return ms
}

function claimRequest(now: number, limit: number): ClaimRequest {
  return {
    queue: 'default',
    handlers: ['send'],
    now,
    limit,
    owner: 'node-1',
    leaseMs: MINUTE,
    token: nextId(),
    attemptIds: Array.from({ length: limit }, nextId),
  }
}

interface Cycle {
  readonly rows: number
  readonly claimMs: number
  readonly commitMs: number
  readonly coreMs: number
}

/** Claims and settles until nothing is due or so many rows are done. */
async function cycle(store: RedisStore, batch: number, now: number, max: number): Promise<Cycle> {
  let [rows, claimMs, commitMs, coreMs] = [0, 0, 0, 0]
  while (rows < max) {
    const request = claimRequest(now, batch)
    const claimed = await timed(() => store.claim(request))
    if (claimed.result.length === 0) break
    const from = performance.now()
    const changes = claimed.result.map((job): Change => {
      const started = begin(job, now)
      if (started.kind === 'nothing') return started.change
      const outcome = { kind: 'succeeded', result: null, measures: null } as const
      return settle(started.job, { outcome, startedAt: now }, now + 5)
    })
    coreMs += performance.now() - from
    const committed = await timed(() => store.commit(changes, { now: now + 5 }))
    if (committed.result.some(result => result !== 'committed')) throw new Error('not committed')
    rows += claimed.result.length
    claimMs += claimed.ms
    commitMs += committed.ms
  }
  return { rows, claimMs, commitMs, coreMs }
}

async function inserting(): Promise<void> {
  for (const batch of [500, 1000]) {
    const rates: number[] = []
    for (let i = 0; i < 3; i++) {
      const store = await openStore(`insert-${batch}-${i}`)
      const jobs = makeJobs(ROWS, { lanes: 100, spec: {}, now: T0, due: () => T0 })
      rates.push(perSecond(ROWS, await insertAll(store, jobs, batch, T0)))
      await store.close()
    }
    show(`insert tasks due now, batches of ${batch}`, `${median(rates)} rows/s`)
  }
}

const every: Partial<SpecInput> = {
  trigger: { kind: 'interval', everyMs: HOUR, from: 'schedule', anchor: null },
}
const scattered = (i: number): number => T0 + ((i * 7919) % ROWS)

async function settling(): Promise<Record<string, number>> {
  const shapes: Record<string, Shape> = {
    'tasks, in order, ready': { lanes: 1, spec: {}, now: T0, due: () => T0 },
    'jobs every hour, in order, timed': { lanes: 1, spec: every, now: T0, due: i => T0 + 1 + i },
    'jobs every hour, scattered, timed': { lanes: 1, spec: every, now: T0, due: scattered },
    'jobs every hour, scattered, 1000 lanes': { lanes: 1000, spec: every, now: T0, due: scattered },
  }
  const rates: Record<string, number> = {}
  for (const [name, shape] of Object.entries(shapes)) {
    const store = await openStore(`settle-${Object.keys(rates).length}`)
    await insertAll(store, makeJobs(ROWS, shape), 1000, T0)
    for (const batch of [50, 500, 2000]) {
      const { rows, claimMs, commitMs, coreMs } = await cycle(
        store,
        batch,
        T0 + ROWS,
        Math.floor(ROWS / 4),
      )
      const us = (ms: number) => ((ms * 1000) / rows).toFixed(1)
      rates[`${name} ${batch}`] = perSecond(rows, claimMs + commitMs)
      const parts = `claim ${us(claimMs)}, commit ${us(commitMs)}, core ${us(coreMs)} µs`
      const rate = perSecond(rows, claimMs + commitMs)
      show(`claim+settle ${name}, ${batch}`, `${rate} rows/s (${parts})`)
    }
    await store.close()
  }
  return rates
}

/** Several loops beside each other, as a node has: what one waits for, another prepares. */
async function besides(loops: number, batch: number): Promise<number> {
  const store = await openStore(`besides-${loops}`)
  await insertAll(store, makeJobs(ROWS, { lanes: 1, spec: {}, now: T0, due: () => T0 }), 1000, T0)
  const { ms } = await timed(() =>
    Promise.all(Array.from({ length: loops }, () => cycle(store, batch, T0, ROWS))),
  )
  await store.close()
  return perSecond(ROWS, ms)
}

async function claimTimes(store: RedisStore, limit: number, now: number): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < 11; i++) {
    const request = claimRequest(now, limit)
    const { ms, result } = await timed(() => store.claim(request))
    if (result.length !== limit) throw new Error(`claimed ${result.length}`)
    times.push(ms)
  }
  return times
}

const range = (times: readonly number[]): string =>
  `${median(times).toFixed(3)} ms (${Math.min(...times).toFixed(3)}–${Math.max(...times).toFixed(3)})`

async function contending(): Promise<void> {
  const ready: Shape = { lanes: 1000, spec: {}, now: T0, due: () => T0 }
  const store = await openStore('contend')
  await insertAll(store, makeJobs(ROWS, ready), 1000, T0)
  show(`claim 50 of ${ROWS} ready, 1000 lanes`, range(await claimTimes(store, 50, T0)))
  show(`claim 500 of ${ROWS} ready, 1000 lanes`, range(await claimTimes(store, 500, T0)))
  await store.close()
  const herd = await openStore('herd')
  await insertAll(herd, makeJobs(ROWS, { ...ready, due: i => T0 + (i % 1000) }), 1000, T0 - 1)
  const times = range(await claimTimes(herd, 50, T0 + 1000))
  show(`claim 50 of a herd of ${ROWS} timed, 1000 lanes`, times)
  await herd.close()
  const crowded = await openStore('crowded')
  const idle: Shape = { lanes: FUTURE / 10, spec: {}, now: T0, due: i => T0 + DAY + i }
  for (let i = 0; i < 10; i++) await insertAll(crowded, makeJobs(FUTURE / 10, idle), 1000, T0)
  await idling(crowded)
  await insertAll(crowded, makeJobs(ROWS, ready), 1000, T0)
  const beside = `of ${ROWS} ready beside ${FUTURE} future jobs of idle lanes`
  show(`claim 50 ${beside}`, range(await claimTimes(crowded, 50, T0)))
  show(`claim 500 ${beside}`, range(await claimTimes(crowded, 500, T0)))
  await crowded.close()
}

async function idling(store: RedisStore): Promise<void> {
  const line = { queue: 'default', handler: 'send' }
  const next: number[] = []
  const empty: number[] = []
  for (let i = 0; i < 200; i++) {
    next.push((await timed(() => store.nextDueAt([line]))).ms)
    const request = claimRequest(T0, 50)
    empty.push((await timed(() => store.claim(request))).ms)
  }
  show(`nextDueAt at ${FUTURE} rows`, range(next))
  show(`empty claim at ${FUTURE} rows`, range(empty))
}

try {
  await inserting()
  const rates = await settling()
  for (const batch of [50, 500, 2000]) {
    const limits: number[] = []
    for (let i = 0; i < 3; i++) limits.push(await rawCycle(server.url, ROWS, batch))
    const limit = median(limits)
    const ours = rates[`tasks, in order, ready ${batch}`]!
    const share = ((ours / limit) * 100).toFixed(0)
    show(`raw limit, batches of ${batch}`, `${limit} rows/s; the store reaches ${share} %`)
  }
  const ours = await besides(2, 500)
  const limit = await rawCycle(server.url, ROWS, 500, 2)
  const share = ((ours / limit) * 100).toFixed(0)
  show('2 loops, core included, batches of 500', `${ours} rows/s, raw ${limit}: ${share} %`)
  await contending()
} finally {
  await server.stop()
}
