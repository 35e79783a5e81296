// What every route that ends with a job answers.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import type { Answer } from '../call/idempotency.ts'
import type { AppParts, Request } from '../../http/app/parts.ts'
import { etagOf } from '../call/revision.ts'
import { callerOf } from '../../auth/access.ts'
import { readerOf } from '../../auth/principal.ts'
import { inForm, type AskedForm } from '../../compat/crawl-jobs/forms.ts'
import { jobView } from './view.ts'

export const jobParams = z.object({ id: z.string().min(1).max(limits.idLength) })

export function jobAnswer(request: Request, job: Job, { actions }: AppParts, status = 200): Answer {
  const { form } = request.query as { readonly form?: AskedForm }
  const body = inForm(jobView(job, actions, readerOf(callerOf(request))), form) as unknown as Json
  return { status, body, headers: { ETag: etagOf(job) } }
}
