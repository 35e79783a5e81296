// Operations of a node at work: insert, claim, begin, settle, renew, reap, report.

import type { Outcome, OutcomeKind } from '../../src/core/attempt.ts'
import { begin } from '../../src/core/run/begin.ts'
import { SchedulerError } from '../../src/core/errors.ts'
import { createJob } from '../../src/core/create.ts'
import type { Job } from '../../src/core/job.ts'
import { resumeJob } from '../../src/core/control/pause.ts'
import { settle } from '../../src/core/run/settle.ts'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import type {
  ClaimRequest,
  CommitResult,
  InsertOptions,
  LogLine,
  Report,
} from '../../src/store/port.ts'
import { claimRequest } from '../support/builders.ts'
import { asked, submit, submitAll } from './commits.ts'
import { randomWrites } from './records.ts'
import { handlers, queues, randomSpec } from './specs.ts'
import type { Asked, World } from './world.ts'

const LEASE = 15 * SECOND

export async function insert(world: World): Promise<void> {
  const { jobs, options } = drawnInsert(world)
  const { results } = await world.all('insert', store => store.insert(jobs, options))
  for (const result of results) world.meet('insert', result)
}

/** Most of the time for a queue that the new jobs are in. */
export async function insertAndClaim(world: World): Promise<void> {
  const { jobs, options } = drawnInsert(world)
  const request = drawnClaim(world, world.random.chance(0.8) ? jobs[0]! : null)
  const before = world.jobs
  const { results, claimed } = await world.all('insert and claim', store =>
    store.insert(jobs, { ...options, claim: request }),
  )
  for (const result of results) world.meet('insert', result)
  const made = new Map(jobs.map(job => [job.id, job]))
  const isNew = claimed.some(({ id }) => !before.has(id))
  world.meet('insert and claim', isNew ? 'new' : claimed.length > 0 ? 'old' : 'none')
  for (const job of claimed) world.wrote(before.get(job.id) ?? made.get(job.id)!, job, 'claim')
  if (world.isPrompt) for (const job of claimed) await start(world, job, submitOne)
}

function drawnInsert(world: World): { jobs: readonly Job[]; options: InsertOptions } {
  const { random, now } = world
  const jobs = Array.from({ length: random.int(1, 3) }, () => newOne(world))
  const options = {
    now,
    waitingMax: random.chance(0.2) ? random.int(1, 8) : null,
    ...(random.chance(0.3) ? { records: randomWrites(world) } : {}),
  }
  return { jobs, options }
}

function newOne(world: World): Job {
  for (;;) {
    try {
      return drawnJob(world)
    } catch (error) {
      // Core may refuse a schedule that has no firing ahead: draw again.
      if (!(error instanceof SchedulerError)) throw error
    }
  }
}

function drawnJob(world: World): Job {
  const { random, now } = world
  const known = random.chance(0.15) ? world.pickJob() : null
  const id = known?.id ?? world.ids.job()
  const spec = randomSpec(random, now)
  if (random.chance(0.2)) {
    const seriesId = random.chance(0.5) ? 'series' : null
    return createJob({ id, spec, kind: 'task', seriesId }, now)
  }
  const declared = { app: 'shop', definition: 'd', key: '', generation: '1' }
  return createJob({ id, spec, declared: random.chance(0.5) ? declared : null }, now)
}

export async function claim(world: World): Promise<void> {
  const { random, now } = world
  const due = world.pickJob(job => (job.dueAt ?? Infinity) <= now)
  const request = drawnClaim(world, due && random.chance(0.8) ? due : null)
  const before = world.jobs
  const claimed = await world.all('claim', store => store.claim(request))
  world.meet('claim', claimed.length > 0 ? 'some' : 'none')
  for (const job of claimed) world.wrote(before.get(job.id)!, job, 'claim')
  if (world.isPrompt) for (const job of claimed) await start(world, job, submitOne)
}

function drawnClaim({ random, now, ids }: World, near: Job | null): ClaimRequest {
  return claimRequest(
    {
      queue: near?.spec.queue ?? random.pick(queues),
      handlers: random.chance(0.9) ? handlers : [random.pick(handlers)],
      now,
      limit: random.int(1, 5),
      leaseMs: LEASE,
    },
    ids,
  )
}

async function submitOne(world: World, ask: Asked): Promise<CommitResult | null> {
  return (await submitAll(world, [ask]))[0]!
}

export async function beginOne(world: World): Promise<void> {
  const job = world.pickJob(held => held.state === 'running' && !world.isBegun(held))
  if (job) await start(world, job, submit)
}

async function start(world: World, job: Job, commit: typeof submitOne): Promise<void> {
  const first = begin(job, world.now)
  if (!first.change) {
    world.markBegun(job)
    world.meet('begin', 'plain')
    return
  }
  const name = first.kind === 'run' ? 'begin' : 'beginNothing'
  const result = await commit(world, { name, kind: 'begin', change: first.change })
  if (result === 'committed') world.markBegun(job)
}

