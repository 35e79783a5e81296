// What people do to a run: cancel it, run its occurrence again, run its job with another payload.

import { z } from 'zod'
import { runId, type Job } from '../../core/job.ts'
import type { Json } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import { Client } from '../../engine/client.ts'
import type { Engine } from '../../engine/engine.ts'
import { once, type Answer } from '../app/idempotency.ts'
import type { App, AppParts, Reply, Request, Routes } from '../app/parts.ts'
import { callerOf } from '../auth/access.ts'
import { maySee } from '../auth/principal.ts'
import { text } from '../jobs/fields.ts'
import { noRun, visibleRun, waitingTask, type FoundRun } from './find.ts'

export const runParams = z.object({
  id: z
    .string()
    .min(1)
    .max(limits.idLength + 20),
})

const cancelBody = z.strictObject({ reason: text(limits.noteLength).optional() }).optional()
const replayBody = z.strictObject({
  payload: z.unknown().meta({ description: 'Any JSON of at most 64 KiB.' }),
})
const nothing = z.strictObject({}).optional()

const askedAnswer = z
  .strictObject({
    job_id: z.string(),
    run_id: z.string(),
    status: z.literal('queued'),
    retry_of: z.string().nullable(),
  })
  .meta({ id: 'RunAgain' })

const cancelAnswer = z
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
        // A task nobody claimed yet is cancelled as a whole: it is this run and nothing else.
        act: client =>
          waitingTask(job) === null
            ? client.cancelRun(id, reason)
            : client.cancel(job.id, reason, visible(request)),
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
    handler: async (request, reply) =>
      retry(request, reply, parts, await visibleRun(request, parts, request.params.id)),
  })
}

async function retry(
  request: Request,
  reply: Reply,
  parts: AppParts,
  { job, run }: FoundRun,
): Promise<Reply> {
  const { engine } = parts
  const requestId = engine.ids.next(engine.clock.now())
  const known = { ...parts, engine: { ...engine, client: askingAs(engine, requestId) } }
  return once(request, reply, known, {
    answer: ({ after }) => {
      const isBehind = after!.requests.some(held => held.id === requestId)
      const row = isBehind ? job.id : `${job.id}@${requestId}`
      return asked(job, runId(row, after!.counters.runs), run.id)
    },
    act: client => client.retryRun(run.id),
  })
}

/** Verbs whose request has this id: the answer is written with the deed and names the new run. */
function askingAs(engine: Engine, requestId: string): Client {
  const { store, clock, ids, events, settings, node } = engine
  return new Client({
    store,
    clock,
    ids: { next: () => requestId, token: () => ids.token() },
    events,
    waitingMax: settings.waitingMax,
    notice: queues => node.notice(queues),
    lookNow: () => node.lookNow(),
  })
}

function replayRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/runs/:id/replay',
    config,
    schema: {
      tags: ['runs'],
      summary: 'A new run of its job with this payload',
      params: runParams,
      body: replayBody,
      response: { 202: askedAnswer },
    },
    handler: async (request, reply) => {
      const { job } = await visibleRun(request, parts, request.params.id)
      // A task is over with its run: what can run again is the job it came from.
      const id = job.seriesId ?? job.id
      const payload = request.body.payload as Json
      return once(request, reply, parts, {
        answer: ({ runId: made }) => asked(job, made!, null),
        act: client => client.run(id, { payload }, visible(request)),
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
