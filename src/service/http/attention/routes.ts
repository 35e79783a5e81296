// What a dashboard opens with: what needs a look, the last hours, the marks of many jobs at once.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import type { App, AppParts, Routes } from '../app/parts.ts'
import { callerOf } from '../../auth/access.ts'
import { maySee, scopeOf } from '../../auth/principal.ts'
import { heartbeatOf } from '../../use-cases/jobs/heartbeat.ts'
import { slotSchema } from '../../use-cases/jobs/slot.ts'
import {
  activityAnswer,
  activityOf,
  activityQuery,
  type Activity,
} from '../../use-cases/overview/activity.ts'
import { attentionAnswer, attentionOf } from '../../use-cases/overview/attention.ts'
import { SlowAnswers } from '../../use-cases/overview/slow-answers.ts'

const config = { access: 'viewer' } as const
const JOBS_MAX = 50

export const heartbeatsAnswer = z
  .strictObject({
    heartbeats: z.array(z.strictObject({ job_id: z.string(), slots: z.array(slotSchema) })),
  })
  .meta({ id: 'Heartbeats' })

export const overviewRoutes: Routes = (app, parts) => {
  const { engine } = parts
  const activities = new SlowAnswers<Activity>(engine.clock)
  app.route({
    method: 'GET',
    url: '/api/v1/attention',
    config,
    schema: {
      tags: ['system'],
      summary: 'What a person should look at',
      response: { 200: attentionAnswer },
    },
    handler: async request => ({
      findings: await attentionOf(engine, scopeOf(callerOf(request))),
    }),
  })
  app.route({
    method: 'GET',
    url: '/api/v1/activity',
    config,
    schema: {
      tags: ['system'],
      summary: 'How runs ended in the last hours, and how late they began',
      querystring: activityQuery,
      response: { 200: activityAnswer },
    },
    handler: async request => {
      const asked = { hours: request.query.hours, ...scopeOf(callerOf(request)) }
      return activities.get(JSON.stringify(asked), () => activityOf(engine, asked))
    },
  })
  heartbeatsRoute(app, parts)
}

function heartbeatsRoute(app: App, { engine }: AppParts): void {
  app.route({
    method: 'GET',
    url: '/api/v1/heartbeats',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'The newest decisions of several jobs at once',
      querystring: z.object({
        jobs: z
          .string()
          .min(1)
          .max(JOBS_MAX * (limits.idLength + 1))
          .transform(text => [...new Set(text.split(','))])
          .refine(ids => ids.length <= JOBS_MAX, `must name at most ${JOBS_MAX} jobs`)
          .meta({
            description: `A comma list of at most ${JOBS_MAX} ids; unknown ones are left out.`,
          }),
        slots: z.coerce.number().int().min(1).max(60).default(30),
      }),
      response: { 200: heartbeatsAnswer },
    },
    handler: async request => {
      const { jobs: ids, slots } = request.query
      const caller = callerOf(request)
      const jobs = (await engine.store.get(ids)).filter(
        job => job.kind === 'job' && maySee(caller, job.spec.tenant),
      )
      const heartbeats = []
      for (const job of jobs) {
        heartbeats.push({ job_id: job.id, slots: await heartbeatOf(engine.store, job, slots) })
      }
      return { heartbeats }
    },
  })
}
