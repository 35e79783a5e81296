// What a refusal looks like on the wire (RFC 9457): a documented type, a status, every problem.

import { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/json.ts'

/** slug → title, usual status, what it means and what to do. */
export const problemTypes = {
  'invalid-request': [422, 'The request is not valid', 'Each entry of errors names a field.'],
  'malformed-body': [400, 'The body cannot be read', 'It is not JSON, or nested too deeply.'],
  'invalid-transition': [409, 'The state does not allow this', 'from and allowed say what would.'],
  unauthorized: [401, 'A valid token is needed', 'Send Authorization: Bearer <token>.'],
  forbidden: [403, 'The token does not allow this', 'It needs another role or tenant.'],
  'not-found': [404, 'There is no such thing', 'Also said of what belongs to another tenant.'],
  'malformed-request': [400, 'The request cannot be read', 'It is not valid HTTP.'],
  'request-timeout': [408, 'The request came too slowly', 'Send headers and body within 30 s.'],
  'method-not-allowed': [405, 'The method is not served', 'Use a method of the documentation.'],
  conflict: [409, 'Someone else was faster', 'Read it again and decide anew.'],
  exists: [409, 'It is already there', 'Choose another id.'],
  'declared-in-code': [409, 'The job is declared in code', 'Change it where it is declared.'],
  'requests-full': [409, 'Too many runs wait', 'Let the runs already asked for go first.'],
  'precondition-failed': [412, 'It has changed since', 'Read it again; its ETag is newer.'],
  'precondition-required': [428, 'If-Match is needed', 'Send the ETag you have read.'],
  'idempotency-key-reused': [422, 'The key was used for something else', 'Take a new key.'],
  'body-too-large': [413, 'The body is too large', 'Send less, or raise the limit.'],
  'header-too-large': [
    431,
    'A header is too large',
    'Authorization may have 8 KiB, all of them 16 KiB.',
  ],
  'unsupported-media-type': [415, 'Only JSON is read', 'Send Content-Type: application/json.'],
  'rate-limited': [429, 'Too many requests', 'Wait as long as Retry-After says.'],
  'queue-full': [503, 'The queue is full', 'Wait as long as Retry-After says.'],
  unavailable: [503, 'The store cannot be used', 'Nothing was changed; try again later.'],
  internal: [500, 'Something went wrong here', 'The log has more under the request_id.'],
} as const satisfies Record<string, readonly [number, string, string]>

export type ProblemSlug = keyof typeof problemTypes

export class HttpProblem extends Error {
  readonly slug: ProblemSlug
  readonly status: number
  readonly errors: readonly Problem[]
  readonly more: JsonObject
  readonly retryAfterSeconds: number | null

  constructor(
    slug: ProblemSlug,
    detail: string,
    more: {
      status?: number
      errors?: readonly Problem[]
      fields?: JsonObject
      retryAfterSeconds?: number
    } = {},
  ) {
    super(detail)
    this.name = 'HttpProblem'
    this.slug = slug
    this.status = more.status ?? problemTypes[slug][0]
    this.errors = more.errors ?? []
    this.more = more.fields ?? {}
    this.retryAfterSeconds = more.retryAfterSeconds ?? null
  }
}

const VALUE_MAX = 200
const secretPath = /(?:^|\.)(?:headers?|secrets?|env|stdin|token|password|authorization|cookie)/i

type ShownProblem = z.output<typeof fieldProblem>

/** A refused value as it is shown: short, and never one that may be a secret. */
export function shownProblem({ field, value, rule, isName }: Problem): ShownProblem {
  const shown = secretPath.test(field) ? '***' : shownValue(value)
  return { field, value: shown, rule, ...(isName && { is_name: true }) }
}

function shownValue(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'object' && value !== null) {
    const text = JSON.stringify(value)
    return text.length <= VALUE_MAX && !secretPath.test(text) ? value : `a ${kindOf(value)}`
  }
  return typeof value === 'bigint' ? String(value) : value
}

function kindOf(value: object): string {
  return Array.isArray(value) ? `list of ${value.length}` : 'object'
}

function cut(text: string): string {
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text
}

export function problemBody(problem: HttpProblem, requestId: string): JsonObject {
  const { slug, status, errors, more } = problem
  return {
    ...more,
    type: `/problems/${slug}`,
    title: problemTypes[slug][1],
    status,
    detail: problem.message,
    request_id: requestId,
    ...(errors.length > 0
      ? { errors: errors.map(shownProblem) as unknown as readonly JsonObject[] }
      : {}),
  }
}

const fieldProblem = z.object({
  field: z.string(),
  value: z.unknown(),
  rule: z.string(),
  is_name: z
    .literal(true)
    .optional()
    .meta({ description: 'The name of the field is refused, not what it holds.' }),
})

export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    request_id: z.string(),
    errors: z.array(fieldProblem).optional(),
  })
  .meta({ id: 'Problem', description: 'A refusal, as in RFC 9457.' })
