// What every use case that ends with a job answers.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { type Answer, withEtag } from '../call/answer.ts'
import type { Call } from '../call/call.ts'
import { readerOf } from '../../auth/principal.ts'
import { inForm, type AskedForm } from '../../compat/crawl-jobs/flat.ts'
import { jobView } from './view.ts'

export const jobParams = z.object({ id: z.string().min(1).max(limits.idLength) })

export function jobAnswer(call: Call, job: Job, status = 200): Answer {
  const { form } = (call.query ?? {}) as { readonly form?: AskedForm }
  const view = jobView(job, call.actions, readerOf(call.caller))
  return withEtag(job, inForm(view, form), status)
}
