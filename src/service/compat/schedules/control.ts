// Pausing and resuming a schedule, and what every change of one is guarded by.

import { shortId } from '../../../core/short-id.ts'
import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import type { Client, Guard } from '../../../jobs/client.ts'
import { once } from '../../use-cases/call/idempotency.ts'
import type { HttpProblem } from '../../use-cases/call/problem.ts'
import { wrongState } from '../../use-cases/call/refusal.ts'
import { assertMatch } from '../../use-cases/call/revision.ts'
import { jobParams } from '../../use-cases/jobs/answer.ts'
import { assertSchedule } from './label.ts'
import { scheduleAnswer, scheduleSchema, scheduleStatus } from './view.ts'
import type { Call } from '../../use-cases/call/call.ts'
import { useCase } from '../../use-cases/call/use-case.ts'

const family = 'schedules'
const nothing = z.strictObject({}).optional()

/** Asked of the row the change is made from, so nothing slips in between. */
export function guardOf(call: Call, more: (job: Job) => void): Guard {
  return {
    check: job => {
      assertSchedule(call, job)
      assertMatch(call, job)
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

interface Control {
  readonly verb: 'pause' | 'resume'
  readonly needs: 'active' | 'paused'
  readonly act: (client: Client, id: string, guard: Guard) => Promise<Job>
}

function control({ verb, needs, act }: Control) {
  return useCase({
    access: 'operator',
    family,
    params: jobParams,
    body: nothing,
    result: scheduleSchema,
    handle: async call => {
      const guard = guardOf(call, job => {
        if (scheduleStatus(job) !== needs) throw refused(job, verb)
      })
      return once(call, {
        answer: ({ after, now }) => scheduleAnswer(after!, call.actions, { now }),
        act: client => act(client, call.params.id, guard),
      })
    },
  })
}

export const pauseSchedule = control({
  verb: 'pause',
  needs: 'active',
  act: (client, id, guard) => client.pause(id, {}, guard),
})

/** With the same repeat and retry. */
export const resumeSchedule = control({
  verb: 'resume',
  needs: 'paused',
  act: (client, id, guard) => client.resume(id, guard),
})
