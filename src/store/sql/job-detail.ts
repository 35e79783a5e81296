// The part of a job that no query looks into, as one JSON object; absent fields are null or zero.

import { DamagedRecord } from '../../core/stored/damage.ts'
import type { ErrorInfo } from '../../core/errors.ts'
import { noTotals } from '../../core/job.ts'
import type {
  Ended,
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
import { assertParts, assertTimes } from '../shared/detail-shape.ts'

export interface JobDetail {
  updatedAt: Instant
  revision: number
  nextAt?: Instant
  retryAt?: Instant
  floor?: Instant
  backlog?: number
  missed?: number
  current?: RunState
  serving?: string
  requests?: readonly RunRequest[]
  crashes?: number
  clockEpoch?: number
  runs?: number
  concluded?: number
  totals?: Partial<Totals>
  series?: Series
  hold?: Hold
  pause?: Pause
  pauseAsked?: Pause
  ended?: Ended
  last?: LastAttempt
  lastError?: ErrorInfo
}

/** Assigned one by one: copying objects together costs more than all the rest. */
export function detailText(job: Job): string {
  const detail: JobDetail = { updatedAt: job.updatedAt, revision: job.revision }
  const { counters, current } = job
  if (job.nextAt !== null) detail.nextAt = job.nextAt
  if (job.retryAt !== null) detail.retryAt = job.retryAt
  if (job.floor !== null) detail.floor = job.floor
  if (job.backlog !== 0) detail.backlog = job.backlog
  if (job.missed !== 0) detail.missed = job.missed
  if (!isNoRun(current)) detail.current = current
  if (job.serving !== null) detail.serving = job.serving
  if (job.requests.length > 0) detail.requests = job.requests
  if (job.crashes !== 0) detail.crashes = job.crashes
  if (job.clockEpoch !== 0) detail.clockEpoch = job.clockEpoch
  if (counters.runs !== 0) detail.runs = counters.runs
  if (counters.concluded !== 0) detail.concluded = counters.concluded
  const totals = nonZero(job.totals)
  if (totals !== null) detail.totals = totals
  if (job.series !== null) detail.series = job.series
  if (job.hold !== null) detail.hold = job.hold
  if (job.pause !== null) detail.pause = job.pause
  if (job.pauseAsked !== null) detail.pauseAsked = job.pauseAsked
  if (job.ended !== null) detail.ended = job.ended
  if (job.last !== null) detail.last = job.last
  if (job.lastError !== null) detail.lastError = job.lastError
  return JSON.stringify(detail)
}

function isNoRun(current: RunState): boolean {
  return (
    current.run === 0 &&
    current.attempt === 0 &&
    current.failures === 0 &&
    current.failingSince === null &&
    current.retryOf === null
  )
}

/** Without the zeros: a row that grows when its job ends moves others to new pages. */
function nonZero(totals: Totals): Partial<Totals> | null {
  const { succeeded, failed, cancelled, other, skipped, durationMs } = totals
  const kept: { -readonly [K in keyof Totals]?: number } = {}
  if (succeeded !== 0) kept.succeeded = succeeded
  if (failed !== 0) kept.failed = failed
  if (cancelled !== 0) kept.cancelled = cancelled
  if (other !== 0) kept.other = other
  if (skipped !== 0) kept.skipped = skipped
  if (durationMs !== 0) kept.durationMs = durationMs
  return succeeded + failed + cancelled + other + skipped + durationMs === 0 ? null : kept
}

const noRequests: readonly RunRequest[] = []

export function totalsOf({ totals }: JobDetail): Totals {
  return totals === undefined ? noTotals : { ...noTotals, ...totals }
}

/** JSON drops what is undefined: a request without a payload of its own. */
export function requestsOf({ requests }: JobDetail): readonly RunRequest[] {
  if (requests === undefined) return noRequests
  return requests.map(request =>
    'payload' in request ? request : { ...(request as RunRequest), payload: undefined },
  )
}

/** Throws DamagedRecord for what is no detail. */
export function parseDetail(text: string): JobDetail {
  let detail: unknown
  try {
    detail = JSON.parse(text)
  } catch {
    throw new DamagedRecord('state', 'the stored state of the job is not JSON')
  }
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) {
    throw new DamagedRecord('state', 'the stored state of the job is not an object')
  }
  const { updatedAt, revision } = detail as JobDetail
  if (updatedAt === undefined || revision === undefined) {
    throw new DamagedRecord('state', 'the stored state of the job has lost fields')
  }
  assertNumbers(detail as Fields, numberFields)
  for (const field of ['totals', 'current', 'last', 'series'] as const) {
    const part = (detail as Fields)[field]
    if (part !== undefined) assertPart(field, part)
  }
  const { nextAt, retryAt, floor, last } = detail as JobDetail
  assertTimes(updatedAt, nextAt, retryAt, floor, last?.startedAt, last?.finishedAt)
  assertParts(detail)
  return detail as JobDetail
}

type Fields = Readonly<Record<string, unknown>>

const numberFields = [
  'updatedAt',
  'revision',
  'nextAt',
  'retryAt',
  'floor',
  'backlog',
  'missed',
  'crashes',
  'clockEpoch',
  'runs',
  'concluded',
]
const totalFields = Object.keys(noTotals)
const partFields = {
  totals: totalFields,
  current: ['run', 'attempt', 'failures'],
  last: ['startedAt', 'finishedAt'],
  series: ['firedAt'],
} as const

function assertPart(field: keyof typeof partFields, part: unknown): void {
  if (typeof part !== 'object' || part === null) throw notNumbers()
  assertNumbers(part as Fields, partFields[field], field !== 'totals')
  const { totals } = part as Fields
  if (field !== 'series') return
  if (typeof totals !== 'object' || totals === null) throw notNumbers()
  assertNumbers(totals as Fields, totalFields, true)
}

function assertNumbers(held: Fields, fields: readonly string[], isRequired = false): void {
  for (const field of fields) {
    const value = held[field]
    if (value === undefined && !isRequired) continue
    if (typeof value !== 'number') throw notNumbers()
  }
}

function notNumbers(): DamagedRecord {
  return new DamagedRecord('state', 'the stored counters of the job are not numbers')
}
