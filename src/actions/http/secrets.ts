// The secrets of an http action: where it names or holds them, what it sends, what must not come back.

import type { Problem } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import { MASK } from '../action.ts'
import { checkHeaders, isPlainHeader } from '../guard/headers.ts'
import {
  isSecretHeader,
  isSecretName,
  isSecretRef,
  revealed,
  SECRET_LENGTH_MIN,
  SHORT_RULE,
  type SecretLookup,
  type SecretRef,
} from '../secrets.ts'
import type { HttpSettings } from './settings.ts'
import { SECRET_RULE, secretKey } from './sign.ts'

/** What is sent: no reference is left in it. */
export interface Revealed {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  readonly body: Json | undefined
  /** Whatever must not come back in an answer, a log or an error. */
  readonly hidden: readonly string[]
}

export function reveal(settings: HttpSettings, tenant: string, lookup: SecretLookup): Revealed {
  const hidden = new Set<string>(literalsOf(settings))
  const valueOf = (value: string | SecretRef): string => {
    if (typeof value === 'string') return value
    const held = revealed(value, tenant, lookup)
    const sent = `${value.prefix ?? ''}${held}`
    for (const text of [held, sent]) hidden.add(text)
    return sent
  }
  const headers = Object.fromEntries(
    Object.entries(settings.headers).map(([name, value]) => [name, valueOf(value)]),
  )
  const [wrong] = checkHeaders(headers, 'headers')
  if (wrong !== undefined) throw new Error(`${wrong.field} ${wrong.rule}`)
  const secrets = settings.secrets.map(secret => {
    const sent = valueOf(secret)
    for (const text of keysOf(sent)) hidden.add(text)
    if (secretKey(sent) === null) throw new Error(`a signing secret ${SECRET_RULE}`)
    return sent
  })
  const { body } = settings
  return {
    url: withParams(settings, value => (isSecretRef(value) ? valueOf(value) : String(value))),
    headers,
    secrets,
    body: body === undefined || typeof body === 'string' ? body : bodyWith(body, valueOf),
    hidden: [...hidden],
  }
}

type ParamValue = NonNullable<HttpSettings['params']>[number]['value']

/** Appended to what the URL says already. */
function withParams({ url, params = [] }: HttpSettings, text: (value: ParamValue) => string) {
  if (params.length === 0) return url
  const [place = ''] = url.split('#', 1)
  const more = new URLSearchParams(
    params.map(({ name, value }): [string, string] => [name, text(value)]),
  )
  return `${place}${place.includes('?') ? '&' : '?'}${more.toString()}`
}

function bodyWith(value: Json, valueOf: (ref: SecretRef) => string): Json {
  if (typeof value !== 'object' || value === null) return value
  if (isSecretRef(value)) return valueOf(value)
  if (Array.isArray(value)) return value.map(item => bodyWith(item as Json, valueOf))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, bodyWith(item, valueOf)]),
  )
}

/** Ordinary words and values of JSON: hiding them would spoil every answer. */
const ordinary = /^(?:true|false|null|none|bearer|basic|digest|token|apikey)$/i

/** What was written into the settings themselves and may be a key. */
function literalsOf({ url, headers, params = [], secrets, body }: HttpSettings): string[] {
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' && !isPlainHeader(name) ? [value, ...wordsOf(value)] : [],
  )
  const query = URL.canParse(url) ? [...new URL(url).searchParams] : []
  const sent = [...query, ...params.map(({ name, value }) => [name, value] as const)]
  const named = sent.flatMap(([name, value]) => (isSecretName(name) ? [value] : []))
  const keys = secrets.flatMap(secret => (typeof secret === 'string' ? keysOf(secret) : []))
  const texts = [...ofHeaders, ...named, ...keys, ...namedIn(body)]
  return texts
    .map(text => (typeof text === 'number' ? String(text) : text))
    .filter(text => typeof text === 'string')
    .filter(text => text.length >= SECRET_LENGTH_MIN && !ordinary.test(text))
}

/** `Bearer x` holds x, and `id=x; lang=y` holds x and y. */
function wordsOf(value: string): string[] {
  return value.split(/[\s;,]+/).flatMap(word => {
    const at = word.indexOf('=')
    return at < 0 ? [word] : [word, word.slice(at + 1)]
  })
}

/** With and without what says that it is one. */
function keysOf(secret: string): string[] {
  return [secret, secret.replace(/^whsec_/, '')]
}

function namedIn(value: Json | undefined): unknown[] {
  if (typeof value !== 'object' || value === null || isSecretRef(value)) return []
  if (Array.isArray(value)) return value.flatMap(item => namedIn(item as Json))
  return Object.entries(value).flatMap(([key, item]) => [
    ...(isSecretName(key) ? [item] : []),
    ...namedIn(item),
  ])
}

/** What a new or changed action may not hold: unknown names, and what cannot be masked. */
export function secretProblems(
  settings: HttpSettings,
  field: string,
  ruleOf: (ref: SecretRef) => string | null,
): Problem[] {
  const problems: Problem[] = []
  const { url, body } = settings
  if (url.endsWith(`?${MASK}`))
    problems.push({ field: `${field}.url`, value: url, rule: MASK_RULE })
  const check = (at: string, value: unknown): void => {
    const rule = isSecretRef(value) ? ruleOf(value) : null
    const shown = isSecretRef(value) ? value.secret : MASK
    if (rule !== null) problems.push({ field: `${field}.${at}`, value: shown, rule })
    else if (value === MASK) problems.push({ field: `${field}.${at}`, value, rule: MASK_RULE })
  }
  for (const [name, value] of Object.entries(settings.headers)) {
    check(`headers.${name}`, value)
    const isShort = typeof value === 'string' && value.length < SECRET_LENGTH_MIN
    if (isShort && isSecretHeader(name) && value !== MASK) {
      problems.push({ field: `${field}.headers.${name}`, value: MASK, rule: SHORT_RULE })
    }
  }
  for (const [i, { value }] of (settings.params ?? []).entries()) check(`params.${i}.value`, value)
  for (const [i, secret] of settings.secrets.entries()) check(`secrets.${i}`, secret)
  if (body === MASK) check('body', body)
  for (const [path, ref] of referencesIn(body, ['body'])) check(path.join('.'), ref)
  return problems
}

const MASK_RULE = 'must be given: it stands for a stored value, and there is none'

function referencesIn(value: Json | undefined, path: readonly string[]): [string[], SecretRef][] {
  if (typeof value !== 'object' || value === null) return []
  if (isSecretRef(value)) return [[[...path], value]]
  return Object.entries(value).flatMap(([key, item]) => referencesIn(item, [...path, key]))
}
