// `POST /api/v1/jobs/:id/backfill`: runs for past firings of a schedule, which does not move.

import { z } from 'zod'
import { iso } from '../../core/time.ts'
import { requestBackfill } from '../../core/control/requests.ts'
import { once } from '../app/idempotency.ts'
import type { Routes } from '../app/parts.ts'
import { jobParams } from './answer.ts'
import { moment } from './texts.ts'
import { guardOf, visibleJob } from './scope.ts'

export const backfillBody = z
  .strictObject({
    from: moment,
    to: moment.optional().meta({ description: 'Now, if it is not said.' }),
    preview: z
      .boolean()
      .default(false)
      .meta({ description: 'Only count what would run; nothing is changed.' }),
  })
  .meta({ id: 'BackfillBody' })

export const backfillAnswer = z
  .strictObject({
    job_id: z.string(),
    run_id: z.string().nullable().meta({ description: 'The first of them; null in a preview.' }),
    count: z.int(),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
  })
  .meta({ id: 'Backfill' })

export const backfillRoutes: Routes = (app, parts) => {
  const { engine } = parts
  app.route({
    method: 'POST',
    url: '/api/v1/jobs/:id/backfill',
    config: { access: 'operator', family: 'jobs' },
    schema: {
      tags: ['jobs'],
      summary: 'Run the past firings between two moments, one after the other',
      params: jobParams,
      body: backfillBody,
      response: { 200: backfillAnswer, 202: backfillAnswer },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const now = engine.clock.now()
      const from = Date.parse(request.body.from)
      const to = request.body.to === undefined ? now : Date.parse(request.body.to)
      const job = await visibleJob(request, parts, id)
      guardOf(request).check!(job)
      // Decided once beforehand: the answer is written together with the deed and says how many.
      const { count } = requestBackfill(job, { id: 'preview', from, to }, now)
      const body = { job_id: id, run_id: null, count, from: iso(from), to: iso(to) }
      if (request.body.preview) return reply.code(200).send(body)
      return once(request, reply, parts, {
        answer: ({ runId }) => ({ status: 202, body: { ...body, run_id: runId } }),
        act: client => client.backfill(id, { from, to }, guardOf(request)),
      })
    },
  })
}
