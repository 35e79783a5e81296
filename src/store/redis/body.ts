// The part of a job that only its readers need, as one JSON list: a fixed run of numbers, and behind
// it what most jobs have nothing of.

import type { ErrorInfo } from '../../core/errors.ts'
import type { Job, LastAttempt, Pause, RunRequest, RunState } from '../../core/job.ts'
import { noRun } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { endReasons, outcomes, waits } from './codes.ts'

/** Absent means the default. */
interface Detail {
  readonly floor?: Instant
  readonly current?: RunState
  readonly serving?: string
  readonly requests?: readonly RunRequest[]
  readonly crashes?: number
  readonly pause?: Pause
  readonly pauseAsked?: Pause
  readonly lastError?: ErrorInfo
}

// prettier-ignore
type Body = [
  waitingFor: number, nextAt: number | null, retryAt: number | null, backlog: number,
  missed: number, runs: number, concluded: number, succeeded: number, failed: number,
  cancelled: number, other: number, skipped: number, durationMs: number,
  lastStarted: number | null, lastFinished: number | null, lastOutcome: number | null,
  lastSucceeded: number | null, endedAt: number | null, endedReason: number | null,
  updatedAt: number, detail?: Detail,
]

type OfBody = Pick<
  Job,
  | 'waitingFor'
  | 'nextAt'
  | 'retryAt'
  | 'floor'
  | 'backlog'
  | 'missed'
  | 'current'
  | 'serving'
  | 'requests'
  | 'crashes'
  | 'totals'
  | 'pause'
  | 'pauseAsked'
  | 'ended'
  | 'last'
  | 'lastError'
  | 'updatedAt'
> & { readonly runs: number; readonly concluded: number }

export function bodyOf(job: Job): string {
  const { counters, totals, last, ended } = job
  const body: Body = [
    waits.indexOf(job.waitingFor),
    job.nextAt,
    job.retryAt,
    job.backlog,
    job.missed,
    counters.runs,
    counters.concluded,
    totals.succeeded,
    totals.failed,
    totals.cancelled,
    totals.other,
    totals.skipped,
    totals.durationMs,
    last === null ? null : last.startedAt,
    last === null ? null : last.finishedAt,
    last === null ? null : outcomes.indexOf(last.outcome),
    last === null ? null : last.succeededAt,
    ended === null ? null : ended.at,
    ended === null ? null : endReasons.indexOf(ended.reason),
    job.updatedAt,
  ]
  const detail = detailOf(job)
  if (detail !== null) body.push(detail)
  return JSON.stringify(body)
}

function isNoRun({ run, attempt, failures, failingSince, retryOf }: RunState): boolean {
  return run === 0 && attempt === 0 && failures === 0 && failingSince === null && retryOf === null
}

function detailOf(job: Job): Detail | null {
  const { floor, current, serving, requests, crashes, pause, pauseAsked, lastError } = job
  const isPlainRun = isNoRun(current)
  const isPlain =
    isPlainRun &&
    floor === null &&
    serving === null &&
    requests.length === 0 &&
    crashes === 0 &&
    pause === null &&
    pauseAsked === null &&
    lastError === null
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
  }
}

const noDetail: Detail = {}

export function parseBody(text: string): OfBody {
  const body = JSON.parse(text) as Body
  const detail = body[20] ?? noDetail
  return {
    waitingFor: waits[body[0]]!,
    nextAt: body[1],
    retryAt: body[2],
    floor: detail.floor ?? null,
    backlog: body[3],
    missed: body[4],
    current: detail.current ?? noRun,
    serving: detail.serving ?? null,
    requests: requestsOf(detail),
    crashes: detail.crashes ?? 0,
    runs: body[5],
    concluded: body[6],
    totals: {
      succeeded: body[7],
      failed: body[8],
      cancelled: body[9],
      other: body[10],
      skipped: body[11],
      durationMs: body[12],
    },
    pause: detail.pause ?? null,
    pauseAsked: detail.pauseAsked ?? null,
    ended: body[17] === null ? null : { at: body[17], reason: endReasons[body[18]!]! },
    last: lastOf(body),
    lastError: detail.lastError ?? null,
    updatedAt: body[19],
  }
}

function lastOf(body: Body): LastAttempt | null {
  if (body[13] === null) return null
  return {
    startedAt: body[13],
    finishedAt: body[14]!,
    outcome: outcomes[body[15]!]!,
    succeededAt: body[16],
  }
}

/** JSON drops what is undefined: a request without a payload of its own. */
function requestsOf({ requests }: Detail): readonly RunRequest[] {
  if (requests === undefined) return []
  return requests.map(request =>
    'payload' in request ? request : { ...(request as RunRequest), payload: undefined },
  )
}
