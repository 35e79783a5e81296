// The part of a job that only its readers need, as one JSON list: a fixed run of numbers, which is
// cheaper to write and read than columns, and behind it what most jobs have nothing of.

import type { ErrorInfo } from '../../core/errors.ts'
import type {
  Ended,
  Job,
  LastAttempt,
  Pause,
  RunRequest,
  RunState,
  Totals,
} from '../../core/job.ts'
import { noTotals } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { endReasons, outcomes, waits } from './codes.ts'

/** Absent means the default. */
export interface Detail {
  readonly floor?: Instant
  readonly current?: RunState
  readonly serving?: string
  readonly requests?: readonly RunRequest[]
  readonly crashes?: number
  readonly pause?: Pause
  readonly pauseAsked?: Pause
  readonly lastError?: ErrorInfo
  readonly endedNote?: string
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

export function bodyOf(job: Job): string {
  const { counters, totals, last, ended } = job
  const detail = detailOf(job)
  // Joined, numbers and nulls read as they do in JSON; adding up texts would leave one behind at
  // every step, most of what a run leaves to be collected.
  // prettier-ignore
  const text = [
    waits.indexOf(job.waitingFor), orNull(job.nextAt), orNull(job.retryAt), job.backlog, job.missed,
    counters.runs, counters.concluded,
    totals.succeeded, totals.failed, totals.cancelled, totals.other, totals.skipped, totals.durationMs,
    last === null ? 'null' : last.startedAt,
    last === null ? 'null' : last.finishedAt,
    last === null ? 'null' : outcomes.indexOf(last.outcome),
    last === null ? 'null' : orNull(last.succeededAt),
    ended === null ? 'null' : ended.at,
    ended === null ? 'null' : endReasons.indexOf(ended.reason),
    job.updatedAt, job.revision,
  ].join(',')
  return detail === null ? `[${text}]` : `[${text},${JSON.stringify(detail)}]`
}

/** What is null would be left out of a list that is joined. */
export function orNull(value: number | null): number | 'null' {
  return value === null ? 'null' : value
}

function detailOf(job: Job): Detail | null {
  const { floor, current, serving, requests, crashes, pause, pauseAsked, lastError } = job
  const endedNote = job.ended === null ? undefined : job.ended.note
  const isPlainRun =
    current.run === 0 &&
    current.attempt === 0 &&
    current.failures === 0 &&
    current.failingSince === null &&
    current.retryOf === null
  const isPlain =
    isPlainRun &&
    floor === null &&
    serving === null &&
    requests.length === 0 &&
    crashes === 0 &&
    pause === null &&
    pauseAsked === null &&
    lastError === null &&
    endedNote === undefined
  if (isPlain) return null
  return {
    ...(floor === null ? {} : { floor }),
    ...(isPlainRun ? {} : { current }),
    ...(serving === null ? {} : { serving }),
    ...(requests.length === 0 ? {} : { requests }),
    ...(crashes === 0 ? {} : { crashes }),
    ...(pause === null ? {} : { pause }),
    ...(pauseAsked === null ? {} : { pauseAsked }),
    ...(lastError === null ? {} : { lastError }),
    ...(endedNote === undefined ? {} : { endedNote }),
  }
}

export function parseBody(text: string): Body {
  return JSON.parse(text) as Body
}

/** Of jobs that never ran all have the same. */
export function totalsOf(body: Body): Totals {
  if (body[7] + body[8] + body[9] + body[10] + body[11] + body[12] === 0) return noTotals
  return {
    succeeded: body[7],
    failed: body[8],
    cancelled: body[9],
    other: body[10],
    skipped: body[11],
    durationMs: body[12],
  }
}

export function lastOf(body: Body): LastAttempt | null {
  if (body[13] === null) return null
  return {
    startedAt: body[13],
    finishedAt: body[14]!,
    outcome: outcomes[body[15]!]!,
    succeededAt: body[16],
  }
}

export function endedOf(body: Body): Ended | null {
  if (body[17] === null) return null
  const ended = { at: body[17], reason: endReasons[body[18]!]! }
  const note = body[21]?.endedNote
  return note === undefined ? ended : { ...ended, note }
}

/** JSON drops what is undefined: a request without a payload of its own. */
export function requestsOf({ requests }: Detail): readonly RunRequest[] {
  if (requests === undefined) return []
  return requests.map(request =>
    'payload' in request ? request : { ...(request as RunRequest), payload: undefined },
  )
}

export const noDetail: Detail = {}
