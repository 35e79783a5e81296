// What the body of a job says, in the words of the core.

import type { Ended, Job, LastAttempt, RunRequest, Totals } from '../../core/job.ts'
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
  | 'totals'
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
  const told = toldOf(JSON.parse(text) as Body)
  lastText = text
  return told
}

export function toldOf(body: Body): Told {
  if (lastBody !== null && isSame(lastBody, body)) return lastTold!
  lastText = null
  lastBody = body
  lastTold = understood(body)
  return lastTold
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
    runs: body[5],
    concluded: body[6],
    totals: totalsOf(body),
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

function lastOf(body: Body): LastAttempt | null {
  if (body[13] === null) return null
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
