// Shows which cron times of crawl jobs would become intervals, and changes them when told to.

import { z } from 'zod'
import { iso } from '../../../core/time.ts'
import { scopeOf } from '../../auth/principal.ts'
import { clientOf } from '../../use-cases/call/client.ts'
import { useCase } from '../../use-cases/call/use-case.ts'
import { contextOf, editedSpec } from '../../use-cases/jobs/spec.ts'
import { flatOf } from './flat.ts'
import { findCronJobs, fromCronAnswer } from './from-cron.ts'

export const turnCronIntoIntervals = useCase({
  access: 'admin',
  family: 'jobs',
  body: z.strictObject({ apply: z.boolean().default(false) }).optional(),
  result: fromCronAnswer,
  keeps: true,
  handle: async call => {
    const { engine, caller } = call
    const applied = call.body?.apply ?? false
    const found = await findCronJobs(engine.store, scopeOf(caller), engine.clock.now())
    const client = clientOf(call)
    const converted = []
    for (const { job, interval, anchor, nextAt } of found.convertible) {
      const context = { ...contextOf(call), anchor }
      if (applied) await client.edit(job.id, spec => editedSpec(spec, interval, context))
      const { schedule_time } = flatOf(job.spec.metadata)!
      converted.push({
        id: job.id,
        schedule_time: schedule_time!,
        ...interval,
        next_run_at: iso(nextAt),
      })
    }
    const review = found.review.map(one => ({ ...one }))
    return { applied, converted, review, is_complete: found.isComplete }
  },
})
