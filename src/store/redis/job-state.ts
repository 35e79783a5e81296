// The part of a row behind its first line, which only the client reads: a JSON list of numbers, and
// behind them an object of what most jobs do not have.

import { DamagedRecord } from '../../core/stored/damage.ts'
import type { ErrorInfo } from '../../core/errors.ts'
import {
  noRun,
  noTotals,
  type Ended,
  type Hold,
  type Job,
  type LastAttempt,
  type Pause,
  type RunRequest,
  type RunState,
  type Series,
  type Totals,
} from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { endReasons, outcomes, waits } from '../shared/codes.ts'
import { assertParts, assertTimes } from '../shared/detail-shape.ts'

/** What running a job never changes. */
export type Definition = Pick<Job, 'id' | 'kind' | 'seriesId' | 'spec' | 'declared' | 'createdAt'>

/** What the first line of a row and the lease say of a job. */
export interface JobHead extends Pick<Job, 'state' | 'dueAt' | 'expireAt' | 'lease' | 'version'> {
  readonly attempts: number
  readonly fence: number
}

/** Absent means the default. */
interface Detail {
  floor?: Instant
  current?: RunState
  serving?: string
  requests?: readonly RunRequest[]
  crashes?: number
  clockEpoch?: number
  hold?: Hold
  pause?: Pause
  pauseAsked?: Pause
  lastError?: ErrorInfo
  endedNote?: string
  series?: Series
}

// prettier-ignore
export type StoredState = [
  waitingFor: number, nextAt: number | null, retryAt: number | null, backlog: number, missed: number,
  runs: number, concluded: number,
  succeeded: number, failed: number, cancelled: number, other: number, skipped: number, durationMs: number,
  lastStarted: number | null, lastFinished: number | null, lastOutcome: number | null,
  lastSucceeded: number | null, endedAt: number | null, endedReason: number | null,
  updatedAt: number, revision: number, detail?: Detail,
]
const NUMBERS = 21
/** Positions of times, of the last attempt and of the end. */
const nullable = new Set([1, 2, 13, 14, 15, 16, 17, 18])
const RELEASED = outcomes.indexOf('released')

export function encodeState(job: Job): string {
  const { counters, totals, last, ended } = job
  // prettier-ignore
  const state: StoredState = [
    waits.indexOf(job.waitingFor), job.nextAt, job.retryAt, job.backlog, job.missed,
    counters.runs, counters.concluded,
    totals.succeeded, totals.failed, totals.cancelled, totals.other, totals.skipped, totals.durationMs,
    last && last.startedAt, last && last.finishedAt, last && outcomes.indexOf(last.outcome),
    last && last.succeededAt, ended && ended.at, ended && endReasons.indexOf(ended.reason),
    job.updatedAt, job.revision,
  ]
  const detail = detailOf(job)
  if (detail !== null) state.push(detail)
  return JSON.stringify(state)
}

