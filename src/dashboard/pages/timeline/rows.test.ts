// Bars that stand for many runs: the share that failed is seen, and is never all of it.

import { expect, test } from 'vitest'
import { marksOf, sharesOf, type TimelineBar } from './rows.ts'

const sums = (completed: number, failed: number, retried = 0) => ({
  completed,
  failed,
  retried,
  cancelled: 0,
  running: 0,
})

test('N2: one failure in 216 runs is 3 px of a bar, the rest is green', () => {
  expect(sharesOf(sums(215, 1), 14)).toEqual([
    { family: 'failed', y: 0, height: 3 },
    { family: 'ok', y: 3, height: 11 },
  ])
  expect(sharesOf(sums(1, 1), 14).map(({ height }) => height)).toEqual([7, 7])
  expect(sharesOf(sums(0, 4), 14)).toEqual([{ family: 'failed', y: 0, height: 14 }])
})

test('N2: attempts that were tried again are a share of their own', () => {
  const families = sharesOf(sums(90, 5, 5), 14).map(({ family, height }) => [family, height])
  expect(families).toEqual([
    ['failed', 3],
    ['retry', 3],
    ['ok', 8],
  ])
})

const run = (at: number, status: 'completed' | 'failed', isRetried = false): TimelineBar => ({
  job_name: 'a',
  run_id: `a.${at}`,
  execution_id: String(at),
  attempt: 1,
  status,
  is_retried: isRetried,
  scheduled_for: new Date(at).toISOString(),
  claimed_at: new Date(at).toISOString(),
  started_at: new Date(at).toISOString(),
  finished_at: new Date(at + 1).toISOString(),
  owner: 'n',
})

test('N2: runs that touch are one bar with what each of them came to', () => {
  const runs = [run(1_000, 'completed'), run(1_001, 'failed', true), run(1_002, 'failed')]
  const scale = { window: { from: 0, to: 100_000 }, width: 100, now: 50_000, partMs: 1_000 }
  const [mark, ...more] = marksOf({ runs, parts: [] }, scale)
  expect(more).toEqual([])
  expect(mark!.sums).toEqual(sums(1, 1, 1))
})
