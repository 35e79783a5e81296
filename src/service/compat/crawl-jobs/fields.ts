// The columns of the crawl jobs' table, as callers write and read them (B1, B2, B6, B17). What each
// of them means for the spec of a job is said in `spec.ts`.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { cronExpression, whole } from '../../use-cases/jobs/fields.ts'
import { text } from '../../use-cases/jobs/texts.ts'
import { intervalTypes } from './flat.ts'

const URL_LENGTH_MAX = 2_048
const BACKOFF_SECONDS_MAX = 3_600

const url = text(URL_LENGTH_MAX).refine(
  value => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  'must be an http or https address',
)

export const crawlBody = {
  source_id: text(limits.nameLength).nullable(),
  source_name: text(limits.nameLength).nullable(),
  url,
  interval_minutes: whole(1, 527_040)
    .nullable()
    .meta({ description: 'A plain count in the unit interval_type.' }),
  interval_type: z.enum(intervalTypes, { error: 'must be one of minutes, hours, days' }),
  schedule_time: cronExpression.nullable().meta({ description: 'Extended cron in UTC.' }),
  schedule_enabled: z.boolean('must be true or false'),
  max_retries: whole(0, limits.retryMax),
  retry_backoff_seconds: whole(0, BACKOFF_SECONDS_MAX),
}

export const crawlView = {
  source_id: z.string().nullable(),
  source_name: z.string().nullable(),
  url: z.string().nullable(),
  interval_minutes: z.int().nullable(),
  interval_type: z.string().nullable(),
  schedule_time: z.string().nullable(),
  schedule_enabled: z.boolean(),
  max_retries: z.int().nullable(),
  retry_backoff_seconds: z.number().nullable(),
}
