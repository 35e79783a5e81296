// A new job: its first moment, and no past.

import {
  manualRequest,
  noCounters,
  noRequests,
  noRun,
  noTotals,
  spreadMoment,
  withinEnd,
  type Job,
  type NewJob,
} from './job.ts'
import { expiryOf } from './history/retention.ts'
import { withHistory } from './spec.ts'
import { earlier, type Instant } from './time.ts'
import { firstMoment, runsBesideGrid } from './schedule/trigger.ts'

export function createJob(input: NewJob, now: Instant): Job {
  const { id, kind = 'job' } = input
  // A job made like another one has no past.
  const spec = withHistory(input.spec, undefined)
  const { trigger } = spec
  const nextAt = withinEnd(firstMoment(trigger, spec.first, now, spec.startAt), spec.endAt)
  const isTwofold = runsBesideGrid(trigger, spec.first)
  const moment = nextAt === null ? null : spreadMoment(input, nextAt)
  const dueAt = isTwofold ? earlier(moment, now) : moment
  // Its window is over before it began: there is nothing to wait for.
  const isOver = dueAt === null && trigger.kind !== 'manual'
  return {
    id,
    kind,
    seriesId: input.seriesId ?? null,
    declared: input.declared ?? null,
    spec,
    state: isOver ? 'completed' : 'waiting',
    waitingFor: trigger.kind === 'once' ? 'start' : 'firing',
    dueAt,
    nextAt,
    clockEpoch: 0,
    retryAt: null,
    floor: null,
    backlog: 0,
    missed: 0,
    current: noRun,
    serving: null,
    requests: isTwofold ? [manualRequest('first', now)] : noRequests,
    crashes: 0,
    counters: noCounters,
    totals: noTotals,
    series: null,
    lease: null,
    hold: null,
    pause: null,
    pauseAsked: null,
    ended: isOver ? { at: now, reason: 'completed' } : null,
    last: null,
    lastError: null,
    expireAt: isOver ? expiryOf({ kind, spec }, 'completed', now) : null,
    createdAt: now,
    updatedAt: now,
    revision: 1,
    version: 1,
  }
}
