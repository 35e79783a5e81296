// T3 for runs the schedule did not ask for: a person did, and a backfill keeps to its range.

import type { Attempt } from '../../../src/core/attempt.ts'
import type { Instant } from '../../../src/core/time.ts'
import type { Checker, Violation, Write } from '../history.ts'
import { hasGrid, momentsBetween } from '../oracle.ts'
import { violation, writesByJob } from './facts.ts'

/** What was asked for, by the id of the request. */
interface Asked {
  readonly kind: string
  /** Null for single runs. */
  readonly moments: ReadonlySet<Instant> | null
  /** A range goes on under the trigger that replaced the one it was asked for. */
  readonly trigger: string
  last: Instant
}

export const checkRequests: Checker = history => {
  const found: Violation[] = []
  for (const [jobId, writes] of writesByJob(history)) {
    const asked = new Map<string, Asked>()
    for (const write of writes) {
      for (const [id, request] of newRequests(write)) asked.set(id, request)
      for (const attempt of write.attempts) {
        const why = unasked(attempt, write, asked)
        if (why !== null) found.push(violation('T3', jobId, write.at, why))
      }
    }
  }
  return found
}

const asking = ['create', 'run', 'retry run', 'backfill']

function newRequests({ before, after, verb }: Write): [string, Asked][] {
  if (!after || verb === null || !asking.includes(verb)) return []
  const known = new Set(before?.requests.map(({ id }) => id))
  return after.requests
    .filter(({ id }) => !known.has(id))
    .map(({ id, kind, occurrence, to }) => {
      const isRange = to !== null && hasGrid(after.spec)
      const phase = before?.nextAt ?? occurrence
      const moments = isRange ? momentsBetween(after.spec, phase, occurrence, to) : null
      const trigger = JSON.stringify(after.spec.trigger)
      return [id, { kind, trigger, moments: moments && new Set(moments), last: -Infinity }]
    })
}

function unasked(
  { origin, occurrence, attempt, run }: Attempt,
  { before }: Write,
  asked: ReadonlyMap<string, Asked>,
): string | null {
  // Tasks and manual retries are runs of their own; only requests on the row are looked at.
  if (origin !== 'manual' && origin !== 'backfill') return null
  // A claim ended by a person before it began has not yet written down whom it served.
  const served = before!.serving ?? before!.requests.find(held => held.run === run)?.id
  const request = served === undefined ? undefined : asked.get(served)
  if (!request || request.kind !== origin) return `run ${run} (${origin}) was asked for by nobody`
  if (request.moments === null || attempt > 1) return null
  if (JSON.stringify(before!.spec.trigger) !== request.trigger) return null
  if (!request.moments.has(occurrence)) return `${occurrence} is not in the range asked for`
  if (occurrence <= request.last) return `${occurrence} is filled after ${request.last}`
  request.last = occurrence
  return null
}
