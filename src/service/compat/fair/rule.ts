// What users and tenants may be given: turns, runs at once, starts per time.

import { z } from 'zod'
import { laneLimits, type LaneRule } from '../../../core/fairness/lane.ts'
import { seconds, whole } from '../../use-cases/jobs/fields.ts'

export const ruleFields = {
  weight: whole(1, laneLimits.weightMax).meta({ description: 'Turns per round; 1 as a rule.' }),
  concurrency_limit: whole(1, laneLimits.runningMax)
    .nullable()
    .meta({ description: 'Tasks at once over all queues.' }),
  rate: z
    .strictObject({
      limit: whole(1, laneLimits.rateCountMax),
      per_seconds: seconds(laneLimits.ratePerMsMin / 1_000, laneLimits.ratePerMsMax / 1_000),
    })
    .nullable()
    .meta({ description: 'Starts: so many at once, and so many per time in the long run.' }),
}

export const ruleBody = z.strictObject({
  weight: ruleFields.weight.default(1),
  concurrency_limit: ruleFields.concurrency_limit.default(null),
  rate: ruleFields.rate.default(null),
})

export const ruleSchema = z.strictObject(ruleFields)

export function ruleOf(body: z.output<typeof ruleBody>): LaneRule {
  const { weight, concurrency_limit: runningMax, rate } = body
  const perMs = rate && Math.round(rate.per_seconds * 1_000)
  return { weight, runningMax, rate: rate && { count: rate.limit, perMs: perMs! } }
}

export function ruleView({ weight, runningMax, rate }: LaneRule): z.output<typeof ruleSchema> {
  return {
    weight,
    concurrency_limit: runningMax,
    rate: rate && { limit: rate.count, per_seconds: rate.perMs / 1_000 },
  }
}
