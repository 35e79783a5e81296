// Rows of crashes: how long each is waited for, when a job is set aside, and how it comes back.

import { describe, expect, it, test } from 'vitest'
import type { Outcome } from '../attempt.ts'
import { retryJob } from '../control/control.ts'
import { crashWaitMs, isSetAside, isSuspect } from './crash.ts'
import type { Job } from '../job.ts'
import { limits } from '../limits.ts'
import { requestRun } from '../control/requests.ts'
import { settle } from './settle.ts'
import { explain } from '../control/why.ts'
import { HOUR, MINUTE, SECOND } from '../time.ts'
import { failed, succeeded, T0 } from '../../../tests/support/builders.ts'
import { claimed, every, made, ran } from '../../../tests/support/pure.ts'

const crashed: Outcome = { kind: 'abandoned' }
const lost: Outcome = { kind: 'interrupted', reason: 'lease_lost' }
const once = { trigger: { kind: 'once', at: T0 } } as const

/** Crashes at every moment it falls due. */
function crashTimes(job: Job, count: number): Job {
  let next = job
  for (let i = 0; i < count; i++) next = ran(next, crashed, next.dueAt!).job
  return next
}

it.each([
  [0, 0],
  [1, 0],
  [2, 5 * SECOND],
  [3, 10 * SECOND],
  [4, 20 * SECOND],
  [5, MINUTE],
  [6, 2 * MINUTE],
  [10, 32 * MINUTE],
  [11, HOUR],
  [5_000, HOUR],
])('after %i crashes in a row it waits %i ms', (crashes, waitMs) => {
  expect(crashWaitMs(crashes)).toBe(waitMs)
})

describe('a recurring job', () => {
  it('is set aside after the fifth crash and never ends by crashes', () => {
    let job = made(every(HOUR))
    for (let crash = 1; crash <= 30; crash++) {
      const at = job.dueAt!
      job = ran(job, crashed, at).job
      expect(job).toMatchObject({ state: 'waiting', waitingFor: 'retry', crashes: crash })
      expect(job.dueAt).toBe(at + crashWaitMs(crash))
      expect(isSuspect(job)).toBe(crash >= 2)
      expect(isSetAside(job)).toBe(crash >= 5)
    }
  })

  it('skips what passes during the cool-down, once, and keeps the run it tries', () => {
    const job = crashTimes(made(every(20 * SECOND)), 5)
    const cursor = T0 + 20 * SECOND
    expect(job).toMatchObject({ nextAt: cursor, current: { run: 1, attempt: 5, failures: 0 } })
    const at = job.dueAt!
    const { job: after, attempt, skips } = ran(job, succeeded, at, SECOND)
    expect(attempt).toMatchObject({ run: 1, attempt: 6, number: 6, occurrence: cursor, retries: 0 })
    expect(skips).toEqual([])
    expect(after).toMatchObject({ crashes: 0, nextAt: T0 + 120 * SECOND, totals: { skipped: 4 } })
  })

  it('goes on skipping while the tries crash, without doubling', () => {
    const job = crashTimes(made(every(20 * SECOND)), 7)
    const { job: after } = ran(job, succeeded, job.dueAt!)
    // 1 + 1 + 2 + 4 minutes after the first firing, one firing every 20 s.
    const passed = Math.floor((job.dueAt! - T0) / (20 * SECOND))
    expect(after.totals.skipped).toBe(passed - 1)
    expect(after.nextAt).toBe(T0 + (passed + 1) * 20 * SECOND)
  })

  it('is tried at once when a person asks, and a crash goes on with the next cool-down', () => {
    const job = crashTimes(made(every(HOUR)), 6)
    const now = job.updatedAt + SECOND
    const { job: tried } = retryJob(job, now)
    expect(tried).toMatchObject({ state: 'waiting', dueAt: now, crashes: 6 })
    expect(tried.revision).toBe(job.revision + 1)
    expect(ran(tried, crashed, now).job.dueAt).toBe(now + 4 * MINUTE)
  })

  it('comes back with a run asked for that succeeds', () => {
    const job = crashTimes(made(every(20 * SECOND)), 9)
    const now = job.updatedAt + 3 * MINUTE
    const asked = requestRun(job, { id: 'r1' }, now).change.job
    expect(asked.dueAt).toBe(now)
    const { job: after, skips } = ran(asked, succeeded, now)
    expect(skips).toMatchObject([{ reason: 'crash_loop' }])
    expect(after).toMatchObject({ crashes: 0, dueAt: now, retryAt: now, requests: [] })
    expect(ran(after, succeeded, now).skips).toEqual([])
  })

  it('neither fires nor serves requests during the wait after a crash', () => {
    const job = crashTimes(made(every(20 * SECOND)), 4)
    const now = job.dueAt!
    const asked = requestRun(job, { id: 'r1' }, now - 1).change.job
    const { job: after } = ran(asked, crashed, now)
    expect(after).toMatchObject({ crashes: 5, dueAt: now + MINUTE })
  })

  it('ends a requested run after ten crashes, and stays', () => {
    const job = crashTimes(made(every(HOUR)), 9)
    const now = job.updatedAt + 1
    const asked = requestRun(job, { id: 'r1' }, now).change.job
    const { job: after } = ran(asked, crashed, now)
    expect(after).toMatchObject({ state: 'waiting', crashes: 10, requests: [] })
    expect(after.dueAt).toBe(now + 32 * MINUTE)
  })
})

