// What the body of a job says, in the words of the core.

import { DamagedRecord } from '../../core/stored/damage.ts'
import type { Ended, Job, LastAttempt, RunRequest, Series, Totals } from '../../core/job.ts'
import { noRun, noTotals } from '../../core/job.ts'
import type { Body, Detail } from './body.ts'
import { endReasons, outcomes, waits } from './codes.ts'

type Said =
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
  | 'clockEpoch'
  | 'totals'
  | 'series'
  | 'hold'
  | 'pause'
  | 'pauseAsked'
  | 'ended'
  | 'last'
  | 'lastError'
  | 'updatedAt'
  | 'revision'

/** Jobs whose bodies are the same share it. */
export interface Told extends Pick<Job, Said> {
  readonly runs: number
  readonly concluded: number
}

const noDetail: Detail = {}
/** A body without details. */
const PLAIN_LENGTH = 21

/** The last one read: what is read together mostly says the same. */
let lastText: string | null = null
let lastBody: Body | null = null
let lastTold: Told | null = null

export function parseBody(text: string): Told {
  if (lastText === text) return lastTold!
  const told = toldOf(jsonOf(text))
  lastText = text
  return told
}

function jsonOf(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    throw new DamagedRecord('state', 'the stored state of the job is not JSON')
  }
}

export function toldOf(body: Body): Told {
  if (lastBody !== null && isSame(lastBody, body)) return lastTold!
  assertBody(body)
  lastText = null
  lastTold = understood(body)
  lastBody = body
  return lastTold
}

/** Fields that may be null: moments, the last attempt, the end. */
const NULLABLE = new Set([1, 2, 13, 14, 15, 16, 17, 18])

function assertBody(body: Body): void {
  if (!Array.isArray(body) || body.length < PLAIN_LENGTH) {
    throw new DamagedRecord('state', 'the stored state of the job has lost fields')
  }
  for (let i = 0; i < PLAIN_LENGTH; i++) {
    const isFit = typeof body[i] === 'number' || (body[i] === null && NULLABLE.has(i))
    if (!isFit) throw new DamagedRecord('state', 'the stored counters of the job are not numbers')
  }
  const detail: unknown = body[21] ?? noDetail
  const isObject = typeof detail === 'object' && !Array.isArray(detail)
  if (!isObject) throw new DamagedRecord('state', 'the stored details of the job are unreadable')
}

/** Of those without details, whose numbers say all. */
function isSame(a: Body, b: Body): boolean {
  if (a.length !== PLAIN_LENGTH || b.length !== PLAIN_LENGTH) return false
  for (let i = PLAIN_LENGTH - 1; i >= 0; i--) if (a[i] !== b[i]) return false
  return true
}

function understood(body: Body): Told {
  const detail = body[21] ?? noDetail
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
    clockEpoch: detail.clockEpoch ?? 0,
    runs: body[5],
    concluded: body[6],
    totals: totalsOf(body),
    series: detail.series === undefined ? earlierSeries(body) : seriesOf(detail.series),
    hold: detail.hold ?? null,
    pause: detail.pause ?? null,
    pauseAsked: detail.pauseAsked ?? null,
    ended: endedOf(body),
    last: lastOf(body),
    lastError: detail.lastError ?? null,
    updatedAt: body[19],
    revision: body[20],
  }
}

/** Of jobs that never ran all have the same. */
function totalsOf(body: Body): Totals {
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

const RELEASED = outcomes.indexOf('released')

function seriesOf(series: Series): Series {
  const { firedAt, totals } = series
  const numbers = [firedAt, ...Object.keys(noTotals).map(key => totals?.[key as keyof Totals])]
  if (numbers.every(number => typeof number === 'number')) return series
  throw new DamagedRecord('state', 'the stored sums of the tasks of the job are not numbers')
}

/** Rows written before series had sums keep a firing as a last attempt that was released. */
function earlierSeries(body: Body): Series | null {
  return body[15] === RELEASED ? { firedAt: body[13]!, totals: noTotals } : null
}

function lastOf(body: Body): LastAttempt | null {
  if (body[13] === null || body[15] === RELEASED) return null
  return {
    startedAt: body[13],
    finishedAt: body[14]!,
    outcome: outcomes[body[15]!]!,
    succeededAt: body[16],
  }
}

function endedOf(body: Body): Ended | null {
  if (body[17] === null) return null
  const ended = { at: body[17], reason: endReasons[body[18]!]! }
  const note = body[21]?.endedNote
  return note === undefined ? ended : { ...ended, note }
}

const noRequests: readonly RunRequest[] = []

/** JSON drops what is undefined: a request without a payload of its own. */
function requestsOf({ requests }: Detail): readonly RunRequest[] {
  if (requests === undefined) return noRequests
  return requests.map(request =>
    'payload' in request ? request : { ...(request as RunRequest), payload: undefined },
  )
}
