// What will fire in a window, of all jobs of the caller.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { iso } from '../../../core/time.ts'
import { scopeOf, tenantPattern } from '../../auth/principal.ts'
import { ahead } from './fire-times.ts'
import { bucketSchema, bucketsOf, comingSchema, comingView, crowdsOf } from './view.ts'
import { windowOf, windowQuery } from './window.ts'
import { useCase } from '../call/use-case.ts'

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
    jobs: z.int().meta({ description: 'Due before `to`, counted, and those that run.' }),
    jobs_looked_at: z
      .int()
      .meta({ description: 'Jobs whose further firings are counted, those due first.' }),
    overdue: z
      .int()
      .meta({ description: 'Jobs that were due before `from` and have not started.' }),
    moments: z.int().meta({ description: 'Starts in the window, the sum of the buckets.' }),
    complete_until: z.iso.datetime().meta({
      description: 'Counts leave nothing out before it. After it they are the least there will be.',
    }),
    is_estimate: z.boolean().meta({
      description: 'Further firings of some jobs are left out after `complete_until`.',
    }),
    buckets: z.array(bucketSchema),
    crowds: z.array(bucketSchema).meta({
      description: 'The minutes in which most would start, of the first day of the window.',
    }),
  })
  .meta({ id: 'UpcomingOfAll' })

export const listUpcoming = useCase({
  access: 'viewer',
  query,
  result: answer,
  handle: async call => {
    const { limit, tenant } = call.query
    const window = windowOf(call.query, { now: call.engine.clock.now(), backMs: 0 })
    const scope = { ...(tenant === undefined ? {} : { tenant }), ...scopeOf(call.caller) }
    const found = await ahead(call.engine, { ...scope, ...window, max: limit + 1 })
    const { moments, buckets, completeUntil } = found
    const after = moments[limit]
    return {
      from: iso(window.from),
      to: iso(window.until),
      upcoming: moments.slice(0, limit).map(comingView),
      next_from: after === undefined ? null : iso(after.at),
      jobs: found.jobsTotal,
      jobs_looked_at: found.jobs.length,
      overdue: found.overdue,
      moments: buckets.counts.reduce((sum, count) => sum + count, 0),
      complete_until: iso(completeUntil),
      is_estimate: completeUntil < window.until,
      buckets: bucketsOf(buckets),
      crowds: crowdsOf(found.minutes),
    }
  },
})
