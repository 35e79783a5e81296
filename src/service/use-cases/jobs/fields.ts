// The fields a job takes and gives that have a form of their own on the wire: times, triggers,
// policies. Durations are seconds where the name says so.

import { z } from 'zod'
import { CronError, parseCron } from '../../../cron/index.ts'
import { limits } from '../../../core/limits.ts'
import { priorityNames, type Priority } from '../../../core/spec.ts'
import { parseDuration } from '../../../core/time.ts'
import { moment, text } from './texts.ts'

const CRON_LENGTH_MAX = 128
const DAY_SECONDS = 86_400

export const seconds = (min: number, max: number) =>
  z
    .number('must be a number of seconds')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

export const whole = (min: number, max: number) =>
  z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

export const duration = z
  .union([z.int().min(limits.everyMsMin).max(limits.everyMsMax), z.string().max(20)], {
    error: 'must be a duration such as 30m, or milliseconds',
  })
  .refine(value => {
    const ms = durationMs(value)
    return ms !== null && ms >= limits.everyMsMin && ms <= limits.everyMsMax
  }, 'must be a duration such as 30m, 6h or 1d, of at most 366 days')
  .meta({ description: 'Such as 30m, 6h, 1d; a number is milliseconds.' })

export function durationMs(value: string | number): number | null {
  return typeof value === 'number' ? value : parseDuration(value)
}

/** What is wrong with a cron expression, in its own words; null when nothing is. */
export function cronFault(expression: string, dialect: 'posix' | 'extended'): string | null {
  try {
    parseCron(expression, { zone: 'UTC', dialect })
    return null
  } catch (error) {
    return error instanceof CronError ? error.message : 'cannot be read as cron'
  }
}

export const cronText = z
  .string()
  .min(1, 'must not be empty')
  .max(CRON_LENGTH_MAX, `must have at most ${CRON_LENGTH_MAX} characters`)

export const cronExpression = cronText.superRefine((value, context) => {
  const fault = value.length > CRON_LENGTH_MAX ? null : cronFault(value, 'extended')
  if (fault !== null) context.addIssue({ code: 'custom', message: fault })
})

const names = Object.entries(priorityNames).map(([value, name]) => [name, Number(value)] as const)

export const priority = z
  .union([whole(limits.priorityMin, limits.priorityMax), z.enum(names.map(([name]) => name))], {
    error: `must be 1 to 6, or one of ${names.map(([name]) => name).join(', ')}`,
  })
  .meta({ description: '1 (VERY_LOW) to 6 (CRITICAL); 6 goes first.' })

export function priorityOf(value: z.output<typeof priority>): Priority {
  const found = names.find(([name]) => name === value)
  return (found ? found[1] : value) as Priority
}

export const triggerSchema = z
  .union(
    [
      z.strictObject({
        every: duration,
        from: z.enum(['schedule', 'start', 'finish']).optional(),
        anchor: moment.nullable().optional(),
      }),
      z.strictObject({
        cron: cronText,
        timezone: text(100).optional(),
        dialect: z.enum(['posix', 'extended']).optional(),
        dst: z
          .strictObject({ gap: z.enum(['shift', 'skip']), fold: z.enum(['first', 'both']) })
          .nullable()
          .optional(),
      }),
      z.strictObject({ at: moment }),
      z.strictObject({ manual: z.literal(true) }),
    ],
    { error: 'must be {every}, {cron, timezone, dialect}, {at} or {manual: true}' },
  )
  .meta({ id: 'Trigger', description: 'When a job fires.' })

export type TriggerBody = z.output<typeof triggerSchema>

export const backoffSchema = z.union([
  z.strictObject({ kind: z.literal('fixed'), delay_seconds: seconds(0, 366 * DAY_SECONDS) }),
  z.strictObject({
    kind: z.literal('exponential'),
    base_seconds: seconds(0, 366 * DAY_SECONDS),
    max_seconds: seconds(0, 366 * DAY_SECONDS),
    jitter: z.number().min(0).max(1).optional(),
  }),
  z.strictObject({ kind: z.literal('relative'), max_factor: whole(1, 1_000_000) }),
])

export const retrySchema = z
  .strictObject({
    limit: whole(0, limits.retryMax).nullable().optional(),
    backoff: backoffSchema.optional(),
    reset_after_seconds: seconds(0.001, 366 * DAY_SECONDS)
      .nullable()
      .optional(),
    exhausted: z.enum(['stop', 'next', 'wait']).optional(),
    yields: z.boolean().optional(),
  })
  .meta({ id: 'Retry', description: 'What happens when a run fails.' })

export type RetryBody = z.output<typeof retrySchema>

export const missedSchema = z.union(
  [
    z.enum(['skip', 'once']),
    z.strictObject({
      policy: z.literal('all'),
      max: whole(1, limits.catchUpMax),
      max_age_seconds: seconds(0.001, 3_660 * DAY_SECONDS),
    }),
  ],
  { error: 'must be skip, once, or { policy: all, max, max_age_seconds }' },
)

export const overlapSchema = z.union(
  [
    z.enum(['skip', 'replace', 'allow']),
    z.strictObject({ policy: z.literal('queue'), limit: whole(1, limits.queueOverlapMax) }),
  ],
  {
    error: `must be skip, replace, allow, or { policy: queue, limit: 1 to ${limits.queueOverlapMax} }`,
  },
)
