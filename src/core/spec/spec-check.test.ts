// Every field that can be wrong, each named with its value and the rule it breaks.

import { describe, expect, test } from 'vitest'
import { spec as complete } from '../../../tests/support/builders.ts'
import { cron, every } from '../../../tests/support/pure.ts'
import { SchedulerError } from '../errors.ts'
import { limits } from '../limits.ts'
import { assertSpec, assertSpecs, checkSpec } from './spec-check.ts'
import type { JobSpec } from '../spec.ts'
import { HOUR, MINUTE } from '../time.ts'

/** What arrives from outside need not be what the types say. */
function specOf(parts: Record<string, unknown>): JobSpec {
  return { ...complete(), ...parts }
}

const interval = every(HOUR).trigger
const { retry } = complete()
const exponential = { kind: 'exponential', baseMs: 1, maxMs: 1, jitter: 0 }

describe('fields', () => {
  test.each<[string, unknown, Record<string, unknown>]>([
    ['name', '', { name: '' }],
    ['handler', 7, { handler: 7 }],
    ['queue', 'a\nb', { queue: 'a\nb' }],
    ['tenant', undefined, { tenant: undefined }],
    ['lane', 'x'.repeat(201), { lane: 'x'.repeat(201) }],
    ['tags', 'one', { tags: 'one' }],
    ['tags', '', { tags: ['ok', ''] }],
    ['payload', undefined, { payload: undefined }],
    ['payload', 'x'.repeat(limits.payloadBytes), { payload: 'x'.repeat(limits.payloadBytes) }],
    ['metadata', undefined, { metadata: undefined }],
    ['priority', 0, { priority: 0 }],
    ['priority', 7, { priority: 7 }],
    ['priority', 2.5, { priority: 2.5 }],
    ['first', 'soon', { first: 'soon' }],
    ['startAt', '2026', { startAt: '2026' }],
    ['endAt', Number.NaN, { endAt: Number.NaN }],
    ['runLimit', 0, { runLimit: 0 }],
    ['jitterMs', -1, { jitterMs: -1 }],
    ['graceMs', -1, { graceMs: -1 }],
    ['lateLimitMs', 0.5, { lateLimitMs: 0.5 }],
    ['timeoutMs', 0, { timeoutMs: 0 }],
    ['retention.attempts', -1, { retention: { attempts: -1, ageMs: 0 } }],
    ['retention.ageMs', null, { retention: { attempts: 1, ageMs: null } }],
    ['missed', 'never', { missed: { policy: 'never' } }],
    ['missed.max', 0, { missed: { policy: 'all', max: 0, maxAgeMs: 1 } }],
    ['missed.maxAgeMs', 0, { missed: { policy: 'all', max: 1, maxAgeMs: 0 } }],
    ['overlap', undefined, { overlap: {} }],
    ['overlap.limit', 101, { overlap: { policy: 'queue', limit: 101 } }],
    ['retry', null, { retry: null }],
    ['retry.limit', -1, { retry: { ...retry, limit: -1 } }],
    ['retry.exhausted', 'die', { retry: { ...retry, exhausted: 'die' } }],
    ['retry.yields', 1, { retry: { ...retry, yields: 1 } }],
    ['retry.resetAfterMs', 0, { retry: { ...retry, resetAfterMs: 0 } }],
    ['retry.backoff', undefined, { retry: { ...retry, backoff: undefined } }],
    ['retry.backoff.delayMs', -1, { retry: { ...retry, backoff: { kind: 'fixed', delayMs: -1 } } }],
    ['retry.backoff.jitter', 2, { retry: { ...retry, backoff: { ...exponential, jitter: 2 } } }],
    [
      'retry.backoff.maxFactor',
      0,
      { retry: { ...retry, backoff: { kind: 'relative', maxFactor: 0 } } },
    ],
    ['trigger', undefined, { trigger: undefined }],
    ['trigger.at', '12:00', { trigger: { kind: 'once', at: '12:00' } }],
    ['trigger.everyMs', 0, { trigger: { ...interval, everyMs: 0 } }],
    ['trigger.from', 'end', { trigger: { ...interval, from: 'end' } }],
    ['trigger.anchor', 1.5, { trigger: { ...interval, anchor: 1.5 } }],
    ['trigger.zone', 'Mars/Olympus', cron('0 * * * *', 'Mars/Olympus')],
    ['trigger.expression', '61 * * * *', cron('61 * * * *')],
    ['trigger.dialect', 'quartz', { trigger: { ...cron('* * * * *').trigger, dialect: 'quartz' } }],
  ])('%s: %j', (field, value, parts) => {
    const problems = checkSpec(specOf(parts))
    expect(problems).toMatchObject([{ field }])
    expect(problems[0]!.value).toEqual(value)
    expect(problems[0]!.rule).toMatch(/^must be /)
  })

  test('what is right is not complained about', () => {
    expect(checkSpec(complete())).toEqual([])
    expect(checkSpec(complete({ ...every(1), timeoutMs: null, lateLimitMs: 0 }))).toEqual([])
  })
})

