// The PostgreSQL store by itself: inserting, claiming and settling, contention, idling, beside what
// the same server gives to batched statements over a minimal table.
// Usage: postgres [--quick] with CARILLON_BENCH_POSTGRES_URL=postgres://… of a server to fill.

import pg from 'pg'
import { begin } from '../../src/core/begin.ts'
import type { Change } from '../../src/core/change.ts'
import { createJob, type Job } from '../../src/core/job.ts'
import { settle } from '../../src/core/settle.ts'
import { completeSpec, type SpecInput } from '../../src/core/spec.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { PostgresStore } from '../../src/store/postgres/store.ts'
import type { ClaimRequest } from '../../src/store/store.ts'
import { rawCycle } from './postgres-limit.ts'

const url = process.env.CARILLON_BENCH_POSTGRES_URL
if (url === undefined) throw new Error('set CARILLON_BENCH_POSTGRES_URL to a server of your own')
const isQuick = process.argv.includes('--quick')
const ROWS = isQuick ? 20_000 : 100_000
const FUTURE = isQuick ? 100_000 : 1_000_000
const ROUNDS = 3
const T0 = Date.UTC(2026, 0, 5, 12)
const SCHEMA = 'carillon_bench'
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

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const from = performance.now()
  const result = await work()
  return { result, ms: performance.now() - from }
}

const show = (what: string, value: string): void => console.log(`${what.padEnd(62)} ${value}`)
const perSecond = (rows: number, ms: number): number => Math.round((rows / ms) * 1000)

async function ask(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url! })
  await client.connect()
  await client.query(sql)
  await client.end()
}

async function freshStore(): Promise<PostgresStore> {
  await ask(`drop schema if exists ${SCHEMA} cascade`)
  const address = new URL(url!)
  address.searchParams.set('schema', SCHEMA)
  const store = new PostgresStore({ url: address.href, clock: () => T0, listens: false })
  await store.open()
  return store
}

interface Shape {
  readonly lanes: number
  readonly spec: Partial<SpecInput>
  readonly due: (i: number) => number
}

function makeJobs(count: number, { lanes, spec, due }: Shape): Job[] {
  return Array.from({ length: count }, (_, i) => {
    const lane = `lane-${String(i % lanes).padStart(6, '0')}`
    const trigger = { kind: 'once', at: due(i) } as const
    const input = completeSpec({ handler: 'send', trigger, payload, lane, ...spec })
    const job = createJob({ id: nextId(), spec: input, kind: spec.trigger ? 'job' : 'task' }, T0)
    return spec.trigger ? { ...job, nextAt: due(i), dueAt: due(i) } : job
  })
}

