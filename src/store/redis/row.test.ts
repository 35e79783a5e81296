// Rows, leases, definitions and attempts as texts, and back.

import { describe, expect, it } from 'vitest'
import { job, succeeded, T0 } from '../../../tests/support/builders.ts'
import type { Attempt } from '../../core/attempt.ts'
import type { Job } from '../../core/job.ts'
import { settle } from '../../core/run/settle.ts'
import type { JobSpec } from '../../core/spec.ts'
import { decodeAttempt, decodeSkip, encodeAttempt, encodeSkip } from './attempt.ts'
import { decodeJob, encodeDefinition, encodeLease, encodeRow } from './row.ts'

const lease = { token: 't', owner: 'o', attemptId: 'x', claimedAt: T0, until: T0 + 1 }
const held: Job = { ...job('a'), state: 'running', dueAt: null, lease }
const ended = settle(held, { outcome: succeeded, startedAt: T0 }, T0 + 1)

const withSpec = (spec: Partial<JobSpec>) => ({ spec: { ...held.spec, ...spec } })
const waiting: Job = { ...job('b'), dueAt: T0 + 5 }
const paused: Job = {
  ...waiting,
  state: 'paused',
  dueAt: null,
  pause: { at: T0, until: T0 + 9, note: null },
}

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
  names: [ended.job, withSpec({ lane: 'a\n\0\u0001\ud800', queue: '\u{1f600}' })],
  dueAt: [waiting, { dueAt: T0 + 6 }],
  priority: [waiting, { spec: { ...waiting.spec, priority: 1 } }],
  pause: [paused, { pause: { ...paused.pause!, until: T0 + 8 } }],
}

function reread(one: Job): Job {
  const definition = encodeDefinition(one)
  return decodeJob({ row: encodeRow(one), lease: encodeLease(one), definition })
}

describe('a row', () => {
  it.each(Object.entries(rows))('keeps %s, whatever was written before it', (_, [one, differs]) => {
    const other = { ...one, ...differs }
    encodeRow(one)
    expect(reread(other)).toEqual(other)
    expect(reread(one)).toEqual(one)
  })

  it('of a job that runs comes with its lease', () => {
    expect(reread(held)).toEqual(held)
  })

  it.each([
    ['is missing', { row: '' }, 'state'],
    ['is no JSON', { row: 'junk' }, 'state'],
    ['has lost fields', { row: '[1,2]\n[]' }, 'state'],
    ['has no definition', { definition: '' }, 'spec'],
    ['has a definition that is no JSON', { definition: '{' }, 'spec'],
  ])('that %s is damaged', (_, damage, part) => {
    const stored = {
      row: encodeRow(waiting),
      lease: '',
      definition: encodeDefinition(waiting),
    }
    const damaged = expect.objectContaining({ part }) as Error
    expect(() => decodeJob({ ...stored, ...damage })).toThrow(damaged)
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
  id: { id: 'y\n\0' },
}

describe('an attempt', () => {
  it.each(Object.entries(attempts))('keeps %s', (_, differs) => {
    const other = { ...attempt, ...differs }
    expect(decodeAttempt(encodeAttempt(other), 'a')).toEqual(other)
    expect(decodeAttempt(encodeAttempt(attempt), 'a')).toEqual(attempt)
  })
})

describe('a skip', () => {
  it.each([{}, { clockEpoch: 2 }])('keeps what it says, with %o', epoch => {
    const skip = { jobId: 'a', from: 1, to: 2, count: 2, reason: 'missed', ...epoch } as const
    expect(decodeSkip(encodeSkip(skip), 'a')).toEqual(skip)
  })
})