test('all problems at once, in one error that names each', () => {
  const bad = specOf({ name: '', priority: 9, trigger: { ...interval, everyMs: 0 }, timeoutMs: 0 })
  const fields = ['name', 'trigger.everyMs', 'priority', 'timeoutMs']
  expect(checkSpec(bad).map(problem => problem.field)).toEqual(fields)
  let thrown: unknown
  try {
    assertSpec(bad)
  } catch (error) {
    thrown = error
  }
  const { code, message, problems } = thrown as SchedulerError
  expect(code).toBe('SPEC_INVALID')
  expect(problems).toHaveLength(4)
  for (const field of fields) expect(message).toContain(`${field}: `)
  expect(message).toContain('(got 9)')
})

const soon = { kind: 'once', at: 0 }
const start = { ...interval, from: 'start' }
const finish = { ...interval, from: 'finish' }
const hourly = cron('0 * * * *').trigger
const again = { policy: 'all', max: 1, maxAgeMs: 1 }
const relative = { kind: 'relative', maxFactor: 2 }

describe('contradictions', () => {
  test.each<[string, Record<string, unknown>]>([
    ['missed', { trigger: start, missed: again }],
    ['missed', { trigger: finish, missed: again }],
    ['overlap', { trigger: finish, overlap: { policy: 'replace' } }],
    ['overlap', { trigger: start, overlap: { policy: 'queue', limit: 1 } }],
    ['overlap', { trigger: start, overlap: { policy: 'allow' } }],
    ['trigger.anchor', { trigger: { ...start, anchor: 0 } }],
    ['first', { trigger: interval, first: 'ifDue' }],
    ['first', { trigger: soon, first: 'now' }],
    ['first', { trigger: { kind: 'manual' }, first: 'now' }],
    ['retry.exhausted', { trigger: hourly, retry: { ...retry, exhausted: 'wait' } }],
    ['retry.exhausted', { trigger: soon, retry: { ...retry, exhausted: 'next' } }],
    ['retry.backoff', { trigger: hourly, retry: { ...retry, backoff: relative } }],
    ['retry.backoff.maxMs', { retry: { ...retry, backoff: { ...exponential, baseMs: 2 } } }],
    ['retry.yields', { trigger: start, retry: { ...retry, yields: true } }],
    [
      'retry.yields',
      { trigger: hourly, retry: { ...retry, yields: true }, overlap: { policy: 'allow' } },
    ],
    ['startAt', { trigger: soon, startAt: 5 }],
    ['endAt', { trigger: { kind: 'manual' }, endAt: 5 }],
    ['runLimit', { trigger: soon, runLimit: 5 }],
    ['endAt', { trigger: hourly, startAt: 5, endAt: 5 }],
    ['jitterMs', { trigger: soon, jitterMs: MINUTE }],
    ['jitterMs', { trigger: interval, jitterMs: HOUR }],
  ])('%s in %j', (field, parts) => {
    expect(checkSpec(specOf(parts)).map(problem => problem.field)).toEqual([field])
  })
})

describe('many specs at once', () => {
  const plain = complete()
  const like = (parts: Record<string, unknown>) => ({ spec: { ...plain, ...parts } as JobSpec })

  test.each<[string, Record<string, unknown>]>([
    ['name', { name: '' }],
    ['tenant', { tenant: 'a\nb' }],
    ['payload', { payload: undefined }],
    ['trigger.at', { trigger: { kind: 'once', at: Number.NaN } }],
    ['trigger', { trigger: null }],
    ['trigger', { trigger: { kind: 'soon' } }],
    ['trigger.everyMs', { trigger: { ...interval, everyMs: 0 } }],
    ['priority', { priority: Number.NaN }],
    ['retry', { retry: null }],
    ['tags', { tags: [''] }],
    ['metadata', { metadata: undefined }],
    ['startAt', { startAt: 5 }],
    ['jitterMs', { trigger: { ...interval, everyMs: 1_000 }, jitterMs: 2_000 }],
  ])('a wrong %s is found behind specs that are right', (field, parts) => {
    const wrong = like(parts)
    expect(checkSpec(wrong.spec).map(problem => problem.field)).toEqual([field])
    const jobs = [like({}), like({ payload: 1, lane: 'b' }), wrong]
    expect(() => assertSpecs(jobs)).toThrow(SchedulerError)
    expect(() => assertSpecs([...jobs.slice(0, 2), like({ name: 'c' })])).not.toThrow()
  })

  test('an interval is held against the rest of its spec every time', () => {
    const jobs = [
      like({ trigger: interval, jitterMs: MINUTE }),
      like({ trigger: { ...interval, everyMs: MINUTE }, jitterMs: MINUTE }),
    ]
    expect(() => assertSpecs(jobs)).toThrow('shorter than the interval')
  })

  test('every cron expression is read', () => {
    const { trigger } = cron('0 0 * * *')
    const jobs = [like({ trigger }), like({ trigger: { ...trigger, expression: '0 99 * * *' } })]
    expect(() => assertSpecs(jobs)).toThrow(SchedulerError)
  })
})
