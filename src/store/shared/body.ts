// The part of a job that only its readers need, as one JSON list: a fixed run of numbers, which is
// cheaper to write and read than columns, and behind it what most jobs have nothing of.

import type { ErrorInfo } from '../../core/errors.ts'
import type {
  Hold,
  Job,
  LastAttempt,
  Pause,
  RunRequest,
  RunState,
  Series,
  Totals,
} from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { endReasons, outcomes, waits } from './codes.ts'

/** Absent means the default. */
export interface Detail {
  readonly floor?: Instant
  readonly current?: RunState
  readonly serving?: string
  readonly requests?: readonly RunRequest[]
  readonly crashes?: number
  readonly clockEpoch?: number
  readonly hold?: Hold
  readonly pause?: Pause
  readonly pauseAsked?: Pause
  readonly lastError?: ErrorInfo
  readonly endedNote?: string
  readonly series?: Series
}

export type Body = [
  waitingFor: number,
  nextAt: number | null,
  retryAt: number | null,
  backlog: number,
  missed: number,
  runs: number,
  concluded: number,
  succeeded: number,
  failed: number,
  cancelled: number,
  other: number,
  skipped: number,
  durationMs: number,
  lastStarted: number | null,
  lastFinished: number | null,
  lastOutcome: number | null,
  lastSucceeded: number | null,
  endedAt: number | null,
  endedReason: number | null,
  updatedAt: number,
  revision: number,
  detail?: Detail,
]

/** The last one without details: what is written together mostly says the same. */
let last: { readonly job: Job; readonly text: string } | null = null

export function bodyOf(job: Job): string {
  if (!isPlain(job)) return `[${numbersOf(job)},${JSON.stringify(detailOf(job))}]`
  if (last !== null && isAlike(last.job, job)) return last.text
  const text = `[${numbersOf(job)}]`
  last = { job, text }
  return text
}

function isAlike(a: Job, b: Job): boolean {
  return (
    a.updatedAt === b.updatedAt &&
    a.nextAt === b.nextAt &&
    a.retryAt === b.retryAt &&
    a.waitingFor === b.waitingFor &&
    a.backlog === b.backlog &&
    a.missed === b.missed &&
    a.revision === b.revision &&
    a.counters.runs === b.counters.runs &&
    a.counters.concluded === b.counters.concluded &&
    hasSameTotals(a.totals, b.totals) &&
    hasSameLast(a.last, b.last) &&
    a.ended?.at === b.ended?.at &&
    a.ended?.reason === b.ended?.reason
  )
}

function hasSameTotals(a: Totals, b: Totals): boolean {
  if (a === b) return true
  return (
    a.durationMs === b.durationMs &&
    a.succeeded === b.succeeded &&
    a.failed === b.failed &&
    a.cancelled === b.cancelled &&
    a.other === b.other &&
    a.skipped === b.skipped
  )
}

function hasSameLast(a: LastAttempt | null, b: LastAttempt | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.startedAt === b.startedAt &&
    a.finishedAt === b.finishedAt &&
    a.outcome === b.outcome &&
    a.succeededAt === b.succeededAt
  )
}

function numbersOf(job: Job): string {
  const { counters, totals, last: latest, ended } = job
  // Joined, numbers and nulls read as they do in JSON; adding up texts would leave one behind at
  // every step, most of what a run leaves to be collected.
  // prettier-ignore
  return [
    waits.indexOf(job.waitingFor), orNull(job.nextAt), orNull(job.retryAt), job.backlog, job.missed,
    counters.runs, counters.concluded,
    totals.succeeded, totals.failed, totals.cancelled, totals.other, totals.skipped, totals.durationMs,
    latest === null ? 'null' : latest.startedAt,
    latest === null ? 'null' : latest.finishedAt,
    latest === null ? 'null' : outcomes.indexOf(latest.outcome),
    latest === null ? 'null' : orNull(latest.succeededAt),
    ended === null ? 'null' : ended.at,
    ended === null ? 'null' : endReasons.indexOf(ended.reason),
    job.updatedAt, job.revision,
  ].join(',')
}

/** What is null would be left out of a list that is joined. */
export function orNull(value: number | null): number | 'null' {
  return value === null ? 'null' : value
}

/** Nothing that needs a detail. */
function isPlain(job: Job): boolean {
  return (
    isPlainRun(job.current) &&
    job.floor === null &&
    job.serving === null &&
    job.requests.length === 0 &&
    job.crashes === 0 &&
    job.clockEpoch === 0 &&
    job.hold === null &&
    job.pause === null &&
    job.pauseAsked === null &&
    job.lastError === null &&
    job.series === null &&
    job.ended?.note === undefined
  )
}

function isPlainRun(current: RunState): boolean {
  return (
    current.run === 0 &&
    current.attempt === 0 &&
    current.failures === 0 &&
    current.failingSince === null &&
    current.retryOf === null
  )
}

function detailOf(job: Job): Detail {
  const { floor, current, serving, requests, crashes, hold, pause, pauseAsked } = job
  const { lastError, series, clockEpoch } = job
  const endedNote = job.ended === null ? undefined : job.ended.note
  return {
    ...(floor === null ? {} : { floor }),
    ...(isPlainRun(current) ? {} : { current }),
    ...(serving === null ? {} : { serving }),
    ...(requests.length === 0 ? {} : { requests }),
    ...(crashes === 0 ? {} : { crashes }),
    ...(clockEpoch === 0 ? {} : { clockEpoch }),
    ...(hold === null ? {} : { hold }),
    ...(pause === null ? {} : { pause }),
    ...(pauseAsked === null ? {} : { pauseAsked }),
    ...(lastError === null ? {} : { lastError }),
    ...(endedNote === undefined ? {} : { endedNote }),
    ...(series === null ? {} : { series }),
  }
}
