// What a dashboard opens with: what needs a look, the last hours, the marks of many jobs at once.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { maySee, scopeOf } from '../../auth/principal.ts'
import { heartbeatOf } from '../jobs/heartbeat.ts'
import { slotSchema } from '../jobs/slot.ts'
import { activityAnswer, activityOf, activityQuery, type Activity } from './activity.ts'
import { attentionAnswer, attentionOf } from './attention.ts'
import { SlowAnswers } from './slow-answers.ts'
import { PerEngine } from '../call/per-engine.ts'
import { useCase } from '../call/use-case.ts'

const toViewers = { access: 'viewer' } as const
const JOBS_MAX = 50

export const heartbeatsAnswer = z
  .strictObject({
    heartbeats: z.array(z.strictObject({ job_id: z.string(), slots: z.array(slotSchema) })),
  })
  .meta({ id: 'Heartbeats' })

const activities = new PerEngine(engine => new SlowAnswers<Activity>(engine.clock))

export const listFindings = useCase({
  ...toViewers,
  result: attentionAnswer,
  handle: async call => ({
    findings: await attentionOf(call.engine, scopeOf(call.caller)),
  }),
})
export const getActivity = useCase({
  ...toViewers,
  query: activityQuery,
  result: activityAnswer,
  handle: async call => {
    const asked = { hours: call.query.hours, ...scopeOf(call.caller) }
    return activities
      .of(call.engine)
      .get(JSON.stringify(asked), () => activityOf(call.engine, asked))
  },
})

export const listHeartbeats = useCase({
  ...toViewers,
  query: z.object({
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
  result: heartbeatsAnswer,
  handle: async call => {
    const { jobs: ids, slots } = call.query
    const { caller, engine } = call
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
