// A source as callers see it, and what they may say about one: the camelCase document of files, with
// what the service adds to it.

import { z } from 'zod'
import { iso, type Instant } from '../../../core/time.ts'
import {
  domainName,
  rateShape,
  sourceChanges,
  sourceName,
  sourceShape,
} from '../../../sources/shape.ts'
import type { RateLimit, Source } from '../../../sources/source.ts'
import { type Answer, withEtag } from '../call/answer.ts'

const moment = z.iso.datetime().nullable()

export const sourceParams = z.object({ name: z.string().min(1).max(400) })
export const limitParams = z.object({ domain: z.string().min(1).max(400) })

export const sourceSchema = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    url: z.string(),
    table: z.string(),
    schedule: z.string(),
    execution: z.strictObject({
      timeout: z.number(),
      maxRetries: z.int(),
      retryResetPeriod: z.string(),
    }),
    params: z.array(z.strictObject({ name: z.string(), value: z.unknown() })),
    headers: z.record(z.string(), z.unknown()),
    response: z.strictObject({
      dataPath: z.string(),
      fields: z.array(z.strictObject({ source: z.string(), target: z.string() })),
    }),
    offsetPagination: z.record(z.string(), z.unknown()).optional(),
    cursorPagination: z.record(z.string(), z.unknown()).optional(),
    status: z.string(),
    job_id: z.string().meta({ description: 'The job it is: runs, why and control are there.' }),
    state: z.string(),
    last_success_at: moment,
    next_run_at: moment,
    retry: z.strictObject({
      period_start: moment,
      retry_count: z.int(),
      next_retry_at: moment,
    }),
    revision: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Source', description: 'Where records come from and which table they go to.' })

export const ownFields = [
  'job_id',
  'state',
  'last_success_at',
  'next_run_at',
  'retry',
  'revision',
  'created_at',
  'updated_at',
] as const

const own = z.unknown().optional().meta({ readOnly: true, description: 'Not to be changed.' })
const owned = Object.fromEntries(ownFields.map(field => [field, own]))

export const createBody = sourceShape.meta({ id: 'SourceBody' })
export const replaceBody = sourceShape
  .extend({ name: sourceName.optional(), ...owned })
  .meta({ id: 'SourceReplacement' })
export const patchBody = sourceChanges.extend(owned).meta({ id: 'SourcePatch' })

export function sourceView(source: Source) {
  const { jobId, state, lastSuccessAt, nextRunAt, retry, revision, ...rest } = source
  const { createdAt, updatedAt, ...document } = rest
  return {
    ...document,
    job_id: jobId,
    state,
    last_success_at: at(lastSuccessAt),
    next_run_at: at(nextRunAt),
    retry: {
      period_start: at(retry.periodStart),
      retry_count: retry.retryCount,
      next_retry_at: at(retry.nextRetryAt),
    },
    revision,
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
  }
}

function at(when: Instant | null): string | null {
  return when === null ? null : iso(when)
}

export function sourceAnswer(source: Source, status = 200): Answer {
  return withEtag(source, sourceView(source), status)
}

export const limitSchema = z
  .strictObject({ domain: domainName, limit: z.int(), period: z.string() })
  .meta({ id: 'SourceRateLimit', description: 'Requests to a domain in any span of the period.' })

export const limitBody = rateShape.meta({ id: 'SourceRateLimitBody' })

export function limitView({ domain, limit, period }: RateLimit) {
  return { domain, limit, period }
}
