// Whether a body would be taken, without storing anything: declared jobs are compared, not applied.

import { CarillonError } from '../client/error.ts'
import type { Job, JobBody } from '../client/index.ts'
import type { Api } from './target/api.ts'

const PREFIX = /^jobs\.0\.job\./

/** Throws every problem, in the names of the body. */
export async function tryBody(
  client: Api,
  name: string,
  body: JobBody,
  signal: AbortSignal,
): Promise<void> {
  const { tenant, ...job } = body
  const whose = typeof tenant === 'string' ? { tenant } : {}
  const jobs = [{ definition: name, job }]
  try {
    await client.reconcile(
      { app: 'cli-dry-run', mode: 'plan', orphans: 'keep', jobs, ...whose },
      { signal },
    )
  } catch (error) {
    if (!(error instanceof CarillonError) || error.problems.length === 0) throw error
    const errors = error.problems.map(one => ({ ...one, field: one.field.replace(PREFIX, '') }))
    throw new CarillonError(error.status, { ...error.body, errors }, new Headers())
  }
}

/** The job as it would be: what is not said stays. */
export function mergedBody(job: Job, patch: JobBody): JobBody {
  const isFlat = job.source_id !== null || job.source_name !== null
  const own = isFlat
    ? {
        source_id: job.source_id,
        source_name: job.source_name,
        url: job.url ?? undefined,
        ...(patch.trigger === undefined
          ? {
              interval_minutes: job.interval_minutes,
              schedule_time: job.schedule_time,
              schedule_enabled: job.schedule_enabled,
            }
          : {}),
      }
    : {
        trigger: job.trigger,
        ...(job.action === null ? { handler: job.handler } : { action: job.action }),
      }
  const shared = { name: job.name, payload: job.payload, queue: job.queue, tags: job.tags }
  const isOther = patch.action !== undefined || patch.handler !== undefined
  const { action: _a, handler: _h, ...rest } = own as Readonly<Record<string, unknown>>
  return { ...shared, ...(isOther ? rest : own), ...patch } as JobBody
}
