// ETag and If-Match: the revision of a job, which grows with edits and control actions only.

import type { Job } from '../../../core/job.ts'
import type { AppParts, Request } from '../../http/app/parts.ts'
import { HttpProblem } from './problem.ts'

export function etagOf({ revision }: Pick<Job, 'revision'>): string {
  return `"${revision}"`
}

/** Throws when the caller means another revision than the one at hand. */
export function assertMatch(request: Request, job: Pick<Job, 'revision'>): void {
  const given = request.headers['if-match']
  if (given === undefined || given.trim() === '*') return
  const tags = given.split(',').map(tag => tag.trim())
  if (tags.includes(etagOf(job))) return
  throw new HttpProblem('precondition-failed', `it is at revision ${job.revision}`, {
    fields: { revision: job.revision },
  })
}

/** For edits and deletions where the settings ask for it. */
export function assertMatchGiven(request: Request, { settings }: AppParts): void {
  if (!settings.requiresIfMatch || request.headers['if-match'] !== undefined) return
  throw new HttpProblem('precondition-required', 'send If-Match with the ETag you have read')
}
