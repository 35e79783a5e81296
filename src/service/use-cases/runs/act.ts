// What people do to a run: cancel it, run its occurrence again, run its job with another payload.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import type { AnswerParts } from '../call/answer.ts'
import type { Call } from '../call/call.ts'
import { once } from '../call/idempotency.ts'
import { useCase } from '../call/use-case.ts'
import { maySee, readerOf } from '../../auth/principal.ts'
import { text } from '../jobs/texts.ts'
import { noRun, visibleRun } from './find.ts'

export const runParams = z.object({
  id: z
    .string()
    .min(1)
    .max(limits.idLength + 20),
})

const cancelBody = z.strictObject({ reason: text(limits.noteLength).optional() }).optional()
const replayBody = z.strictObject({
  payload: z
    .unknown()
    .optional()
    .meta({ description: 'Any JSON of at most 64 KiB; by default that of the run.' }),
})
const nothing = z.strictObject({}).optional()

export const askedAnswer = z
  .strictObject({
    job_id: z.string(),
    run_id: z.string(),
    status: z.literal('queued'),
    retry_of: z.string().nullable(),
  })
  .meta({ id: 'RunAgain' })

export const cancelAnswer = z
  .strictObject({ job_id: z.string(), run_id: z.string(), status: z.literal('cancelled') })
  .meta({ id: 'RunCancelled' })

const toOperators = { access: 'operator' } as const

export const cancelRun = useCase({
  ...toOperators,
  params: runParams,
  body: cancelBody,
  result: cancelAnswer,
  handle: async call => {
    const { id } = call.params
    const { job } = await visibleRun(call, id)
    const reason = call.body?.reason
    const body = { job_id: job.seriesId ?? job.id, run_id: id, status: 'cancelled' }
    return once(call, {
      answer: () => ({ status: 200, body }),
      act: client => client.cancelRun(id, reason, visible(call)),
    })
  },
})

function visible(call: Call) {
  return {
    check: (job: Job) => {
      if (!maySee(call.caller, job.spec.tenant)) throw noRun()
    },
  }
}

export const retryRun = useCase({
  ...toOperators,
  params: runParams,
  body: nothing,
  status: 202,
  result: askedAnswer,
  handle: async call => {
    const { job, run } = await visibleRun(call, call.params.id)
    return once(call, {
      answer: ({ runId }) => asked(job, runId!, run.id),
      act: client => client.retryRun(run.id, visible(call)),
    })
  },
})

export const replayRun = useCase({
  ...toOperators,
  params: runParams,
  body: replayBody,
  status: 202,
  result: askedAnswer,
  handle: async call => {
    const { job, run } = await visibleRun(call, call.params.id)
    // A task is over with its run: what can run again is the job it came from.
    const id = job.seriesId ?? job.id
    const given = call.body.payload as Json | undefined
    return once(call, {
      answer: ({ runId: made }) => asked(job, made!, null),
      act: async client => {
        const payload =
          given === undefined
            ? await client.payloadToReplay(run.id)
            : call.actions.givenPayload(job.spec, given, readerOf(call.caller))
        return client.run(id, { payload }, visible(call))
      },
    })
  },
})

function asked(job: Job, id: string, retryOf: string | null): AnswerParts {
  return {
    status: 202,
    body: { job_id: job.seriesId ?? job.id, run_id: id, status: 'queued', retry_of: retryOf },
    headers: { Location: `/api/v1/runs/${encodeURIComponent(id)}` },
  }
}
