// The client reads jobs in both forms at once; this is the one a job was made in.

import type { crawlOnly, nativeOnly } from '../service/compat/crawl-jobs/flat.ts'
import type { Job } from './types.ts'

const ofCrawls: Readonly<Record<(typeof crawlOnly)[number], true>> = {
  source_id: true,
  source_name: true,
  url: true,
  interval_minutes: true,
  interval_type: true,
  schedule_time: true,
  schedule_enabled: true,
  max_retries: true,
  retry_backoff_seconds: true,
}
const ofOthers: Readonly<Record<(typeof nativeOnly)[number], true>> = {
  trigger: true,
  handler: true,
  action: true,
  payload: true,
  retry: true,
}

/** Without the fields that only the other form has. */
export function inOwnForm(job: Job): Partial<Job> {
  const others = job.form === 'crawl' ? ofOthers : ofCrawls
  return Object.fromEntries(Object.entries(job).filter(([field]) => !Object.hasOwn(others, field)))
}
