// What people do to a run: cancel it, run its occurrence again, run its job with another payload.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { once, type Answer } from '../call/idempotency.ts'
import type { App, AppParts, Request, Routes } from '../../http/app/parts.ts'
import { callerOf } from '../../auth/access.ts'
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

const config = { access: 'operator' } as const

export const runActRoutes: Routes = (app, parts) => {
  cancelRoute(app, parts)
  retryRoute(app, parts)
  replayRoute(app, parts)
}

function cancelRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/runs/:id/cancel',
    config,
    schema: {
      tags: ['runs'],
      summary: 'End one run; the schedule goes on',
      params: runParams,
      body: cancelBody,
      response: { 200: cancelAnswer },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const { job } = await visibleRun(request, parts, id)
      const reason = request.body?.reason
      const body = { job_id: job.seriesId ?? job.id, run_id: id, status: 'cancelled' }
      return once(request, reply, parts, {
        answer: () => ({ status: 200, body }),
        act: client => client.cancelRun(id, reason, visible(request)),
      })
    },
  })
}

function visible(request: Request) {
  return {
    check: (job: Job) => {
      if (!maySee(callerOf(request), job.spec.tenant)) throw noRun()
    },
  }
}

function retryRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/runs/:id/retry',
    config,
    schema: {
      tags: ['runs'],
      summary: 'A new run of the same occurrence; the old one stays as it is',
      params: runParams,
      body: nothing,
      response: { 202: askedAnswer },
    },
    handler: async (request, reply) => {
      const { job, run } = await visibleRun(request, parts, request.params.id)
      return once(request, reply, parts, {
        answer: ({ runId }) => asked(job, runId!, run.id),
        act: client => client.retryRun(run.id, visible(request)),
      })
    },
  })
}

function replayRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/runs/:id/replay',
    config,
    schema: {
      tags: ['runs'],
      summary: 'A new run of its job with this payload, by default that of the run',
      params: runParams,
      body: replayBody,
      response: { 202: askedAnswer },
    },
    handler: async (request, reply) => {
      const { job, run } = await visibleRun(request, parts, request.params.id)
      // A task is over with its run: what can run again is the job it came from.
      const id = job.seriesId ?? job.id
      const given = request.body.payload as Json | undefined
      return once(request, reply, parts, {
        answer: ({ runId: made }) => asked(job, made!, null),
        act: async client => {
          const payload =
            given === undefined
              ? await client.payloadToReplay(run.id)
              : parts.actions.givenPayload(job.spec, given, readerOf(callerOf(request)))
          return client.run(id, { payload }, visible(request))
        },
      })
    },
  })
}

function asked(job: Job, id: string, retryOf: string | null): Answer {
  return {
    status: 202,
    body: { job_id: job.seriesId ?? job.id, run_id: id, status: 'queued', retry_of: retryOf },
    headers: { Location: `/api/v1/runs/${encodeURIComponent(id)}` },
  }
}
