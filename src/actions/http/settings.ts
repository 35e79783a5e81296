// The settings of an http action, and how they are shown.

import { z } from 'zod'
import type { Problem } from '../../core/errors.ts'
import { MASK, type Reader } from '../action.ts'
import type { AllowList } from '../guard/allow.ts'
import { checkHeaders, isPlainHeader } from '../guard/headers.ts'
import { checkUrl, URL_MAX } from '../guard/url.ts'
import { SECRET_RULE, secretKey } from './sign.ts'

const SECRETS_MAX = 5

export const httpSettings = z.strictObject({
  kind: z.literal('http'),
  url: z.string().max(URL_MAX),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  headers: z.record(z.string(), z.string()).default({}),
  /** A text is sent as it is, anything else as JSON; absent, the payload is sent as JSON. */
  body: z.json().optional(),
  /** Standard Webhooks secrets: the request carries one signature for each. */
  secrets: z.array(z.string()).max(SECRETS_MAX).default([]),
  timeout_seconds: z.number().int().min(1).max(3_600).default(30),
})

export type HttpSettings = z.output<typeof httpSettings>

export function checkHttp(settings: HttpSettings, field: string, allow: AllowList): Problem[] {
  const { url, headers, secrets, method, body } = settings
  const problems: Problem[] = []
  const { rule } = checkUrl(url, allow)
  if (rule !== null) problems.push({ field: `${field}.url`, value: url, rule })
  problems.push(...checkHeaders(headers, `${field}.headers`))
  for (const [i, secret] of secrets.entries()) {
    if (secretKey(secret) !== null) continue
    problems.push({ field: `${field}.secrets.${i}`, value: MASK, rule: SECRET_RULE })
  }
  if (body !== undefined && isBodiless(method)) {
    problems.push({ field: `${field}.body`, value: method, rule: `must be absent with ${method}` })
  }
  return problems
}

export function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Queries and bodies often hold keys: only those who may edit the job see them. */
export function shownHttp(settings: HttpSettings, { mayEdit }: Reader): HttpSettings {
  const headers = Object.entries(settings.headers).map(([name, value]) => [
    name,
    isPlainHeader(name) ? value : MASK,
  ])
  return {
    ...settings,
    ...(mayEdit ? {} : { url: withoutQuery(settings.url) }),
    ...(mayEdit || settings.body === undefined ? {} : { body: MASK }),
    headers: Object.fromEntries(headers) as Record<string, string>,
    secrets: settings.secrets.map(() => MASK),
  }
}

function withoutQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : `${url.slice(0, at)}?${MASK}`
}

/** Every text of the settings that must not come back in an answer, a log or an error. */
export function secretsOf({ headers, secrets }: HttpSettings): string[] {
  const values = Object.entries(headers)
    .filter(([name]) => !isPlainHeader(name))
    .flatMap(([, value]) => [value, ...value.split(/\s+/)])
  const keys = secrets.flatMap(secret => [secret, secret.replace(/^whsec_/, '')])
  return [...new Set([...values, ...keys])]
    .filter(text => text.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
}

/** Shorter words, such as `Bearer` alone, would blank out ordinary text. */
const SHORTEST_SECRET = 7

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, MASK), text)
}
