// What must hold of every job and its history after every write. Each function answers with the
// sentences that are broken; an empty list is good.

import type { Attempt } from '../../src/core/attempt.ts'
import { dueMoment, isEnded, type Job } from '../../src/core/job.ts'
import { openEntry, runEntry, type Skip } from '../../src/core/history/ledger.ts'
import { limits } from '../../src/core/limits.ts'
import { mayBecome, statusOf } from '../../src/core/control/status.ts'

type Rule = readonly [isKept: boolean, sentence: string]

function broken(rules: readonly Rule[]): string[] {
  return rules.filter(([isKept]) => !isKept).map(([, sentence]) => sentence)
}

export function checkJob(job: Job): string[] {
  const isRunning = job.state === 'running'
  const ended = isEnded(job)
  return broken([
    [(job.lease !== null) === isRunning, 'a lease is held exactly while running'],
    [job.serving === null || isRunning, 'a request is served only while running'],
    [job.pause !== null || job.state !== 'paused', 'a paused job has its pause'],
    [
      job.pause === null || job.state === 'paused' || job.ended?.reason === 'archived',
      'a pause is kept only while paused or archived',
    ],
    [job.pauseAsked === null || isRunning, 'a pause is asked for only while running'],
    [(job.ended !== null) === ended, 'an end is kept exactly when ended'],
    [job.expireAt === null || ended, 'only an ended job expires'],
    [!ended || job.retryAt === null, 'an ended job waits for no retry'],
    ...dueRules(job),
    ...numberRules(job),
    ...boundRules(job),
  ])
}

function dueRules(job: Job): Rule[] {
  if (job.state !== 'waiting') return [[job.dueAt === null, 'only a waiting job is due']]
  return [
    [job.dueAt === dueMoment(job), 'a waiting job is due at its earliest moment'],
    [
      job.dueAt !== null || job.spec.trigger.kind === 'manual',
      'only a manual job waits for no moment',
    ],
  ]
}

function numberRules(job: Job): Rule[] {
  const { counters, totals } = job
  const live = job.state === 'running' ? 1 : 0
  const settled = totals.succeeded + totals.failed + totals.cancelled + totals.other
  const runs = [job.current.run, ...job.requests.map(request => request.run)].filter(n => n > 0)
  return [
    [settled === counters.attempts - live, 'totals sum to the settled attempts'],
    [counters.attempts <= counters.fence, 'no attempt is numbered without a claim'],
    [runs.every(run => run <= counters.runs), 'every run in a row was given out by its counter'],
    [new Set(runs).size === runs.length, 'no two runs of a row share a number'],
    [counters.concluded <= counters.runs, 'no more runs are concluded than were begun'],
  ]
}

function boundRules(job: Job): Rule[] {
  const { missed, overlap } = job.spec
  const kept = overlap.policy === 'queue' ? overlap.limit : 1
  const replayed = missed.policy === 'all' ? missed.max : 1
  const ids = job.requests.map(request => request.id)
  return [
    [job.backlog >= 0 && job.missed >= 0, 'backlog and missed are never negative'],
    [job.backlog <= Math.max(kept, replayed), 'the backlog is within its policy'],
    [ids.length <= limits.requestsMax, 'requests are bounded'],
    [new Set(ids).size === ids.length, 'requests have ids of their own'],
    [job.serving === null || ids.includes(job.serving), 'the request in service is there'],
  ]
}

export type StepKind =
  | 'claim'
  | 'renew'
  | 'begin'
  | 'settle'
  | 'edit'
  | 'archive'
  | 'revive'
  | 'control'

/** What one write may do to a job, by what kind of write it was. */
export function checkStep(before: Job, after: Job, kind: StepKind): string[] {
  const [a, b] = [before.counters, after.counters]
  const nextAt = after.nextAt ?? Infinity
  const mayMove = kind === 'begin' || kind === 'settle'
  return broken([
    [after.version === before.version + 1, 'the version steps by one'],
    [after.revision >= before.revision, 'the revision never shrinks'],
    [b.fence === a.fence + (kind === 'claim' ? 1 : 0), 'the fence steps with a claim only'],
    [b.runs >= a.runs, 'run numbers are never given back'],
    [b.concluded >= a.concluded || kind === 'revive', 'concluded runs are never taken back'],
    [b.attempts >= a.attempts - 1, 'at most one attempt number is given back'],
    [!mayMove || nextAt >= (before.nextAt ?? -Infinity), 'the cursor only moves forward'],
    statusRule(before, after, kind),
  ])
}

