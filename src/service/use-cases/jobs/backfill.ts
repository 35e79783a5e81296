// Runs for past firings of a schedule, which does not move.

import { z } from 'zod'
import { iso } from '../../../core/time.ts'
import { requestBackfill } from '../../../core/control/requests.ts'
import { once } from '../call/idempotency.ts'
import { Answer } from '../call/answer.ts'
import { useCase } from '../call/use-case.ts'
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

export const backfillJob = useCase({
  access: 'operator',
  family: 'jobs',
  params: jobParams,
  body: backfillBody,
  status: 202,
  otherStatuses: [200],
  result: backfillAnswer,
  handle: async call => {
    const { id } = call.params
    const now = call.engine.clock.now()
    const from = Date.parse(call.body.from)
    const to = call.body.to === undefined ? now : Date.parse(call.body.to)
    const job = await visibleJob(call, id)
    guardOf(call).check!(job)
    // Decided once beforehand: the answer is written together with the deed and says how many.
    const { count } = requestBackfill(job, { id: 'preview', from, to }, now)
    const body = { job_id: id, run_id: null, count, from: iso(from), to: iso(to) }
    if (call.body.preview) return new Answer(200, body)
    return once(call, {
      answer: ({ runId }) => ({ status: 202, body: { ...body, run_id: runId } }),
      act: client => client.backfill(id, { from, to }, guardOf(call)),
    })
  },
})
