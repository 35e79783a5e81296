// What every route that ends with a job answers.

import { z } from 'zod'
import type { Job } from '../../core/job.ts'
import type { Json } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import type { Answer } from '../app/idempotency.ts'
import type { AppParts } from '../app/parts.ts'
import { etagOf } from '../app/revision.ts'
import { jobView } from './view.ts'

export const jobParams = z.object({ id: z.string().min(1).max(limits.idLength) })

export function jobAnswer(job: Job, { actions }: AppParts, status = 200): Answer {
  const body = jobView(job, actions) as unknown as Json
  return { status, body, headers: { ETag: etagOf(job) } }
}