const outcomeKinds: readonly (readonly [OutcomeKind, number])[] = [
  ['succeeded', 5],
  ['failed', 4],
  ['timedOut', 1],
  ['cancelled', 1],
  ['interrupted', 1],
  ['skipped', 1],
  ['deferred', 1],
  ['released', 1],
]

export async function settleSome(world: World): Promise<void> {
  const running = [...world.jobs.values()].filter(
    job => job.state === 'running' && world.isBegun(job),
  )
  const asks = running.slice(0, world.random.int(1, 3)).map(job => settled(world, job))
  if (asks.length === 1) await submit(world, asks[0]!)
  else if (asks.length > 1) await submitAll(world, asks)
}

function settled(world: World, job: Job): Asked {
  const outcome = randomOutcome(world)
  const finish = { outcome, startedAt: job.lease!.claimedAt }
  const isIdle = outcome.kind === 'deferred' && !outcome.worked
  return {
    name: isIdle ? 'settle deferred idle' : `settle ${outcome.kind}`,
    kind: 'settle',
    change: settle(job, finish, world.now),
  }
}

function randomOutcome(world: World): Outcome {
  const { random, now } = world
  const kind = random.weighed(outcomeKinds)
  const error = { name: 'Error', message: 'nö', stack: random.chance(0.5) ? 'a\nb' : null }
  switch (kind) {
    case 'succeeded':
      return { kind, result: random.pick([null, { ok: true }]), measures: { ms: 1.5 } }
    case 'failed': {
      const retryAfterMs = random.chance(0.2) ? 5 * SECOND : null
      return { kind, error, final: random.chance(0.2), retryAfterMs }
    }
    case 'timedOut':
      return { kind, error }
    case 'cancelled':
    case 'skipped':
      return { kind, reason: 'because' }
    case 'deferred': {
      const until = now + random.int(0, MINUTE)
      return { kind, until, reason: 'busy', worked: random.chance(0.5) }
    }
    case 'abandoned':
    case 'interrupted':
    case 'released':
      return { kind }
  }
}

/** Given back before begin was committed, as a node that stops does. */
export async function release(world: World): Promise<void> {
  const job = world.pickJob(held => held.state === 'running' && !world.isBegun(held))
  if (!job) return
  const finish = { outcome: { kind: 'released' }, startedAt: world.now } as const
  const change = settle(job, finish, world.now)
  await submit(world, { name: 'release', kind: 'settle', change })
}

/** What the node that sweeps does with leases and pauses that ended. */
export async function sweep(world: World): Promise<void> {
  const { now } = world
  const request = { now, limit: world.random.int(1, 4) }
  const late = await world.all('overdue', store => store.overdue(request))
  world.meet('overdue', late.length > 0 ? 'some' : 'none')
  for (const job of late) {
    const ask =
      job.state === 'paused'
        ? asked(world, 'resume by itself', 'control', () => resumeJob(job, now))
        : asked(world, 'reap', 'settle', () => reaped(world, job))
    await submit(world, ask)
  }
}

function reaped(world: World, job: Job) {
  const finish = { outcome: { kind: 'abandoned' }, startedAt: job.lease!.claimedAt } as const
  return settle(job, finish, world.now)
}

export async function renew(world: World): Promise<void> {
  const { random } = world
  const running = [...world.jobs.values()].filter(job => job.state === 'running')
  const leases = running.map(job => ({
    id: job.id,
    token: random.chance(0.1) ? 'stolen' : job.lease!.token,
    fence: job.counters.fence - (random.chance(0.1) ? 1 : 0),
  }))
  leases.push({ id: 'ghost', token: 'none', fence: 1 })
  const until = random.chance(0.3) ? null : world.now + LEASE
  const results = await world.all('renew', store => store.renew({ leases, until }))
  for (const { isHeld } of results) {
    world.meet(until === null ? 'look' : 'renew', isHeld ? 'held' : 'lost')
  }
}

export async function report(world: World): Promise<void> {
  const { random, now } = world
  const job = world.pickJob(held => held.state === 'running')
  if (!job) return
  const line: LogLine = { at: now, level: 'info', message: `at ${now}`, fields: { n: 1 } }
  const given: Report = {
    jobId: job.id,
    token: random.chance(0.15) ? 'stolen' : job.lease!.token,
    fence: job.counters.fence - (random.chance(0.1) ? 1 : 0),
    attemptId: job.lease!.attemptId,
    ...(random.chance(0.5) ? { progress: { fraction: random.next(), note: 'ö' } } : {}),
    ...(random.chance(0.5) ? { checkpoint: random.pick([null, 0, { page: now }]) } : {}),
    ...(random.chance(0.5) ? { lines: [line, line] } : {}),
  }
  const [isHeld] = await world.all('report', store => store.report([given], now))
  world.meet('report', isHeld ? 'held' : 'lost')
}
