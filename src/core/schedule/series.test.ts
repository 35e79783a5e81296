// Outcomes of tasks added to their series.

import { describe, expect, it } from 'vitest'
import { job } from '../../../tests/support/builders.ts'
import type { OutcomeKind } from '../attempt.ts'
import { noTotals, type Job, withOutcome } from '../job.ts'
import type { Json } from '../json.ts'
import type { StoredRecord } from '../record.ts'
import { foldOutcomes, lastStartOf, readOutcome, TASK_OUTCOME_KIND, totalsOf } from './series.ts'

const error = { name: 'Error', message: 'broken', stack: null }

function outcome(kind: OutcomeKind, finishedAt: number, more: Record<string, Json> = {}) {
  const value: Json = { series: 's', outcome: kind, startedAt: finishedAt - 5, finishedAt, ...more }
  const key = `a-${finishedAt}`
  return { kind: TASK_OUTCOME_KIND, key, value, version: 1, expireAt: null } satisfies StoredRecord
}

const failed = (finishedAt: number) => outcome('failed', finishedAt, { error })

describe('the outcomes of tasks in their series', () => {
  it('are added up, and the newest finish is the last, whatever order they come in', () => {
    const records = [failed(300), outcome('succeeded', 200), outcome('timedOut', 100, { error })]
    const { job: after } = foldOutcomes(job('s'), records, 1_000)
    expect(after.series).toEqual({
      firedAt: 295,
      totals: { ...noTotals, succeeded: 1, failed: 2, durationMs: 15 },
    })
    expect(after.last).toEqual({
      startedAt: 295,
      finishedAt: 300,
      outcome: 'failed',
      succeededAt: 200,
    })
    expect(after.lastError).toEqual(error)
    expect(after.totals).toEqual(noTotals)
  })

  it('clear the last error with a success, unless that is older than the last outcome', () => {
    const red = foldOutcomes(job('s'), [failed(300)], 1_000).job
    expect(foldOutcomes(red, [outcome('succeeded', 400)], 1_000).job.lastError).toBeNull()
    const late = foldOutcomes(red, [outcome('succeeded', 200)], 1_000).job
    expect(late.lastError).toEqual(error)
    expect(late.last).toMatchObject({ outcome: 'failed', succeededAt: 200 })
    expect(late.series?.totals).toMatchObject({ succeeded: 1, failed: 1 })
  })

  it('are the last ones although the clock was set back behind the one before', () => {
    const red = foldOutcomes(job('s'), [failed(90_000)], 90_000).job
    const after = foldOutcomes(red, [outcome('succeeded', 500)], 600).job
    expect(after.last).toMatchObject({ outcome: 'succeeded', finishedAt: 500, succeededAt: 500 })
    expect(after.lastError).toBeNull()
  })

  it('go with their records, under the lease the series has, without a new revision', () => {
    const lease = { token: 't', owner: 'n', attemptId: 'a', claimedAt: 1, until: 2 }
    const series: Job = { ...job('s'), lease, state: 'running' }
    const change = foldOutcomes(series, [failed(300)], 1_000)
    expect(change).toMatchObject({ token: 't', expectedVersion: series.version, attempt: null })
    expect(change.job.revision).toBe(series.revision)
    expect(change.records).toEqual([
      {
        kind: TASK_OUTCOME_KIND,
        key: 'a-300',
        value: null,
        expectedVersion: 1,
        expireAt: null,
        remove: true,
      },
    ])
  })

  it.each<[OutcomeKind, object]>([
    ['succeeded', { succeeded: 1 }],
    ['failed', { failed: 1 }],
    ['timedOut', { failed: 1 }],
    ['abandoned', { failed: 1 }],
    ['cancelled', { cancelled: 1 }],
    ['interrupted', { cancelled: 1 }],
    ['skipped', { other: 1 }],
    ['deferred', { other: 1 }],
  ])('%s counts as an ordinary attempt does', (kind, sums) => {
    expect(withOutcome(noTotals, kind, 7)).toEqual({ ...noTotals, durationMs: 7, ...sums })
  })

  it.each<[Json]>([[null], [[]], ['x'], [{}], [{ series: 's', outcome: 'failed' }]])(
    'are not read from %j',
    value => {
      expect(readOutcome(value)).toBeNull()
    },
  )

  it('are told together with the attempts of the job itself', () => {
    const own = { ...noTotals, succeeded: 2, skipped: 3, durationMs: 10 }
    const series = { firedAt: 50, totals: { ...noTotals, failed: 4, durationMs: 1 } }
    expect(totalsOf({ totals: own, series: null })).toBe(own)
    expect(totalsOf({ totals: own, series })).toEqual({
      ...noTotals,
      succeeded: 2,
      failed: 4,
      skipped: 3,
      durationMs: 11,
    })
    const last = { startedAt: 60, finishedAt: 70, outcome: 'failed', succeededAt: null } as const
    expect(lastStartOf({ last: null, series: null })).toBeNull()
    expect(lastStartOf({ last: null, series })).toBe(50)
    expect(lastStartOf({ last, series: null })).toBe(60)
    expect(lastStartOf({ last, series })).toBe(60)
  })
})
