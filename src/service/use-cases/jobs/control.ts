// What people do to a job: pause, resume, cancel, retry, run now, take a dead holder's lease.

import { shortId } from '../../../core/short-id.ts'
import { z } from 'zod'
import { assertTransition, statusOf, transitions } from '../../../core/control/status.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import type { Client, Guard } from '../../../jobs/client.ts'
import { once } from '../call/idempotency.ts'
import { useCase } from '../call/use-case.ts'
import { moment, text } from './texts.ts'
import { jobAnswer, jobParams } from './answer.ts'
import { readerOf } from '../../auth/principal.ts'
import { guardOf, visibleJob } from './scope.ts'
import { formQuery, jobSchema } from './view.ts'

const family = 'jobs'

export const pauseBody = z
  .strictObject({ until: moment.nullable().optional(), note: text(limits.noteLength).optional() })
  .optional()
export const cancelBody = z.strictObject({ reason: text(limits.noteLength).optional() }).optional()
export const runBody = z.strictObject({ payload: z.unknown().optional() }).optional()
const nothing = z.strictObject({}).optional()

interface Control<B extends z.ZodType> {
  readonly access?: 'admin'
  readonly body: B
  readonly act: (client: Client, id: string, body: z.output<B>, guard: Guard) => Promise<Job>
  readonly check?: (job: Job) => void
}

/** Changes the state of one job, and answers with it. */
function control<B extends z.ZodType>({ access, body, act, check }: Control<B>) {
  return useCase({
    access: access ?? 'operator',
    family,
    params: jobParams,
    query: formQuery,
    body,
    result: jobSchema,
    handle: async call =>
      once(call, {
        answer: ({ after }) => jobAnswer(call, after!),
        act: client => act(client, call.params.id, call.body, guardOf(call, check)),
      }),
  })
}

export const pauseJob = control({
  body: pauseBody,
  act: (client, id, body, guard) => client.pause(id, pauseOf(body), guard),
  // The library accepts it while a run is under way; here only a scheduled job is paused.
  check: job => assertTransition(job, 'paused', 'pause'),
})

export const resumeJob = control({
  body: nothing,
  act: (client, id, _body, guard) => client.resume(id, guard),
  check: assertPaused,
})

export const cancelJob = control({
  body: cancelBody,
  act: (client, id, body, guard) => client.cancel(id, body?.reason, guard),
})

export const retryJob = control({
  body: nothing,
  act: (client, id, _body, guard) => client.retry(id, guard),
})

/** Clears the lock of a holder that is gone. */
export const unlockJob = control({
  access: 'admin',
  body: nothing,
  act: (client, id, _body, guard) => client.release(id, guard),
})

function pauseOf(body: z.output<typeof pauseBody>) {
  const { until, note } = body ?? {}
  return {
    ...(until == null ? {} : { until: Date.parse(until) }),
    ...(note === undefined ? {} : { note }),
  }
}

function assertPaused(job: Job): void {
  const from = statusOf(job)
  if (from === 'paused') return
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot resume job ${shortId(job.id)}: it is ${from} and not paused, so it cannot become scheduled`,
    { details: { from, to: 'scheduled', allowed: [...transitions[from]] } },
  )
}

export const runAnswer = z
  .strictObject({ job_id: z.string(), run_id: z.string(), status: z.literal('queued') })
  .meta({ id: 'RunAsked' })

export const runJob = useCase({
  access: 'operator',
  family,
  params: jobParams,
  body: runBody,
  status: 202,
  result: runAnswer,
  handle: async call => {
    const { id } = call.params
    const given = call.body?.payload as Json | undefined
    return once(call, {
      answer: ({ runId }) => ({
        status: 202,
        body: { job_id: id, run_id: runId!, status: 'queued' },
        headers: { Location: `/api/v1/runs/${encodeURIComponent(runId!)}` },
      }),
      act: async client => {
        if (given === undefined) return client.run(id, {}, guardOf(call))
        const { spec } = await visibleJob(call, id)
        const payload = call.actions.givenPayload(spec, given, readerOf(call.caller))
        return client.run(id, { payload }, guardOf(call))
      },
    })
  },
})
