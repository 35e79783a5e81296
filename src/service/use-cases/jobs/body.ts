// What a caller may say about a job: the flat fields of crawl jobs, or the native form.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import {
  missedSchema,
  overlapSchema,
  priority,
  retrySchema,
  seconds,
  triggerSchema,
  whole,
} from './fields.ts'
import { moment, text } from './texts.ts'
import { crawlBody } from '../../compat/crawl-jobs/fields.ts'
import { RESERVED } from '../../compat/crawl-jobs/flat.ts'
import { readOnlyFields } from './view.ts'

const DAY_SECONDS = 86_400

const metadata = z
  .record(z.string(), z.unknown(), { error: 'must be an object' })
  .refine(
    value => !Object.keys(value).some(key => key.startsWith(RESERVED)),
    `must have no key that begins with ${RESERVED}`,
  )

/** It came as JSON, so it is JSON; how large it may be is said by the core. */
const json = z.unknown().meta({ description: 'Any JSON of at most 64 KiB.' })

const native = {
  name: text(limits.nameLength),
  trigger: triggerSchema,
  handler: text(limits.nameLength),
  action: z.looseObject({ kind: z.string() }, { error: 'must be an object with a kind' }),
  payload: json,
  user_id: text(100).nullable().meta({ description: 'The lane: users of a tenant take turns.' }),
  priority,
  queue: text(limits.nameLength),
  retry: retrySchema,
  timeout_seconds: seconds(0.001, limits.timeoutMsMax / 1_000).nullable(),
  overlap: overlapSchema,
  missed: missedSchema,
  first: z.enum(['next', 'now', 'ifDue']),
  start_at: moment.nullable(),
  end_at: moment.nullable(),
  run_limit: whole(1, limits.runLimitMax).nullable(),
  jitter_seconds: seconds(0, 366 * DAY_SECONDS),
  grace_seconds: seconds(0, 366 * DAY_SECONDS),
  late_limit_seconds: seconds(0, 3_660 * DAY_SECONDS).nullable(),
  retention: z.strictObject({
    attempts: whole(0, limits.retainedAttemptsMax),
    age_seconds: seconds(0, limits.retainedMsMax / 1_000),
    payloads: z
      .boolean()
      .optional()
      .meta({ description: 'False keeps no payloads that runs were given of their own.' }),
  }),
  tags: z.array(text(limits.nameLength)).max(limits.tags),
  metadata,
}

const readOnly = Object.fromEntries(
  readOnlyFields.map(field => [
    field,
    z.unknown().optional().meta({ readOnly: true, description: 'Given by the service.' }),
  ]),
) as Record<(typeof readOnlyFields)[number], z.ZodOptional<z.ZodUnknown>>

/** Everything is optional here: what a new job needs is said by `neededProblems`. */
const jobFields = z
  .strictObject({ ...crawlBody, ...native })
  .partial()
  .extend(readOnly)

export const jobBody = jobFields.meta({
  id: 'JobBody',
  description:
    'Either the flat fields (url with source_id or source_name, interval_minutes, …) or the ' +
    'native form (trigger with action or handler). Fields given by the service may be repeated ' +
    'with their present value.',
})

export type JobBody = z.output<typeof jobBody>
