// Runs asked for by people: run now, retry of an old run, backfill. They wait behind what is
// running and never move the schedule.

import { isGenuineAction, payloadWith, RESERVED_RULE } from '../spec/action-name.ts'
import type { Attempt } from '../attempt.ts'
import { rest } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import { taskSpec } from '../schedule/detach.ts'
import { refuse, SchedulerError } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Job, RunRequest } from '../job.ts'
import { createJob } from '../create.ts'
import { manualRequest, noRun, requestsLeft, runId } from '../job.ts'
import { Findings } from '../findings.ts'
import { limits } from '../limits.ts'
import { withOpenRun } from '../run/begin.ts'
import type { Instant } from '../time.ts'
import { gridCount, gridNext, isGrid } from '../schedule/trigger.ts'
import { shortId } from '../short-id.ts'

export interface Asked {
  readonly change: Change
  /** The run it will be, known before it starts. */
  readonly runId: string
}

export function requestRun(job: Job, input: { id: string; payload?: Json }, now: Instant): Asked {
  if (input.payload !== undefined) {
    const found = new Findings()
    found.json('payload', input.payload, limits.payloadBytes)
    refuse('SPEC_INVALID', 'the run is not valid', found.problems)
  }
  return ask(job, manualRequest(input.id, now, input.payload), now)
}

/** The occurrence keeps its one decision: this is a new run that points back to the old one. */
// oxlint-disable-next-line max-params -- what runs again, with what, and who asks when
export function requestRetry(
  job: Job,
  old: Attempt,
  id: string,
  now: Instant,
  payload?: Json,
): Asked {
  const request: RunRequest = {
    ...manualRequest(id, now, payload),
    kind: 'retry',
    occurrence: old.occurrence,
    retryOf: old.run,
  }
  return ask(job, request, now)
}

export function requestBackfill(
  job: Job,
  input: { id: string; from: Instant; to: Instant },
  now: Instant,
): Asked & { readonly count: number } {
  const { trigger } = job.spec
  const { from, to } = input
  const found = new Findings()
  found.instant('from', from)
  found.instant('to', to)
  const { problems } = found
  if (!isGrid(trigger)) {
    const rule = 'only cron and interval schedules have past firings'
    problems.push({ field: 'trigger', value: trigger.kind, rule })
  }
  if (to < from) problems.push({ field: 'to', value: to, rule: 'must not be before from' })
  if (to > now) problems.push({ field: 'to', value: to, rule: 'must not lie in the future' })
  refuse('SPEC_INVALID', 'the backfill is not valid', problems)
  if (!isGrid(trigger)) throw new SchedulerError('SPEC_INVALID', 'the backfill is not valid')
  const phase = job.nextAt ?? from
  const count = gridCount(trigger, phase, from - 1, to)
  const first = gridNext(trigger, phase, from - 1)
  if (first === null || count === 0 || count > limits.backfillMax) {
    const rule = `must hold from 1 to ${limits.backfillMax} firings`
    refuse('SPEC_INVALID', 'the backfill is not valid', [{ field: 'to', value: count, rule }])
  }
  const request: RunRequest = {
    ...manualRequest(input.id, now),
    kind: 'backfill',
    occurrence: first!,
    to,
  }
  return { ...ask(job, request, now), count }
}

function ask(job: Job, request: RunRequest, now: Instant): Asked {
  const { handler, isAction } = job.spec
  if (isAction && !isGenuineAction(job)) {
    const problem = { field: 'handler', value: handler, rule: `must be ${RESERVED_RULE}` }
    refuse('SPEC_INVALID', `job ${shortId(job.id)} cannot run`, [problem])
  }
  switch (job.state) {
    case 'waiting':
    case 'running':
      return job.spec.overlap.policy === 'allow' && request.to === null
        ? aside(job, request, now)
        : behind(job, request, now)
    case 'paused':
    case 'completed':
    case 'failed':
      if (request.to === null) return aside(job, request, now)
      break
    case 'cancelled':
      break
  }
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot run job ${shortId(job.id)}: it is ${job.state}`,
    {
      details: { from: job.state },
    },
  )
}

function behind(before: Job, asked: RunRequest, now: Instant): Asked {
  if (requestsLeft(before) <= 0) {
    throw new SchedulerError(
      'REQUESTS_FULL',
      `job ${shortId(before.id)} already has ${limits.requestsMax} requested runs waiting`,
    )
  }
  const job = withOpenRun(before)
  const run = job.counters.runs + 1
  // Never due before a claim that is under way, so nobody takes that claim to be for it.
  const dueAt = job.lease === null ? asked.dueAt : Math.max(asked.dueAt, job.lease.claimedAt + 1)
  const next: Job = {
    ...job,
    requests: [...job.requests, { ...asked, dueAt, run }],
    counters: { ...job.counters, runs: run },
    revision: job.revision + 1,
  }
  const after = job.state === 'waiting' ? rest(next, now) : next
  return {
    change: change(before, after, now, { token: before.lease?.token ?? null }),
    runId: runId(job.id, run),
  }
}

/** A task of its own, for jobs that hold nothing back or whose schedule stands still. */
function aside(before: Job, asked: RunRequest, now: Instant): Asked {
  const job = withOpenRun(before)
  const run = job.counters.runs + 1
  const base = taskSpec(job.spec, now)
  const spec =
    asked.payload === undefined ? base : { ...base, payload: payloadWith(base, asked.payload) }
  const task = createJob(
    { id: `${job.id}@${asked.id}`, kind: 'task', seriesId: job.seriesId ?? job.id, spec },
    now,
  )
  const numbered: Job = {
    ...task,
    counters: { ...task.counters, runs: run - 1 },
    current: { ...noRun, retryOf: asked.retryOf },
  }
  const after = { ...job, counters: { ...job.counters, runs: run }, revision: job.revision + 1 }
  return {
    change: change(before, after, now, {
      token: before.lease?.token ?? null,
      inserts: [numbered],
    }),
    runId: runId(numbered.id, run),
  }
}
