// `POST /api/v1/jobs/from-cron`: shows what would become intervals, and does it when told to.

import { z } from 'zod'
import { iso } from '../../../core/time.ts'
import { clientOf, onceKept } from '../../use-cases/call/idempotency.ts'
import type { Routes } from '../../http/app/parts.ts'
import { callerOf } from '../../auth/access.ts'
import { scopeOf } from '../../auth/principal.ts'
import { flatOf } from './flat.ts'
import { findCronJobs, fromCronAnswer } from './from-cron.ts'
import { contextOf } from '../../use-cases/jobs/spec-context.ts'
import { editedSpec } from '../../use-cases/jobs/spec.ts'

export const fromCronRoutes: Routes = (app, parts) => {
  const { engine } = parts
  app.route({
    method: 'POST',
    url: '/api/v1/jobs/from-cron',
    config: { access: 'admin', family: 'jobs' },
    schema: {
      tags: ['jobs'],
      summary: 'Turn cron times into intervals where they mean the same',
      body: z.strictObject({ apply: z.boolean().default(false) }).optional(),
      response: { 200: fromCronAnswer },
    },
    handler: async (request, reply) =>
      onceKept(request, reply, parts, async () => {
        const apply = request.body?.apply ?? false
        const scope = scopeOf(callerOf(request))
        const now = engine.clock.now()
        const { convertible, review, isComplete } = await findCronJobs(engine.store, scope, now)
        const client = clientOf(request, parts)
        const converted = []
        for (const { job, interval, anchor, nextAt } of convertible) {
          const context = { ...contextOf(request, parts), anchor }
          if (apply) await client.edit(job.id, spec => editedSpec(spec, interval, context))
          const { schedule_time } = flatOf(job.spec.metadata)!
          converted.push({
            id: job.id,
            schedule_time: schedule_time!,
            ...interval,
            next_run_at: iso(nextAt),
          })
        }
        const body = {
          applied: apply,
          converted,
          review: review.map(one => ({ ...one })),
          is_complete: isComplete,
        }
        return { status: 200, body }
      }),
  })
}
