// What workers say about the tasks they hold: still at it, done, failed, given back. A lease that
// is no longer theirs is answered with 409, and nothing changes.

import { z } from 'zod'
import type { Attempt, Outcome } from '../../../core/attempt.ts'
import type { Job } from '../../../core/job.ts'
import { jsonBytes, type Json, type JsonObject } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { iso } from '../../../core/time.ts'
import { parseLease, RemoteWorkers } from '../../../remote/workers.ts'
import { outcomeOfReturned } from '../../../core/run/outcome.ts'
import type { Call } from '../call/call.ts'
import { PerEngine } from '../call/per-engine.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { useCase } from '../call/use-case.ts'
import { jobParams } from '../jobs/answer.ts'
import { seconds, whole } from '../jobs/fields.ts'
import { auditTasks, taskDeed } from './audit.ts'
import { leaseSeconds } from './claim.ts'
import { assertOwn } from './list.ts'

const LEASE_LENGTH_MAX = 1_000
const MESSAGE_LENGTH_MAX = 4_096
const STACK_LENGTH_MAX = 8_192
const COUNT_MAX = 1_000_000_000

const lease = {
  lease_token: z.string().min(1, 'must not be empty').max(LEASE_LENGTH_MAX),
}

const heartbeatBody = z
  .strictObject({
    ...lease,
    progress: z
      .union([
        z.number().min(0).max(1),
        z.strictObject({
          fraction: z.number().min(0).max(1),
          note: z.string().max(limits.noteLength).nullable().optional(),
        }),
      ])
      .optional()
      .meta({ description: 'From 0 to 1, alone or with a note.' }),
    checkpoint: z.unknown().optional().meta({ description: 'For the next attempt; 64 KiB.' }),
    lease_seconds: leaseSeconds,
  })
  .meta({ id: 'TaskHeartbeat' })

const heartbeatAnswer = z
  .strictObject({ id: z.string(), lease_until: z.string() })
  .meta({ id: 'TaskLease' })

const count = whole(0, COUNT_MAX).optional()

const completeBody = z
  .strictObject({
    ...lease,
    result: z.unknown().optional().meta({
      description:
        'At most 64 KiB; a larger one is left out, and the execution says `result_omitted`.',
    }),
    result_omitted: z
      .boolean()
      .optional()
      .meta({ description: 'There was a result, and the worker could not send it.' }),
    items_crawled: count,
    items_indexed: count,
  })
  .meta({ id: 'TaskResult' })

const failBody = z
  .strictObject({
    ...lease,
    error: z.strictObject({
      message: z.string().max(MESSAGE_LENGTH_MAX),
      stack: z.string().max(STACK_LENGTH_MAX).nullable().optional(),
      name: z.string().max(limits.nameLength).optional(),
    }),
    final: z.boolean().default(false).meta({ description: 'Not worth another try.' }),
    retry_after_seconds: seconds(0, limits.delayMsMax / 1_000).optional(),
  })
  .meta({ id: 'TaskFailure' })

const releaseBody = z.strictObject(lease).meta({ id: 'TaskRelease' })

const finishAnswer = z
  .strictObject({
    id: z.string(),
    execution_id: z.string(),
    outcome: z.string(),
    finished_at: z.string(),
  })
  .meta({ id: 'TaskFinished', description: 'Said again by the same holder, it is the same.' })

const remoteWorkers = new PerEngine(engine => new RemoteWorkers(engine))

export const keepTask = useCase({
  access: 'operator',
  params: jobParams,
  body: heartbeatBody,
  result: heartbeatAnswer,
  handle: async call => {
    const { id } = call.params
    const { lease_token, progress, checkpoint, lease_seconds } = call.body
    refuseTooLarge('checkpoint', checkpoint, limits.checkpointBytes)
    const report = {
      ...(progress === undefined ? {} : { progress: progressOf(progress) }),
      ...(checkpoint === undefined ? {} : { checkpoint: checkpoint as Json }),
      leaseMs: lease_seconds * 1_000,
    }
    const workers = remoteWorkers.of(call.engine)
    const until = await workers.heartbeat(parseLease(id, lease_token), report, own(call))
    return { id, lease_until: iso(until) }
  },
})

/** What a worker could not send is not known here. */
const leftOut = { result: null, resultOmitted: 'the worker could not send it' }

/** How a worker ends its hold of a task. */
function finish<B extends z.ZodType<{ readonly lease_token: string }>>(
  verb: 'complete' | 'fail' | 'release',
  body: B,
  outcomeOf: (body: z.output<B>) => Outcome,
) {
  return useCase({
    access: 'operator',
    params: jobParams,
    body,
    result: finishAnswer,
    handle: async call => {
      const holding = parseLease(call.params.id, call.body.lease_token)
      const workers = remoteWorkers.of(call.engine)
      const outcome = outcomeOf(call.body)
      const finished = await workers.finish(holding, { outcome }, own(call))
      await auditTasks(call, [taskDeed(`task.${verb}`, finished.job)])
      return answer(finished)
    },
  })
}

export const completeTask = finish('complete', completeBody, body => {
  const { lease_token: _, result, result_omitted, ...counts } = body
  const measures = Object.keys(counts).length === 0 ? null : (counts as JsonObject)
  const kept = outcomeOfReturned(result, measures)
  return result_omitted === true ? { ...kept, ...leftOut } : kept
})

export const failTask = finish(
  'fail',
  failBody,
  ({ error, final, retry_after_seconds: after }) => ({
    kind: 'failed',
    error: { name: error.name ?? 'Error', message: error.message, stack: error.stack ?? null },
    final,
    retryAfterMs: after === undefined ? null : Math.round(after * 1_000),
  }),
)

export const releaseTask = finish('release', releaseBody, () => ({ kind: 'interrupted' }))

function own(call: Call): (job: Job) => void {
  return job => assertOwn(call, job)
}

function progressOf(given: number | { fraction: number; note?: string | null | undefined }) {
  return typeof given === 'number'
    ? { fraction: given, note: null }
    : { fraction: given.fraction, note: given.note ?? null }
}

function refuseTooLarge(field: string, value: unknown, max: number): void {
  const bytes = value === undefined ? 0 : (jsonBytes(value) ?? 0)
  const rule = `must have at most ${max} bytes as JSON`
  refuseInvalid('native', bytes > max ? [{ field, value: `${bytes} bytes`, rule }] : [])
}

function answer({ attempt, job }: { readonly attempt: Attempt | null; readonly job: Job }) {
  return {
    id: job.id,
    execution_id: attempt?.id ?? '',
    outcome: attempt?.outcome ?? 'released',
    finished_at: iso(attempt?.finishedAt ?? job.updatedAt),
  }
}
