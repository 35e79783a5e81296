import { describe, expect, test } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { completeSpec } from '../../../src/core/spec.ts'
import { band, checkRetries, crashWait } from './retries.ts'
import { brokenBy, goodHistory } from './sample.ts'
import { at, type Draft } from './story.ts'

const broken = (bend: (draft: Draft) => void) => brokenBy(checkRetries, bend)

/** All outcomes of the history, in turn. */
const outcomes = (draft: Draft) => draft.writes.flatMap(({ attempts }) => attempts)

test('a history as it should be is clean', () => {
  expect(checkRetries(goodHistory())).toEqual([])
})

test('R1: more failures than the limit allows', () => {
  const found = broken(draft => {
    for (const attempt of outcomes(draft)) Object.assign(attempt, { run: 1, outcome: 'timedOut' })
  })
  expect(found).toContain('R1')
})

test('R1: an interruption that spends a retry', () => {
  const found = broken(draft => {
    outcomes(draft)[1]!.outcome = 'interrupted'
  })
  expect(found).toEqual(['R1'])
})

test('R2: tried again too early, or too late', () => {
  for (const retryAt of [at(20.9), at(22)]) {
    const found = broken(draft => {
      draft.writes[4]!.after!.retryAt = retryAt
    })
    expect(found).toEqual(['R2'])
  }
})

describe('R4: crashes in a row', () => {
  const crash = (draft: Draft, patch: Partial<Job> = {}) => {
    const write = draft.writes.find(({ attempts }) => attempts.length > 0)!
    write.attempts[0]!.outcome = 'abandoned'
    const { finishedAt } = write.attempts[0]!
    Object.assign(write.after!, { crashes: 1, dueAt: finishedAt, retryAt: finishedAt, ...patch })
    return finishedAt
  }
  const isR4 = (inv: string) => inv === 'R4'

  test('a crash that is counted and tried again at once', () => {
    expect(broken(draft => void crash(draft)).filter(isR4)).toEqual([])
  })

  test('a crash that is not counted', () => {
    expect(broken(draft => void crash(draft, { crashes: 0 }))).toContain('R4')
  })

  test('a crash that is waited for too long', () => {
    const found = broken(draft => {
      const finishedAt = crash(draft)
      crash(draft, { dueAt: finishedAt + 1_000 })
    })
    expect(found).toContain('R4')
  })

  test('a crash that ends a recurring job', () => {
    const found = broken(draft => {
      crash(draft, { state: 'failed', ended: { at: at(10.5), reason: 'crash_loop' } })
    })
    expect(found).toContain('R4')
  })

  test('the waits double, from the second crash on and again from the fifth', () => {
    expect([1, 2, 3, 4, 5, 6, 11, 99].map(crashWait)).toEqual(
      [0, 5, 10, 20, 60, 120, 3_600, 3_600].map(seconds => seconds * 1_000),
    )
  })
})

test('R2: the band of each backoff', () => {
  const trigger = { kind: 'interval', everyMs: 1_000, from: 'start', anchor: null } as const
  const of = (backoff: Parameters<typeof completeSpec>[0]['retry']) =>
    completeSpec({ handler: 'w', trigger, retry: backoff! })
  const base = { limit: 9, resetAfterMs: null, exhausted: 'next', yields: false } as const
  const exponential = { kind: 'exponential', baseMs: 100, maxMs: 350, jitter: 0.5 } as const
  expect(band(of({ ...base, backoff: { kind: 'fixed', delayMs: 70 } }), 3)).toEqual([70, 70])
  expect(band(of({ ...base, backoff: exponential }), 2)).toEqual([100, 200])
  expect(band(of({ ...base, backoff: exponential }), 9)).toEqual([175, 350])
  const relative = { kind: 'relative', maxFactor: 3 } as const
  expect(band(of({ ...base, backoff: relative }), 5)).toEqual([3_000, 3_000])
})
