// `/api/v1/upcoming`: what will fire in a window, of all jobs of the caller.

import { z } from 'zod'
import { limits } from '../../core/limits.ts'
import { iso } from '../../core/time.ts'
import type { Routes } from '../app/parts.ts'
import { callerOf } from '../auth/access.ts'
import { scopeOf, tenantPattern } from '../auth/principal.ts'
import { ahead } from './moments.ts'
import { bucketSchema, comingSchema, comingView, crowdsOf, densityOf } from './view.ts'
import { windowOf, windowQuery } from './window.ts'

export const query = windowQuery.extend({
  limit: z.coerce.number().int().min(1).max(limits.pageMax).default(50),
  tenant: z.string().regex(tenantPattern, 'must be the name of a tenant').optional(),
})

export const answer = z
  .strictObject({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    upcoming: z.array(comingSchema),
    next_from: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'Give it back as from to go on; null when all are shown.' }),
    jobs: z.int(),
    moments: z.int(),
    complete_until: z.iso.datetime().meta({ description: 'Counts leave nothing out before it.' }),
    buckets: z.array(bucketSchema),
    crowds: z.array(bucketSchema).meta({ description: 'The minutes in which most would start.' }),
  })
  .meta({ id: 'UpcomingOfAll' })

export const upcomingRoutes: Routes = (app, { engine }) => {
  app.route({
    method: 'GET',
    url: '/api/v1/upcoming',
    config: { access: 'viewer' },
    schema: {
      tags: ['time'],
      summary: 'What will fire in a window, of all jobs, and when it gets crowded',
      querystring: query,
      response: { 200: answer },
    },
    handler: async request => {
      const { limit, tenant } = request.query
      const window = windowOf(request.query, { now: engine.clock.now(), backMs: 0 })
      const scope = { ...(tenant === undefined ? {} : { tenant }), ...scopeOf(callerOf(request)) }
      const { moments, jobs, completeUntil } = await ahead(engine, { ...scope, ...window })
      const after = moments[limit]
      return {
        from: iso(window.from),
        to: iso(window.until),
        upcoming: moments.slice(0, limit).map(comingView),
        next_from: after === undefined ? null : iso(after.at),
        jobs,
        moments: moments.length,
        complete_until: iso(completeUntil),
        buckets: densityOf(moments, window),
        crowds: crowdsOf(moments),
      }
    },
  })
}
