// ETag and If-Match: the revision of a job, which grows with edits and control actions only.

import type { Job } from '../../../core/job.ts'
import { etagOf } from './answer.ts'
import type { Call } from './call.ts'
import { HttpProblem } from './problem.ts'

/** Throws when the caller means another revision than the one at hand. */
export function assertMatch({ ifMatch }: Call, job: Pick<Job, 'revision'>): void {
  if (ifMatch === null || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map(tag => tag.trim())
  if (tags.includes(etagOf(job))) return
  throw new HttpProblem('precondition-failed', `it is at revision ${job.revision}`, {
    fields: { revision: job.revision },
  })
}

/** For edits and deletions where the settings ask for it. */
export function assertMatchGiven({ settings, ifMatch }: Call): void {
  if (!settings.requiresIfMatch || ifMatch !== null) return
  throw new HttpProblem('precondition-required', 'send If-Match with the ETag you have read')
}
