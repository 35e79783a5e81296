// The checkers themselves: a good history passes, and each way of being wrong is found by name.

import { describe, expect, test } from 'vitest'
import { check } from './check.ts'
import { attempt, goodHistory, linesOf, type Sample } from './sample.ts'
import type { Line } from './witness.ts'

function found(breakIt: (sample: Sample) => void) {
  const sample = goodHistory()
  breakIt(sample)
  const { lost, duplicates, violations } = check(sample)
  return { lost: lost.join(), duplicates: duplicates.join(), violations: violations.join() }
}

const clean = { lost: '', duplicates: '', violations: '' }

function replace<T extends object>(list: T[], index: number, patch: Partial<T>): void {
  list[index] = { ...list[index]!, ...patch }
}

const isOf = (kind: Line['kind'], id: string) => (line: Line) =>
  line.kind === kind && 'id' in line && line.id === id

test('a good history has nothing to complain about', () => {
  const { lost, duplicates, violations, occurrences, repeats } = check(goodHistory())
  expect({ lost, duplicates, violations }).toEqual({ lost: [], duplicates: [], violations: [] })
  expect({ occurrences, repeats }).toEqual({ occurrences: 3, repeats: 0 })
})

describe('losses', () => {
  test('an acknowledged job that is gone', () => {
    const { lost } = found(({ jobs }) => jobs.pop())
    expect(lost).toMatch(/job once was acknowledged and is gone/)
  })

  test('a job that was asked for and never acknowledged may be gone or not', () => {
    const asked: Line = { kind: 'asked', at: 700, node: 'n1', job: 'maybe', dueAt: 800 }
    expect(found(({ lines }) => lines.push(asked))).toEqual(clean)
  })

  test('an accepted outcome that reads otherwise, or not at all', () => {
    const other = found(({ attempts }) => replace(attempts, 0, { outcome: 'abandoned' }))
    expect(other.lost).toMatch(/succeeded of every .* reads abandoned/)
    expect(found(({ attempts }) => attempts.pop()).lost).toMatch(/reads gone/)
  })

  test('a moment without a decision, in the middle, at the beginning and at the end', () => {
    const middle = found(({ ledgers, jobs }) => {
      replace(ledgers.get('every')!, 1, { from: 3_000, to: 3_000 })
      replace(jobs, 0, { nextAt: 4_000 })
    })
    expect(middle.lost).toMatch(/nothing decided between 1000 and 3000/)
    const beginning = found(({ ledgers }) => ledgers.get('every')!.shift())
    expect(beginning.lost).toMatch(/between its creation and 2000/)
    const end = found(({ jobs }) => replace(jobs, 0, { nextAt: 4_000 }))
    expect(end.lost).toMatch(/between 2000 and its cursor 4000/)
  })

  test('a schedule that stood still after the last fault', () => {
    const { lost } = found(sample => {
      sample.quietAt = 3_500
    })
    expect(lost).toMatch(/decided only up to 2000, due until 3500/)
  })
})

describe('duplicates', () => {
  test('a moment decided twice', () => {
    const { duplicates } = found(({ ledgers }) => {
      const entries = ledgers.get('every')!
      entries.push(entries[1]!)
    })
    expect(duplicates).toMatch(/2000 is decided twice/)
  })

  test('an attempt accepted from two nodes', () => {
    const { duplicates } = found(({ lines }) => {
      const line = lines.find(isOf('accepted', 'every-a2'))!
      lines.push({ ...line, node: 'n2' })
    })
    expect(duplicates).toMatch(
      /every-a2 was accepted as succeeded from n1 and as succeeded from n2/,
    )
  })

  test('a run, and an occurrence, that succeeded twice', () => {
    const again = { ...attempt('every', 3, 2_000), run: 2, attempt: 2 }
    expect(found(({ attempts }) => attempts.push(again)).duplicates).toMatch(
      /run every.2 succeeded twice.*every at 2000 succeeded twice/,
    )
    expect(found(({ attempts }) => attempts.push(attempts[0]!)).duplicates).toMatch(/stored twice/)
  })
})