function statusRule(before: Job, after: Job, kind: StepKind): Rule {
  const [from, to] = [statusOf(before), statusOf(after)]
  const isFine =
    mayBecome(from, to) ||
    (kind === 'settle' && from === 'running' && to === 'pending') ||
    // Running → scheduled → paused in one step: the pause was asked for during the run.
    (before.pauseAsked !== null && from === 'running' && to === 'paused') ||
    (kind === 'archive' && to === 'cancelled') ||
    (kind === 'revive' && before.ended?.reason === 'archived')
  return [isFine, `the table has no step from ${from} to ${to} (${kind})`]
}

export interface History {
  /** Every attempt ever settled, pruned ones included, in the order they were written. */
  readonly attempts: Attempt[]
  readonly skips: Skip[]
}

export function checkHistory(job: Job, history: History, isBegun: boolean): string[] {
  const { attempts } = history
  const live = job.state === 'running' ? 1 : 0
  return [
    ...broken([
      [attempts.length === job.counters.attempts - live, 'attempts are counted without gaps'],
      [attempts.every((held, i) => held.number === i + 1), 'attempts are numbered without gaps'],
      [attempts.every((held, i) => isAfter(held, attempts[i - 1])), 'attempts never overlap'],
      [attempts.every(isOnTime), 'no attempt is claimed before its occurrence'],
      [attempts.every(held => held.run <= job.counters.runs), 'no run is beyond the counter'],
    ]),
    ...checkRuns(attempts),
    ...checkLedger(job, history, isBegun),
  ]
}

function isAfter(held: Attempt, last: Attempt | undefined): boolean {
  return !last || (held.fence > last.fence && held.claimedAt >= last.finishedAt)
}

function isOnTime(held: Attempt): boolean {
  return held.origin !== 'schedule' || held.claimedAt >= held.occurrence
}

function checkRuns(attempts: readonly Attempt[]): string[] {
  const tries = new Map<number, Attempt[]>()
  for (const held of attempts) tries.set(held.run, [...(tries.get(held.run) ?? []), held])
  const runs = [...tries.values()]
  const wins = (run: Attempt[]) => run.filter(held => held.outcome === 'succeeded').length
  return broken([
    [
      runs.every(run => run.every((held, i) => held.attempt === i + 1)),
      'tries of a run are numbered without gaps',
    ],
    [
      runs.every(run => run.every(held => held.occurrence === run[0]!.occurrence)),
      'a run has one occurrence',
    ],
    [runs.every(run => wins(run) <= 1), 'a run succeeds at most once'],
  ])
}

interface Decision {
  readonly from: number
  readonly to: number
  readonly run: number | null
}

/** The decisions as core made them, before any store folds equal moments together. */
function checkLedger(job: Job, { attempts, skips }: History, isBegun: boolean): string[] {
  const open = job.state !== 'running' || isBegun ? openEntry(job) : null
  const runs = new Map<string, Decision>()
  for (const entry of [...attempts.map(runEntry), open]) {
    if (entry?.decision !== 'run') continue
    runs.set(`${entry.from}#${entry.run}`, { from: entry.from, to: entry.to, run: entry.run })
  }
  const all: Decision[] = [...runs.values(), ...skips.map(skip => ({ ...skip, run: null }))]
  all.sort((a, b) => a.from - b.from)
  const found = new Set<string>()
  for (const [i, next] of all.entries()) {
    const last = all[i - 1]
    if (next.to < next.from) found.add('a range ends before it begins')
    if (last && last.to >= next.from) found.add(overlapText(last, next))
  }
  for (const skip of skips) {
    if (skip.count < 1) found.add('a skip counts nothing')
    if ((skip.count === 1) !== (skip.from === skip.to)) found.add('a skip counts its range wrongly')
  }
  return [...found]
}

function overlapText(last: Decision, next: Decision): string {
  const word = (decision: Decision) => (decision.run === null ? 'skip' : 'run')
  return `ledger ranges overlap (${word(last)}, ${word(next)})`
}
