// What callers hold of a run or a schedule they made.

import { shortId } from '../core/short-id.ts'
import { SchedulerError } from '../core/errors.ts'
import { parseRunId, type Job } from '../core/job.ts'
import { copyJson } from '../core/json/json-copy.ts'
import type { Json } from '../core/json.ts'
import type { Run, RunStatus } from '../core/history/run.ts'
import { isLabel, refuseOptions, type Checks } from '../core/spec/option-check.ts'
import type { Engine } from '../create-engine.ts'
import { RunWatch } from './run-watch.ts'
import { isMoment, toInstant, type Moment } from './time-input.ts'

export interface RunHandle<R> {
  readonly id: string
  /** What the handler returned, as JSON; null when it could not be kept. Rejects when the run failed. */
  result(options?: { signal?: AbortSignal }): Promise<R>
  cancel(reason?: string): Promise<void>
}

export interface ScheduleHandle {
  readonly id: string
  /** The revision, to be sent back with an edit. */
  readonly revision: number
  readonly next: Date | null
  pause(options?: PauseOptions): Promise<void>
  resume(): Promise<void>
  remove(): Promise<void>
}

export interface PauseOptions {
  readonly until?: Moment
  readonly note?: string
}

const OVER: readonly RunStatus[] = ['completed', 'failed', 'cancelled', 'skipped']

export function runHandle<R>(engine: Engine, id: string): RunHandle<R> {
  return {
    id,
    result: (options = {}) => awaitResult<R>(engine, id, options.signal),
    cancel: async reason => {
      await engine.client.cancelRun(id, reason)
    },
  }
}

async function awaitResult<R>(engine: Engine, id: string, signal?: AbortSignal): Promise<R> {
  const jobId = parseRunId(id)?.jobId ?? id
  const wait = RunWatch.of(engine).wait(jobId, signal)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const isLast = engine.node.state === 'stopped'
      // Waiting starts before the look, so that an end between the two is not missed.
      const changed = wait.next()
      const run = await engine.client.getRun(id).catch((error: unknown) => {
        throw engine.node.state === 'stopped' ? stoppedBefore(id) : error
      })
      if (OVER.includes(run.status)) return copyJson(resultOf(run)) as R
      if (isLast) throw stoppedBefore(id)
      await changed
    }
  } finally {
    wait.end()
  }
}

function stoppedBefore(id: string): SchedulerError {
  return new SchedulerError(
    'SCHEDULER_STATE',
    `the scheduler was stopped before run ${shortId(id)} ended`,
  )
}

function resultOf(run: Run): Json {
  if (run.status === 'completed' || run.status === 'skipped') return run.result
  const why = run.error?.message ?? run.attempts.at(-1)?.reason ?? ''
  const error = new SchedulerError('RUN_FAILED', `run ${shortId(run.id)} ${run.status}: ${why}`, {
    details: { run: run.id, status: run.status },
  })
  throw error
}

export function scheduleHandle(engine: Engine, job: Job): ScheduleHandle {
  const { client } = engine
  return {
    id: job.id,
    revision: job.revision,
    next: job.dueAt === null ? null : new Date(job.dueAt),
    pause: async (options = {}) => {
      refuseOptions('pause is not valid', options, pauseChecks)
      await client.pause(job.id, pauseInput(options))
    },
    resume: async () => {
      await client.resume(job.id)
    },
    remove: async () => {
      await client.remove([job.id])
    },
  }
}

export const pauseChecks: Checks<PauseOptions> = { until: isMoment, note: isLabel }

export function pauseInput({ until, note }: PauseOptions) {
  return {
    until: until === undefined ? null : toInstant(until, 'until'),
    note: note ?? null,
  }
}