describe('violations', () => {
  test('a start before its moment', () => {
    const { violations } = found(({ lines }) => {
      replace(lines, lines.findIndex(isOf('start', 'once-a1')), { at: 1_499 })
    })
    expect(violations).toMatch(/started once 1 ms before its moment/)
  })

  test('a run that left no attempt', () => {
    const ghost = linesOf({ ...attempt('every', 9, 2_000), id: 'ghost' })[0]!
    expect(found(({ lines }) => lines.push(ghost)).violations).toMatch(/ghost, which is not stored/)
  })

  test('a gap in the numbers, and a fence that does not grow', () => {
    const gap = found(({ attempts }) => replace(attempts, 1, { number: 5 }))
    expect(gap.violations).toMatch(/number 5 after a gap/)
    const fence = found(({ attempts }) => replace(attempts, 1, { fence: 1 }))
    expect(fence.violations).toMatch(/fence 1 after 1/)
  })

  test('a late result that somebody was told counts', () => {
    const { violations } = found(({ attempts }) => replace(attempts, 0, { outcome: 'abandoned' }))
    expect(violations).toMatch(/stale result of every accepted \(attempt every-a1\)/)
  })

  test('a late result that was refused is counted, and nothing else', () => {
    const sample = goodHistory()
    const late = { ...attempt('every', 1, 1_000), outcome: 'abandoned' as const }
    const again = { ...attempt('every', 2, 1_000), run: 1, attempt: 2 }
    const next = { ...attempt('every', 3, 2_000), run: 2 }
    const once = sample.attempts[2]!
    sample.attempts = [late, again, next, once]
    const reaped = linesOf(late)
    replace(reaped, 2, { node: 'n2' })
    sample.lines = [...sample.lines.slice(0, 2), ...reaped, ...[again, next, once].flatMap(linesOf)]
    const { counters } = sample.jobs[0]!
    replace(sample.jobs, 0, { counters: { ...counters, attempts: 3, fence: 3 } })
    expect(check(sample)).toMatchObject({
      lost: [],
      duplicates: [],
      violations: [],
      staleRefused: 1,
      repeats: 1,
    })
  })

  test('code that trips over a fault, but not a store that is away', () => {
    const line = { kind: 'error', at: 1, node: 'n1', during: 'tick' } as const
    const trips: Line = { ...line, message: 'TypeError: x is undefined' }
    expect(found(({ lines }) => lines.push(trips)).violations).toMatch(/during tick: TypeError/)
    expect(found(({ lines }) => lines.push({ ...line, message: 'Error: ECONNRESET' }))).toEqual(
      clean,
    )
  })

  test('a job that nobody asked for', () => {
    const { violations } = found(({ jobs }) => jobs.push({ ...jobs[1]!, id: 'phantom' }))
    expect(violations).toMatch(/nobody asked for phantom/)
  })

  test('a lease that is still held, and counters that say something else', () => {
    const lease = { token: 't', owner: 'n1', attemptId: 'x', claimedAt: 1, until: 2 }
    const held = found(({ jobs }) => replace(jobs, 0, { lease }))
    expect(held.violations).toMatch(/every is still held/)
    const tally = found(({ jobs }) => {
      replace(jobs, 0, { totals: { ...jobs[0]!.totals, succeeded: 3, skipped: 1 } })
    })
    expect(tally.violations).toMatch(/3 successes, has 2.*1 skips, has 0/)
    const count = found(sample => {
      sample.counts = sample.counts.slice(1)
    })
    expect(count.violations).toMatch(/counts 0 waiting in ticks\/tick, and has 1/)
  })
})

describe('health', () => {
  test('a healthy job that ended or was archived', () => {
    const failed = found(({ jobs }) => {
      replace(jobs, 0, { state: 'failed', ended: { at: 1, reason: 'crash_loop' } })
    })
    expect(failed.violations).toMatch(/every is healthy and failed \(crash_loop\)/)
    const archived = found(({ jobs }) => {
      replace(jobs, 0, { state: 'completed', ended: { at: 1, reason: 'archived' } })
    })
    expect(archived.violations).toMatch(/every is healthy and completed \(archived\)/)
  })

  test('a healthy job that was set aside, unless its processes were killed as often', () => {
    const setAside = (crashes: number, dead: string[]) =>
      found(sample => {
        const lost = Array.from({ length: crashes }, (_, i) => ({
          ...attempt('every', i + 3, 3_000),
          outcome: 'abandoned' as const,
          owner: 'n1~01234567',
        }))
        sample.attempts.push(...lost)
        const { counters } = sample.jobs[0]!
        const numbers = { attempts: crashes + 2, fence: crashes + 2 }
        replace(sample.jobs, 0, { crashes: 5, counters: { ...counters, ...numbers } })
        sample.dead = dead
      }).violations
    expect(setAside(5, [])).toBe('every is healthy and was set aside')
    expect(setAside(5, ['n1'])).toBe('')
    expect(setAside(4, ['n1'])).toBe('every is healthy and was set aside')
    const before = found(({ ledgers }) => {
      const entry = { from: 3_000, to: 3_000, count: 1, reason: 'crash_loop' } as const
      ledgers.get('every')!.push({ decision: 'skip', jobId: 'every', ...entry })
    })
    expect(before.violations).toMatch(/every is healthy and was set aside/)
  })

  test('an occurrence decided twice in one clock epoch, but not in two', () => {
    const again = (clockEpoch: number) =>
      found(sample => {
        const entry = sample.ledgers.get('every')![1]!
        sample.ledgers.get('every')!.push({ ...entry, clockEpoch: 1 })
        if (clockEpoch === 1) sample.ledgers.get('every')!.push({ ...entry, clockEpoch })
        replace(sample.jobs, 0, { clockEpoch: 1 })
      })
    expect(again(0)).toEqual(clean)
    expect(again(1).duplicates).toMatch(/2000 is decided twice/)
  })

  test('a schedule that waits for a time the clock was set back from', () => {
    const { violations } = found(({ jobs }) => replace(jobs, 0, { nextAt: 600_000 }))
    expect(violations).toMatch(/every is silent until 600000/)
    const step = found(sample => {
      sample.steps = [2_400]
      sample.lines.push({ kind: 'created', at: 90_000, node: 'n1', job: 'once' })
    })
    expect(step.violations).toMatch(/every did not start for a minute after the clock step/)
  })

  test('a poison job that is tried again before its cool-down', () => {
    const crashes = Array.from({ length: 6 }, (_, i) => ({
      ...attempt('poison', i + 1, i * 1_000),
      outcome: 'abandoned' as const,
    }))
    const { violations } = found(({ attempts, lines }) => {
      attempts.push(...crashes)
      lines.push(...crashes.map(one => linesOf(one)[0]!))
    })
    expect(violations).toBe('poison ran again 1000 ms after its crash 5')
  })
})
