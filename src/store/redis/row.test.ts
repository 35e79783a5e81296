// Rows and attempts as texts, also where one is told by the one before it.

import { describe, expect, it } from 'vitest'
import { job, succeeded, T0 } from '../../../tests/support/builders.ts'
import type { Attempt } from '../../core/attempt.ts'
import type { Job } from '../../core/job.ts'
import { settle } from '../../core/settle.ts'
import type { JobSpec } from '../../core/spec.ts'
import { attemptHead, attemptTail, attemptText, parseAttempt } from './attempt.ts'
import { rowOf } from './row.ts'

const lease = { token: 't', owner: 'o', attemptId: 'x', claimedAt: T0, until: T0 + 1 }
const held: Job = { ...job('a'), state: 'running', lease }
const ended = settle(held, { outcome: succeeded, startedAt: T0 }, T0 + 1)

const withSpec = (spec: Partial<JobSpec>) => ({ spec: { ...held.spec, ...spec } })
const waiting: Job = { ...job('b'), dueAt: T0 + 5 }
const paused: Job = { ...waiting, state: 'paused', pause: { at: T0, until: T0 + 9, note: null } }

/** A job, and what makes its row another one. */
const rows: Readonly<Record<string, readonly [Job, Partial<Job>]>> = {
  version: [ended.job, { version: 9 }],
  fence: [ended.job, { counters: { ...ended.job.counters, fence: 9 } }],
  attempts: [ended.job, { counters: { ...ended.job.counters, attempts: 9 } }],
  state: [ended.job, { state: 'failed' }],
  kind: [ended.job, { kind: 'task' }],
  tenant: [ended.job, withSpec({ tenant: 'x' })],
  queue: [ended.job, withSpec({ queue: 'x' })],
  handler: [ended.job, withSpec({ handler: 'x' })],
  lane: [ended.job, withSpec({ lane: 'x' })],
  kept: [ended.job, withSpec({ retention: { ...held.spec.retention, attempts: 3 } })],
  expireAt: [ended.job, { expireAt: 9 }],
  revision: [ended.job, { revision: 9 }],
  body: [ended.job, { updatedAt: 9 }],
  dueAt: [waiting, { dueAt: T0 + 6 }],
  priority: [waiting, { spec: { ...waiting.spec, priority: 1 } }],
  pause: [paused, { pause: { ...paused.pause!, until: T0 + 8 } }],
}

describe('a row', () => {
  it.each(Object.entries(rows))('tells %s, whatever was written before it', (_, [one, differs]) => {
    const other = { ...one, ...differs }
    const alone = rowOf(other, 1, T0)
    const before = rowOf(one, 1, T0)
    expect(before).not.toBe(alone)
    expect(rowOf(other, 1, T0)).toBe(alone)
  })

  it('tells which write made its spec, and whether it was due', () => {
    rowOf(waiting, 1, T0)
    expect(rowOf(waiting, 2, T0)).not.toBe(rowOf(waiting, 1, T0))
    expect(rowOf(waiting, 1, T0 + 5)).not.toBe(rowOf(waiting, 1, T0))
  })

  it('is one text for jobs that say the same', () => {
    expect(rowOf({ ...ended.job, id: 'c' }, 1, T0)).toBe(rowOf(ended.job, 1, T0))
  })
})

const attempt = ended.attempt!
const attempts: Readonly<Record<string, Partial<Attempt>>> = {
  run: { run: 9 },
  attempt: { attempt: 9 },
  fence: { fence: 9 },
  retries: { retries: 9 },
  origin: { origin: 'manual' },
  retryOf: { retryOf: 9 },
  occurrence: { occurrence: 9 },
  missed: { missed: 9 },
  owner: { owner: 'x' },
  claimedAt: { claimedAt: 9 },
  startedAt: { startedAt: 9 },
  finishedAt: { finishedAt: 9 },
  outcome: { outcome: 'cancelled' },
  expireAt: { expireAt: 9 },
  reason: { reason: 'why' },
  error: { error: { name: 'E', message: 'm', stack: null } },
  result: { result: 3 },
  measures: { measures: { items: 3 } },
}

describe('an attempt', () => {
  it.each(Object.entries(attempts))('tells %s, whatever was written before it', (_, differs) => {
    const other = { ...attempt, ...differs }
    attemptTail(attempt)
    expect(parseAttempt(attemptText(other), 'a')).toEqual(other)
    expect(parseAttempt(attemptText(attempt), 'a')).toEqual(attempt)
  })

  it('shares all but its number and id with those that say the same', () => {
    const other = { ...attempt, id: 'y', number: 2 }
    expect(attemptTail(other)).toBe(attemptTail(attempt))
    expect(attemptHead(other)).not.toBe(attemptHead(attempt))
    expect(parseAttempt(attemptText(other), 'a')).toEqual(other)
  })
})
