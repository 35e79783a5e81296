// Overlap allow: each granted occurrence becomes a task of its own, and the schedule moves on in
// the same step, so a firing is neither lost nor doubled.

import { givenBack, rest } from './advance.ts'
import { change, type Change } from '../change.ts'
import { FAIR_SCHEDULE, FAIR_TASK } from '../fairness/fair.ts'
import { dueFirings, skipsOf } from './firings.ts'
import type { Job, Series } from '../job.ts'
import { createJob } from '../create.ts'
import { noRun, noTotals, withinEnd } from '../job.ts'
import type { JobSpec, Retry } from '../spec.ts'
import type { Instant } from '../time.ts'
import { gridNext, type GridTrigger } from './trigger.ts'

/** Tasks made in one step; a longer catch-up continues with the next claim. */
const DETACH_MAX = 100

export function detached(job: Job, trigger: GridTrigger, now: Instant): Change {
  const firings = dueFirings(job, trigger, job.lease!.claimedAt)
  const left = Math.min(job.backlog > 0 ? job.backlog : firings.granted, runsLeft(job))
  const first = job.backlog > 0 ? job.nextAt : firings.serveAt
  const tasks: Job[] = []
  let at = first
  let last = first ?? firings.decidedTo
  while (at !== null && tasks.length < Math.min(left, DETACH_MAX)) {
    tasks.push(occurrenceTask(job, at, { run: job.counters.runs + tasks.length + 1, now }))
    last = at
    at = gridNext(trigger, job.nextAt!, at)
  }
  const concluded = job.counters.concluded + tasks.length
  const isOver = job.spec.runLimit !== null && concluded >= job.spec.runLimit
  const nextAt = isOver ? null : withinEnd(gridNext(trigger, job.nextAt!, last), job.spec.endAt)
  const back = givenBack(job)
  const idle: Job = {
    ...back,
    nextAt,
    retryAt: null,
    current: noRun,
    backlog: nextAt === null ? 0 : left - tasks.length,
    series: tasks.length > 0 ? fired(job, now) : job.series,
    counters: { ...back.counters, runs: job.counters.runs + tasks.length, concluded },
  }
  return change(job, rest(idle, now), now, {
    token: job.lease!.token,
    inserts: tasks,
    skips: job.backlog > 0 ? [] : skipsOf(job, firings),
  })
}

/** How the tasks end is added when they do. */
function fired({ series }: Job, now: Instant): Series {
  return { firedAt: now, totals: series?.totals ?? noTotals }
}

function runsLeft(job: Job): number {
  const { runLimit } = job.spec
  return runLimit === null ? Infinity : Math.max(1, runLimit - job.counters.concluded)
}

interface TaskNumbers {
  readonly run: number
  readonly now: Instant
}

/** The id is made of the job and the occurrence, so a repeated step finds it already there. */
export function occurrenceTask(series: Job, at: Instant, { run, now }: TaskNumbers): Job {
  const task = createJob(
    {
      id: `${series.id}@${at}`,
      kind: 'task',
      seriesId: series.id,
      spec: taskSpec(series.spec, at),
    },
    now,
  )
  return { ...task, counters: { ...task.counters, runs: run - 1 } }
}

/** The series' spec for a single occurrence: what speaks of repetition is left out. */
export function taskSpec(spec: JobSpec, at: Instant): JobSpec {
  return {
    ...spec,
    handler: spec.handler === FAIR_SCHEDULE ? FAIR_TASK : spec.handler,
    trigger: { kind: 'once', at },
    first: 'next',
    startAt: null,
    endAt: null,
    runLimit: null,
    jitterMs: 0,
    missed: { policy: 'once' },
    overlap: { policy: 'skip' },
    retry: taskRetry(spec),
  }
}

function taskRetry(spec: JobSpec): Retry {
  const { retry, trigger } = spec
  const { backoff } = retry
  const everyMs = trigger.kind === 'interval' ? trigger.everyMs : 0
  return {
    ...retry,
    exhausted: 'stop',
    yields: false,
    backoff:
      backoff.kind === 'relative'
        ? { kind: 'exponential', baseMs: everyMs, maxMs: everyMs * backoff.maxFactor, jitter: 0 }
        : backoff,
  }
}
