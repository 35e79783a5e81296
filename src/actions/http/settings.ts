// The settings of an http action, and how they are shown.

import { z } from 'zod'
import type { Problem } from '../../core/errors.ts'
import { MASK, type Reader } from '../action.ts'
import type { AllowList } from '../guard/allow.ts'
import { checkHeaders, isPlainHeader } from '../guard/headers.ts'
import { checkUrl, URL_MAX } from '../guard/url.ts'
import { isSecretRef, secretRef, type SecretRef } from '../secrets.ts'
import { SECRET_RULE, secretKey } from './sign.ts'

const SECRETS_MAX = 5
const PARAMS_MAX = 50
const PARAM_NAME_MAX = 200
const PARAM_VALUE_MAX = 2_000

const TEXT_RULE = 'must be a text or {secret: <NAME>}'
const headerValue = z.union([z.string(), secretRef], { error: TEXT_RULE })
const signingSecret = z.union([z.string(), secretRef], { error: TEXT_RULE })
const paramValue = z.union([z.string().max(PARAM_VALUE_MAX), z.number(), z.boolean(), secretRef], {
  error: 'must be a text, a number, true or false, or {secret: <NAME>}',
})

export const httpSettings = z.strictObject({
  kind: z.literal('http'),
  url: z.string().max(URL_MAX),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  headers: z.record(z.string(), headerValue).default({}),
  /** Appended to the URL in this order. */
  params: z
    .array(z.strictObject({ name: z.string().min(1).max(PARAM_NAME_MAX), value: paramValue }))
    .max(PARAMS_MAX)
    .optional(),
  /**
   * A text is sent as it is, anything else as JSON with its references resolved; absent, the
   * payload is sent as JSON.
   */
  body: z.json().optional(),
  /** Standard Webhooks secrets: the request carries one signature for each. */
  secrets: z.array(signingSecret).max(SECRETS_MAX).default([]),
  timeout_seconds: z.number().int().min(1).max(3_600).default(30),
})

export type HttpSettings = z.output<typeof httpSettings>

export function checkHttp(settings: HttpSettings, field: string, allow: AllowList): Problem[] {
  const { url, headers, secrets, method, body } = settings
  const problems: Problem[] = []
  const { rule } = checkUrl(url, allow)
  if (rule !== null) problems.push({ field: `${field}.url`, value: url, rule })
  problems.push(...checkHeaders(textsOf(headers), `${field}.headers`))
  for (const [i, secret] of secrets.entries()) {
    if (typeof secret !== 'string' || secretKey(secret) !== null || secret === MASK) continue
    problems.push({ field: `${field}.secrets.${i}`, value: MASK, rule: SECRET_RULE })
  }
  if (body !== undefined && isBodiless(method)) {
    problems.push({ field: `${field}.body`, value: method, rule: `must be absent with ${method}` })
  }
  return problems
}

/** What a reference will be is not known here: its name is checked like that of any other. */
function textsOf(headers: HttpSettings['headers']): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : '',
  ])
  return Object.fromEntries(texts) as Record<string, string>
}

export function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Queries and bodies often hold keys: only those who may edit the job see them. */
export function shownHttp(settings: HttpSettings, { mayEdit }: Reader): HttpSettings {
  const { url, params, body, headers, secrets } = settings
  const shownHeaders = Object.entries(headers).map(([name, value]) => [
    name,
    isPlainHeader(name) ? value : withoutLiteral(value),
  ])
  const shown: HttpSettings = {
    ...settings,
    headers: Object.fromEntries(shownHeaders) as HttpSettings['headers'],
    secrets: secrets.map(withoutLiteral),
  }
  if (mayEdit) return shown
  return {
    ...shown,
    url: withoutQuery(url),
    ...(params === undefined
      ? {}
      : { params: params.map(({ name, value }) => ({ name, value: withoutLiteral(value) })) }),
    ...(body === undefined ? {} : { body: MASK }),
  }
}

/** Names of secrets may be seen, what was written out may not. */
function withoutLiteral(value: unknown): SecretRef | typeof MASK {
  return isSecretRef(value) ? value : MASK
}

function withoutQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : `${url.slice(0, at)}?${MASK}`
}