test('a one-off fails after ten crashes, whatever its retries', () => {
  let job = made(once)
  for (let crash = 1; crash <= limits.oneOffCrashesMax; crash++) {
    expect(job.state).toBe('waiting')
    job = ran(job, crashed, job.dueAt!).job
  }
  expect(job).toMatchObject({ state: 'failed', crashes: 10, ended: { reason: 'crash_loop' } })
  expect(retryJob(job, job.updatedAt).job).toMatchObject({ state: 'waiting', crashes: 0 })
})

describe('what a row of crashes is made of', () => {
  it.each<[string, Outcome, number]>([
    ['a lost lease', lost, 1],
    ['a stop of the node', { kind: 'interrupted' }, 1],
    ['a cancel', { kind: 'cancelled', reason: 'by hand' }, 1],
    ['a success', succeeded, 0],
    ['a failure', failed(), 0],
  ])('%s', (_, outcome, crashes) => {
    const job = crashTimes(made(every(HOUR)), 1)
    expect(ran(job, outcome, job.dueAt!).job.crashes).toBe(crashes)
  })

  it('a lost lease spends nothing and is tried again at once', () => {
    const { job, attempt } = ran(made(every(HOUR)), lost, T0 + HOUR)
    expect(attempt).toMatchObject({ outcome: 'interrupted', reason: 'lease_lost', error: null })
    expect(job).toMatchObject({ dueAt: T0 + HOUR, crashes: 0, current: { run: 1, failures: 0 } })
  })

  it('G1 a lease lost after crashes waits as long as after the last of them', () => {
    for (const [crashes, waitMs] of [
      [2, 5 * SECOND],
      [4, 20 * SECOND],
      [5, MINUTE],
      [7, 4 * MINUTE],
    ] as const) {
      const job = crashTimes(made(every(HOUR)), crashes)
      const at = job.dueAt!
      const { job: after } = ran(job, lost, at)
      expect(after).toMatchObject({ crashes, dueAt: at + waitMs, state: 'waiting' })
    }
  })

  it('G1 a node that stops gives a job that is set aside back at once', () => {
    const job = crashTimes(made(every(HOUR)), 5)
    const { job: after } = ran(job, { kind: 'interrupted' }, job.dueAt!)
    expect(after.dueAt).toBe(job.dueAt)
  })

  it('G1 a requested run whose lease is lost stays requested during the wait', () => {
    const job = crashTimes(made(every(HOUR)), 12)
    const now = job.updatedAt + 1
    const asked = requestRun(job, { id: 'r1' }, now).change.job
    const { job: after } = ran(asked, lost, now)
    expect(after).toMatchObject({ state: 'waiting', crashes: 12, dueAt: now + HOUR })
    expect(after.requests).toHaveLength(1)
  })

  it('a claim that never began leaves no row, however its lease was lost', () => {
    const asked = requestRun(made(every(HOUR)), { id: 'r1' }, T0).change.job
    for (const outcome of [crashed, lost]) {
      const change = settleClaim(asked, outcome)
      expect(change.attempt).toBeNull()
      expect(change.job).toMatchObject({ crashes: 0, counters: { attempts: 0 } })
    }
  })
})

function settleClaim(job: Job, outcome: Outcome) {
  return settle(claimed(job, T0), { outcome, startedAt: T0 }, T0 + 15_000)
}

it('says plainly that a job is set aside, until when, and what to do', () => {
  const job = crashTimes(made(every(HOUR)), 5)
  const facts = { now: job.updatedAt, isQueuePaused: false, nodes: 1, nodesWithHandler: 1 }
  const { verdict, next, checks } = explain(job, facts)
  expect(verdict).toMatch(/^Set aside \(crash_loop\) after 5 crashes in a row: tried again at /)
  expect(next).toBe(job.dueAt)
  expect(checks.find(({ code }) => code === 'crash_loop')?.fix).toContain('carillon retry j')
})
