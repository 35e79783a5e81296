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
  const started = last === null ? null : last.startedAt
  const finished = last === null ? null : last.finishedAt
  const outcome = last === null ? null : outcomes.indexOf(last.outcome)
  const succeeded = last === null ? null : last.succeededAt
  const endedAt = ended === null ? null : ended.at
  const reason = ended === null ? null : endReasons.indexOf(ended.reason)
  const detail = detailOf(job)
  // Numbers and nulls read in a text as they do in JSON, at half the cost of having them written.
  return (
    `[${waits.indexOf(job.waitingFor)},${job.nextAt},${job.retryAt},${job.backlog},${job.missed},` +
    `${counters.runs},${counters.concluded},${totals.succeeded},${totals.failed},` +
    `${totals.cancelled},${totals.other},${totals.skipped},${totals.durationMs},${started},` +
    `${finished},${outcome},${succeeded},${endedAt},${reason},${job.updatedAt},${job.revision}` +
    (detail === null ? ']' : `,${JSON.stringify(detail)}]`)
  )
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

export function totalsOf(body: Body): Totals {
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
