// What is worth an alert, as pure functions of what was seen: each says whether it holds, how far
// it is from its limit, and what to tell people.

import type { Attempt } from '../../core/attempt.ts'
import { shown } from '../../core/errors.ts'
import { DAY, formatDuration, MINUTE, SECOND, type Millis } from '../../core/time.ts'

export const conditions = {
  error_rate: 'errors among rounds of the loop, runs and errors of a node, over 5 minutes',
  claims_failing: 'rounds of a node that could not claim, over 1 minute',
  store_down: 'how long a node has not reached the store',
  processing_delay: 'how long the oldest due job waits',
  success_rate: 'successful runs among the last 20 of a job',
  slow_runs: 'the last 5 runs of a job against its mean of 30 days',
  stale_locks: 'checks in a row that found more leases of dead holders cleared',
} as const

export type Condition = keyof typeof conditions

/** Of single jobs, found by every node (core/alerts/episode); here they are only sent or not. */
export const jobConditions = ['first_failure', 'run_failed', 'job_ended', 'run_missing'] as const

/** Null switches a condition off. Shares are from 0 to 1, lengths of time in milliseconds. */
export type AlertLimits = Readonly<Record<Condition, number | null>>

export const alertDefaults = {
  error_rate: 0.05,
  claims_failing: 0.5,
  store_down: 30 * SECOND,
  processing_delay: MINUTE,
  success_rate: 0.8,
  slow_runs: 2,
  stale_locks: 3,
} as const satisfies AlertLimits

export const ERROR_WINDOW_MS: Millis = 5 * MINUTE
export const CLAIM_WINDOW_MS: Millis = MINUTE
/** A share of fewer than this says nothing. */
const SHARE_MIN = 5
const RATED_RUNS = 20
const RECENT_RUNS = 5
/** Runs shorter than this are never called slow, whatever they took before. */
const SLOW_MIN_MS: Millis = SECOND
export const HISTORY_MS: Millis = 30 * DAY

export interface Finding {
  readonly condition: Condition
  readonly isRaised: boolean
  readonly value: number
  readonly limit: number
  readonly message: string
}

export interface NodeFacts {
  readonly errors: number
  readonly rounds: number
  readonly runs: number
  readonly claims: { readonly failed: number; readonly done: number }
  /** Null while the store answers. */
  readonly storeDownMs: Millis | null
}

export function judgeNode(facts: NodeFacts, limits: AlertLimits): Finding[] {
  const { errors, rounds, runs, claims, storeDownMs } = facts
  return [
    ...above('error_rate', limits, share(errors, errors + rounds + runs), percent),
    ...above('claims_failing', limits, share(claims.failed, claims.failed + claims.done), percent),
    ...above('store_down', limits, storeDownMs ?? 0, formatDuration),
  ]
}

/** `oldestMs` is how long the oldest due job waits, null when nothing is due. */
export function judgeDelay(oldestMs: Millis | null, limits: AlertLimits): Finding[] {
  return above('processing_delay', limits, Math.max(0, oldestMs ?? 0), formatDuration)
}

/** The newest attempts of one job, newest first, none older than 30 days. */
// oxlint-disable-next-line max-params -- what is said of whom, by which limits
export function judgeJob(
  name: string,
  attempts: readonly Pick<Attempt, 'outcome' | 'startedAt' | 'finishedAt'>[],
  limits: AlertLimits,
  isRunOver = false,
): Finding[] {
  const what = `of ${shown(name)} `
  const rated = attempts.filter(({ outcome }) => judged.has(outcome)).slice(0, RATED_RUNS)
  const good = rated.filter(({ outcome }) => outcome === 'succeeded').length
  // A few say nothing, unless a run was given up and none ever succeeded.
  const isHopeless = isRunOver && rated.length > 0 && good === 0
  const rate = rated.length < SHARE_MIN && !isHopeless ? 1 : good / rated.length
  return [...below('success_rate', limits, rate, what), ...judgeSlow(attempts, limits, what)]
}

const judged: ReadonlySet<string> = new Set(['succeeded', 'failed', 'timedOut', 'abandoned'])

function judgeSlow(
  attempts: readonly Pick<Attempt, 'outcome' | 'startedAt' | 'finishedAt'>[],
  limits: AlertLimits,
  what: string,
): Finding[] {
  const took = attempts
    .filter(({ outcome }) => outcome === 'succeeded')
    .map(({ startedAt, finishedAt }) => finishedAt - startedAt)
  const recent = mean(took.slice(0, RECENT_RUNS))
  const usual = mean(took.slice(RECENT_RUNS))
  const isKnown = took.length >= 2 * RECENT_RUNS && recent >= SLOW_MIN_MS
  const factor = isKnown ? recent / Math.max(1, usual) : 0
  return above('slow_runs', limits, factor, times, what)
}

/** `counts` are what the last checks read, oldest first. */
export function judgeStaleLocks(counts: readonly number[], limits: AlertLimits): Finding[] {
  let grown = 0
  for (let i = counts.length - 1; i > 0 && counts[i]! > counts[i - 1]!; i--) grown++
  const limit = limits.stale_locks
  if (limit === null) return []
  const message = `leases of dead holders were cleared in ${grown} checks running`
  return [{ condition: 'stale_locks', isRaised: grown >= limit, value: grown, limit, message }]
}

type Show = (value: number) => string

// oxlint-disable-next-line max-params -- a sentence: what is above which limit, said how, of whom
function above(
  condition: Condition,
  limits: AlertLimits,
  value: number,
  show: Show,
  what = '',
): Finding[] {
  const limit = limits[condition]
  if (limit === null) return []
  const message = `${titles[condition]} ${what}is ${show(value)}, above ${show(limit)}`
  return [{ condition, isRaised: value > limit, value, limit, message }]
}

function below(condition: Condition, limits: AlertLimits, value: number, what: string): Finding[] {
  const limit = limits[condition]
  if (limit === null) return []
  const message = `${titles[condition]} ${what}is ${percent(value)}, below ${percent(limit)}`
  return [{ condition, isRaised: value < limit, value, limit, message }]
}

const titles: Readonly<Record<Condition, string>> = {
  error_rate: 'the error rate',
  claims_failing: 'the share of failing claims',
  store_down: 'the time without the store',
  processing_delay: 'the delay of the oldest due job',
  success_rate: 'the success rate',
  slow_runs: 'the duration',
  stale_locks: 'the count of cleared leases',
}

const percent: Show = value => `${Math.round(value * 1_000) / 10} %`
const times: Show = value => `${Math.round(value * 10) / 10} times its mean`

function share(part: number, whole: number): number {
  return whole < SHARE_MIN ? 0 : part / whole
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
