// Pausing and resuming a schedule, and what every change of one is guarded by.

import { shortId } from '../../core/short-id.ts'
import { z } from 'zod'
import type { Job } from '../../core/job.ts'
import type { Client, Guard } from '../../jobs/client.ts'
import { once } from '../app/idempotency.ts'
import type { Request, Routes } from '../app/parts.ts'
import type { HttpProblem } from '../app/problem.ts'
import { wrongState } from '../app/refusal.ts'
import { assertMatch } from '../app/revision.ts'
import { jobParams } from '../jobs/answer.ts'
import { assertSchedule } from './label.ts'
import { scheduleAnswer, scheduleSchema, scheduleStatus } from './view.ts'

const family = 'schedules'
const nothing = z.strictObject({}).optional()

/** Asked of the row the change is made from, so nothing slips in between. */
export function guardOf(request: Request, more: (job: Job) => void): Guard {
  return {
    check: job => {
      assertSchedule(request, job)
      assertMatch(request, job)
      more(job)
    },
  }
}

/** Names the state it is in. */
export function refused(job: Job, verb: string): HttpProblem {
  const status = scheduleStatus(job)
  return wrongState(family, `cannot ${verb} schedule ${shortId(job.id)}: it is ${status}`, {
    from: status,
  })
}

interface Verb {
  readonly name: 'pause' | 'resume'
  readonly summary: string
  readonly needs: 'active' | 'paused'
  readonly act: (client: Client, id: string, guard: Guard) => Promise<Job>
}

const verbs: readonly Verb[] = [
  {
    name: 'pause',
    summary: 'Nothing starts any more; a run under way may finish',
    needs: 'active',
    act: (client, id, guard) => client.pause(id, {}, guard),
  },
  {
    name: 'resume',
    summary: 'Go on one interval from now, with the same repeat and retry',
    needs: 'paused',
    act: (client, id, guard) => client.resume(id, guard),
  },
]

export const controlRoutes: Routes = (app, parts) => {
  const { actions } = parts
  for (const { name, summary, needs, act } of verbs) {
    app.route({
      method: 'POST',
      url: `/api/v1/schedules/:id/${name}`,
      config: { access: 'operator', family },
      schema: {
        tags: ['schedules'],
        summary,
        params: jobParams,
        body: nothing,
        response: { 200: scheduleSchema },
      },
      handler: async (request, reply) => {
        const guard = guardOf(request, job => {
          if (scheduleStatus(job) !== needs) throw refused(job, name)
        })
        return once(request, reply, parts, {
          answer: ({ after, now }) => scheduleAnswer(after!, actions, { now }),
          act: client => act(client, request.params.id, guard),
        })
      },
    })
  }
}