async function insertAll(store: PostgresStore, jobs: readonly Job[], batch: number) {
  let ms = 0
  for (let i = 0; i < jobs.length; i += batch) {
    ms += (await timed(() => store.insert(jobs.slice(i, i + batch), { now: T0 }))).ms
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

function settled(job: Job, now: number): Change {
  const started = begin(job, now)
  if (started.kind === 'nothing') return started.change
  const outcome = { kind: 'succeeded', result: null, measures: null } as const
  return settle(started.job, { outcome, startedAt: now }, now + 5)
}

interface Sums {
  rows: number
  claimMs: number
  commitMs: number
}

async function drain(store: PostgresStore, batch: number, now: number, sums: Sums): Promise<void> {
  for (;;) {
    const claimed = await timed(() => store.claim(claimRequest(now, batch)))
    if (claimed.result.length === 0) return
    const changes = claimed.result.map(job => settled(job, now))
    const committed = await timed(() => store.commit(changes, { now: now + 5 }))
    if (committed.result.some(result => result !== 'committed')) throw new Error('not committed')
    sums.rows += claimed.result.length
    sums.claimMs += claimed.ms
    sums.commitMs += committed.ms
  }
}

/** Two loops over one store, as the raw limit has two connections. */
async function cycle(shape: Shape, batch: number): Promise<{ rate: number; told: string }> {
  const store = await freshStore()
  await insertAll(store, makeJobs(ROWS, shape), 1_000)
  await ask(`vacuum analyze`)
  const sums: Sums = { rows: 0, claimMs: 0, commitMs: 0 }
  const cpu = process.cpuUsage()
  const loops = [0, 1].map(() => drain(store, batch, T0 + ROWS, sums))
  const { ms } = await timed(() => Promise.all(loops))
  const { user, system } = process.cpuUsage(cpu)
  const us = (sum: number) => ((sum * 1_000) / sums.rows).toFixed(1)
  await store.close()
  const clientUs = ((user + system) / sums.rows).toFixed(1)
  const told = `claim ${us(sums.claimMs)}, commit ${us(sums.commitMs)}, client CPU ${clientUs} µs`
  return { rate: perSecond(sums.rows, ms), told }
}

const every: Partial<SpecInput> = {
  trigger: { kind: 'interval', everyMs: HOUR, from: 'schedule', anchor: null },
}
const shapes: Record<string, Shape> = {
  'tasks, one lane, ready': { lanes: 1, spec: {}, due: () => T0 },
  'jobs every hour, one lane, timed': { lanes: 1, spec: every, due: i => T0 + 1 + i },
  'jobs every hour, 1000 lanes, scattered': {
    lanes: 1_000,
    spec: every,
    due: i => T0 + 1 + ((i * 7919) % ROWS),
  },
}

async function settling(): Promise<void> {
  for (const batch of [500, 2_000]) {
    const raw: number[] = []
    const ours = new Map<string, number[]>()
    for (let round = 0; round < ROUNDS; round++) {
      raw.push(await rawCycle(url!, ROWS, batch))
      for (const [name, shape] of Object.entries(shapes)) {
        const { rate, told } = await cycle(shape, batch)
        ours.set(name, [...(ours.get(name) ?? []), rate])
        show(`  claim+settle ${name}, ${batch}`, `${rate} rows/s (${told})`)
      }
    }
    show(`raw limit, batches of ${batch}`, `${median(raw)} rows/s (${raw.join(', ')})`)
    for (const [name, rates] of ours) {
      const share = ((median(rates) / median(raw)) * 100).toFixed(0)
      show(`store, ${name}, ${batch}`, `${median(rates)} rows/s, ${share} % of raw`)
    }
  }
}

async function inserting(): Promise<void> {
  const store = await freshStore()
  const jobs = makeJobs(ROWS, { lanes: 100, spec: {}, due: () => T0 })
  show(
    'insert tasks due now, batches of 500',
    `${perSecond(ROWS, await insertAll(store, jobs, 500))} rows/s`,
  )
  await store.close()
}

const range = (times: readonly number[]): string =>
  `${median(times).toFixed(2)} ms (${Math.min(...times).toFixed(2)}–${Math.max(...times).toFixed(2)})`

async function claimTimes(store: PostgresStore, limit: number, now: number): Promise<string> {
  const times: number[] = []
  for (let i = 0; i < 11; i++) {
    const { ms, result } = await timed(() => store.claim(claimRequest(now, limit)))
    if (result.length !== limit) throw new Error(`claimed ${result.length}`)
    times.push(ms)
  }
  return range(times.slice(1))
}

async function contending(): Promise<void> {
  const store = await freshStore()
  const idle: Shape = { lanes: FUTURE / 10, spec: {}, due: i => T0 + DAY + i }
  for (let i = 0; i < 10; i++) await insertAll(store, makeJobs(FUTURE / 10, idle), 2_000)
  const line = { queue: 'default', handler: 'send' }
  const next: number[] = []
  const empty: number[] = []
  for (let i = 0; i < 100; i++) {
    next.push((await timed(() => store.nextDueAt([line]))).ms)
    empty.push((await timed(() => store.claim(claimRequest(T0, 50)))).ms)
  }
  show(`nextDueAt at ${FUTURE} rows`, range(next))
  show(`empty claim at ${FUTURE} rows`, range(empty))
  await insertAll(store, makeJobs(ROWS, { lanes: 1_000, spec: {}, due: () => T0 }), 2_000)
  const beside = `of ${ROWS} due in 1000 lanes beside ${FUTURE} future jobs of idle lanes`
  for (const limit of [50, 500]) {
    show(`claim ${limit} ${beside}`, await claimTimes(store, limit, T0))
  }
  await store.close()
}

await inserting()
await settling()
await contending()
await ask(`drop schema if exists ${SCHEMA} cascade`)