function detailOf(job: Job): Detail | null {
  const detail: Detail = {}
  if (job.floor !== null) detail.floor = job.floor
  if (!isNoRun(job.current)) detail.current = job.current
  if (job.serving !== null) detail.serving = job.serving
  if (job.requests.length > 0) detail.requests = job.requests
  if (job.crashes !== 0) detail.crashes = job.crashes
  if (job.clockEpoch !== 0) detail.clockEpoch = job.clockEpoch
  if (job.hold !== null) detail.hold = job.hold
  if (job.pause !== null) detail.pause = job.pause
  if (job.pauseAsked !== null) detail.pauseAsked = job.pauseAsked
  if (job.lastError !== null) detail.lastError = job.lastError
  if (job.ended?.note !== undefined) detail.endedNote = job.ended.note
  if (job.series !== null) detail.series = job.series
  return Object.keys(detail).length === 0 ? null : detail
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

/** Every field by name: copying objects together takes several times as long. */
export function decodeState(text: string, head: JobHead, definition: Definition): Job {
  const state = checked(text)
  const detail = state[NUMBERS] ?? {}
  const [waitingFor, nextAt, retryAt, backlog, missed, runs, concluded] = state
  const { attempts, fence } = head
  return {
    id: definition.id,
    kind: definition.kind,
    seriesId: definition.seriesId,
    declared: definition.declared,
    spec: definition.spec,
    state: head.state,
    waitingFor: waits[waitingFor]!,
    dueAt: head.dueAt,
    nextAt,
    retryAt,
    floor: detail.floor ?? null,
    backlog,
    missed,
    current: detail.current ?? noRun,
    serving: detail.serving ?? null,
    requests: detail.requests?.map(withPayload) ?? [],
    crashes: detail.crashes ?? 0,
    clockEpoch: detail.clockEpoch ?? 0,
    counters: { runs, attempts, fence, concluded },
    totals: {
      succeeded: state[7],
      failed: state[8],
      cancelled: state[9],
      other: state[10],
      skipped: state[11],
      durationMs: state[12],
    },
    series: seriesOf(state, detail),
    lease: head.lease,
    hold: detail.hold ?? null,
    pause: detail.pause ?? null,
    pauseAsked: detail.pauseAsked ?? null,
    ended: endedOf(state, detail),
    last: lastOf(state),
    lastError: detail.lastError ?? null,
    expireAt: head.expireAt,
    createdAt: definition.createdAt,
    updatedAt: state[19],
    revision: state[20],
    version: head.version,
  }
}

function checked(text: string): StoredState {
  let state: unknown
  try {
    state = JSON.parse(text)
  } catch {
    throw new DamagedRecord('state', 'the stored state of the job is not JSON')
  }
  if (!Array.isArray(state) || state.length < NUMBERS) {
    throw new DamagedRecord('state', 'the stored state of the job has lost fields')
  }
  for (let i = 0; i < NUMBERS; i++) {
    if (typeof state[i] !== 'number' && !(state[i] === null && nullable.has(i))) throw notNumbers()
  }
  const detail: unknown = state[NUMBERS] ?? {}
  if (typeof detail !== 'object' || Array.isArray(detail)) {
    throw new DamagedRecord('state', 'the stored details of the job are unreadable')
  }
  assertTimes(state[1], state[2], state[13], state[14], state[16], state[17], state[19])
  assertParts(detail as Detail)
  return state as StoredState
}

function notNumbers(): DamagedRecord {
  return new DamagedRecord('state', 'the stored counters of the job are not numbers')
}

/** JSON drops what is undefined: a request without a payload of its own. */
function withPayload(request: RunRequest): RunRequest {
  return 'payload' in request ? request : { ...(request as RunRequest), payload: undefined }
}

/** Rows written before series had sums keep a firing as a last attempt that was released. */
function seriesOf(state: StoredState, { series }: Detail): Series | null {
  if (series === undefined) {
    return state[15] === RELEASED ? { firedAt: state[13]!, totals: noTotals } : null
  }
  const { firedAt, totals } = series
  const numbers = [firedAt, ...Object.keys(noTotals).map(key => totals?.[key as keyof Totals])]
  if (numbers.every(number => typeof number === 'number')) return series
  throw new DamagedRecord('state', 'the stored sums of the tasks of the job are not numbers')
}

function lastOf(state: StoredState): LastAttempt | null {
  if (state[13] === null || state[15] === RELEASED) return null
  return {
    startedAt: state[13],
    finishedAt: state[14]!,
    outcome: outcomes[state[15]!]!,
    succeededAt: state[16],
  }
}

function endedOf(state: StoredState, { endedNote: note }: Detail): Ended | null {
  const [at, reason] = [state[17], state[18]]
  if (at === null) return null
  const ended = { at, reason: endReasons[reason!]! }
  return note === undefined ? ended : { ...ended, note }
}
