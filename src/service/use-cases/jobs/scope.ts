// Whose job it is: what belongs to another tenant is not there, in the same words as the unknown.

import { shortId } from '../../../core/short-id.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import type { Guard } from '../../../jobs/client.ts'
import type { Call } from '../call/call.ts'
import { assertMatch } from '../call/revision.ts'
import { maySee } from '../../auth/principal.ts'

export function noJob(id: string): SchedulerError {
  return new SchedulerError('JOB_NOT_FOUND', `there is no job ${shortId(id)}`, { details: { id } })
}

/** Throws unless the caller may know of it; tasks are not jobs. */
export function assertVisible({ caller }: Call, job: Job): void {
  if (job.kind !== 'job' || !maySee(caller, job.spec.tenant)) throw noJob(job.id)
}

export async function visibleJob(call: Call, id: string): Promise<Job> {
  const job = await call.engine.client.get(id)
  assertVisible(call, job)
  return job
}

/** Asked of the row the change is made from, so nothing slips in between. */
export function guardOf(call: Call, more?: (job: Job) => void): Guard {
  return {
    check: job => {
      assertVisible(call, job)
      assertMatch(call, job)
      more?.(job)
    },
  }
}

/** What is declared in code is changed there; a row a program added while running is not. */
export function assertNotDeclared(job: Job): void {
  if (job.declared === null || job.declared.source === 'runtime') return
  const { app, definition } = job.declared
  throw new SchedulerError('JOB_DECLARED', `job ${shortId(job.id)} is declared in code by ${app}`, {
    details: { app, definition },
  })
}
