// Properties of core without a store: a job driven through claims and outcomes decides every
// firing of its schedule exactly once, and only takes steps the table of states has.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Outcome, OutcomeKind } from '../../src/core/attempt.ts'
import { begin } from '../../src/core/run/begin.ts'
import type { Change } from '../../src/core/change.ts'
import { createJob } from '../../src/core/create.ts'
import { isEnded, type Job } from '../../src/core/job.ts'
import { settle } from '../../src/core/run/settle.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import { MINUTE, SECOND, type Instant } from '../../src/core/time.ts'
import { gridCount, gridNext, isGrid } from '../../src/core/schedule/trigger.ts'
import { T0 } from '../support/builders.ts'
import { checkHistory, checkJob, checkStep, type History } from '../support/invariants.ts'
import { Random } from '../support/random.ts'
import { randomSpec } from './specs.ts'
import { claimed } from './steps.ts'

interface Life {
  job: Job
  readonly first: Instant | null
  readonly history: History
  /** Occurrences that became tasks of their own. */
  readonly detached: Instant[]
  readonly broken: Set<string>
}

function born(spec: JobSpec): Life {
  const job = createJob({ id: 'a', spec }, T0)
  return {
    job,
    first: job.nextAt,
    history: { attempts: [], skips: [] },
    detached: [],
    broken: new Set(),
  }
}

function write(life: Life, change: Change, kind: 'begin' | 'settle'): void {
  const before = life.job
  life.job = change.job
  if (change.attempt) life.history.attempts.push(change.attempt)
  life.history.skips.push(...change.skips)
  for (const task of change.inserts) if (task.nextAt !== null) life.detached.push(task.nextAt)
  note(life, checkStep(before, life.job, kind))
  note(life, checkJob(life.job))
  note(life, checkHistory(life.job, life.history, true))
}

function note(life: Life, rules: readonly string[]): void {
  for (const rule of rules) life.broken.add(rule)
}

/** Claims the job when it is due, begins it, and settles it some time later. */
function live(life: Life, random: Random, from: Instant): Instant {
  const now = Math.max(from, life.job.dueAt!) + pastDue(random)
  life.job = claimed(life.job, now)
  const first = begin(life.job, now)
  if (first.change) write(life, first.change, 'begin')
  if (first.kind === 'nothing') return now
  const end = now + random.pick([0, SECOND, 20 * SECOND, 3 * MINUTE])
  const served = life.job
  write(life, settle(served, { outcome: outcome(random, end), startedAt: now }, end), 'settle')
  checkNextMoment(life, served)
  return end
}

function pastDue(random: Random): number {
  return random.pick([0, 0, 1, SECOND, MINUTE, 7 * MINUTE])
}

const kinds: readonly OutcomeKind[] = [
  'succeeded',
  'failed',
  'timedOut',
  'cancelled',
  'abandoned',
  'interrupted',
  'skipped',
  'deferred',
  'released',
]

function outcome(random: Random, now: Instant): Outcome {
  const kind = random.pick(kinds)
  const error = { name: 'Error', message: 'no', stack: null }
  switch (kind) {
    case 'succeeded':
      return { kind, result: null, measures: null }
    case 'failed':
      return { kind, error, final: random.chance(0.1), retryAfterMs: null }
    case 'timedOut':
      return { kind, error }
    case 'cancelled':
    case 'skipped':
      return { kind, reason: 'x' }
    case 'deferred':
      return { kind, until: now + SECOND, reason: 'x', worked: random.chance(0.5) }
    case 'abandoned':
    case 'interrupted':
    case 'released':
      return { kind }
  }
}

function checkNextMoment(life: Life, served: Job): void {
  const { job } = life
  const isOver = job.counters.concluded > served.counters.concluded
  const isAhead = job.nextAt === null || job.nextAt > (served.nextAt ?? -Infinity)
  if (isOver && !isAhead) note(life, ['the next moment is after the one served'])
}

/** Runs, skips and detached occurrences, joined end to end, are the grid itself. */
function checkCompleteness({ job, first, history, detached, broken }: Life): void {
  const { trigger, endAt } = job.spec
  if (!isGrid(trigger) || first === null) return
  const runs = history.attempts.filter(held => held.origin === 'schedule')
  const moments = new Set([...runs.map(held => held.occurrence), ...detached])
  const ranges = [...moments].map(at => ({ from: at, to: at, count: 1 }))
  const all = [...ranges, ...history.skips].sort((a, b) => a.from - b.from)
  let expected: Instant | null = first
  for (const { from, to, count } of all) {
    if (from !== expected) broken.add('every firing is decided once, in order')
    if (count !== 1 + gridCount(trigger, first, from, to)) broken.add('a range counts its firings')
    expected = gridNext(trigger, first, to)
  }
  const isOpen = job.current.run > 0 || isEnded(job) || job.nextAt === null
  const isBeyond = endAt !== null && expected !== null && expected > endAt
  if (!isOpen && !isBeyond && job.nextAt !== expected && !isServing(job, all.at(-1))) {
    broken.add('the cursor stands at the first undecided firing')
  }
}

/** A run put off without a try is decided by the cursor itself. */
function isServing(job: Job, last: { readonly from: Instant } | undefined): boolean {
  return job.retryAt !== null || last?.from === job.nextAt
}

describe('a job left to itself', () => {
  it('keeps every rule and decides every firing of its grid once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), seed => {
        const random = new Random(seed)
        const life = born(randomSpec(random, T0))
        let now = T0
        for (let i = 0; i < 25 && life.job.dueAt !== null; i++) now = live(life, random, now)
        checkCompleteness(life)
        expect([...life.broken]).toEqual([])
      }),
      { numRuns: 1_500 },
    )
  })
})
