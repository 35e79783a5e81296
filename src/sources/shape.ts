// The form of a source, as files and the API give it. What fields mean to each other is in check.

import { z } from 'zod'
import { secretRef } from '../actions/secrets.ts'
import { PERIOD_RULE, periodMs, SCHEDULE_RULE, scheduleMs } from './schedule.ts'
import { sourceLimits as max } from './source.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const plain = /^[^\u0000-\u001f\u007f]*$/
const text = (length: number) =>
  z.string().max(length).regex(plain, 'must not contain control characters')

/** Letters that mean the same in every database, quoted or not; see tables. */
export const identifier = z
  .string()
  .regex(
    /^[a-z_][a-z0-9_]{0,62}$/,
    'must be 1 to 63 small letters, digits and _, not beginning with a digit',
  )

export const sourceName = z
  .string()
  .regex(
    /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/,
    'must be 1 to 100 letters, digits, _, - or ., beginning with a letter, a digit or _',
  )

const path = z
  .string()
  .max(max.pathLength)
  .regex(/^(?:\.|[^.\s]+(?:\.[^.\s]+)*)$/, 'must be a dot path such as data.items, or . alone')

const paramName = text(200).min(1)

const VALUE_RULE = 'must be a text, a number, true or false, or {secret: <NAME>}'
const value = z.union([text(max.valueLength), z.number(), z.boolean(), secretRef], {
  error: VALUE_RULE,
})
const headerValue = z.union([z.string(), secretRef], {
  error: 'must be a text or {secret: <NAME>}',
})

const offsetPagination = z.strictObject({
  pageParam: paramName,
  limitParam: paramName.optional(),
  limit: z.number().int().min(1).max(max.pageLimitMax),
  hasMorePath: path.optional(),
  counts: z.enum(['pages', 'records']).default('pages'),
  first: z.number().int().min(0).max(1_000_000).optional(),
})

const cursorPagination = z.strictObject({
  cursorParam: paramName.optional(),
  nextCursorPath: path,
})

const response = z.strictObject({
  dataPath: path.default('.'),
  fields: z
    .array(z.strictObject({ source: path, target: identifier }))
    .min(1)
    .max(max.fields),
})

/** What one run does: the settings of the action. */
export const fetchShape = z.strictObject({
  name: sourceName,
  description: text(max.descriptionLength).default(''),
  url: z.string(),
  table: identifier,
  params: z
    .array(z.strictObject({ name: paramName, value }))
    .max(max.params)
    .default([]),
  headers: z.record(z.string(), headerValue).default({}),
  response,
  offsetPagination: offsetPagination.optional(),
  cursorPagination: cursorPagination.optional(),
})

const period = z.string().refine(given => periodMs(given) !== null, PERIOD_RULE)
const timeout = z.number().int().min(1).max(max.timeoutSecondsMax)
const maxRetries = z.number().int().min(1).max(max.retriesMax)

const execution = z.strictObject({
  timeout: timeout.default(300),
  maxRetries: maxRetries.default(5),
  retryResetPeriod: period.default('1d'),
})

const schedule = z.string().refine(given => scheduleMs(given) !== null, SCHEDULE_RULE)
const status = text(max.statusLength).min(1)

export const sourceShape = fetchShape.extend({
  schedule: schedule.default('daily'),
  execution: execution.default({ timeout: 300, maxRetries: 5, retryResetPeriod: '1d' }),
  status: status.default('active'),
})

const fetchFields = fetchShape.shape

/** Every field may be left out, and a pagination may be taken away. */
export const sourceChanges = z.strictObject({
  name: fetchFields.name.optional(),
  description: fetchFields.description.unwrap().optional(),
  url: fetchFields.url.optional(),
  table: fetchFields.table.optional(),
  params: fetchFields.params.unwrap().optional(),
  headers: fetchFields.headers.unwrap().optional(),
  response: response
    .extend({ dataPath: path.optional(), fields: response.shape.fields.optional() })
    .optional(),
  offsetPagination: offsetPagination.nullable().optional(),
  cursorPagination: cursorPagination.nullable().optional(),
  schedule: schedule.optional(),
  execution: z
    .strictObject({
      timeout: timeout.optional(),
      maxRetries: maxRetries.optional(),
      retryResetPeriod: period.optional(),
    })
    .optional(),
  status: status.optional(),
})

export type SourceInput = z.input<typeof sourceShape>
export type SourceChanges = z.input<typeof sourceChanges>

/** A host or an address, without a port. */
export const domainName = z
  .string()
  .max(253)
  .regex(
    /^(?:\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*)$/,
    'must be a host such as api.example.com, in small letters',
  )

export const rateShape = z.strictObject({
  limit: z.number().int().min(1).max(max.rateLimitMax),
  period,
})
