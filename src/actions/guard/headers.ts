// Request headers a job may set: names and values that cannot change where or how it is sent.

import type { Problem } from '../../core/errors.ts'

const HEADERS_MAX = 50
const VALUE_MAX = 4_096
const NAME_MAX = 200

/** Set by the connection, or by Carillon itself. */
const ourNames: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const ourPrefixes = /^(?:proxy-|webhook-|carillon-)/

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Visible characters, spaces and tabs; nothing that ends a line. */
const fieldValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

export function checkHeaders(headers: Readonly<Record<string, string>>, field: string): Problem[] {
  const names = Object.keys(headers)
  const problems: Problem[] = []
  if (names.length > HEADERS_MAX) {
    problems.push({ field, value: names.length, rule: `must be at most ${HEADERS_MAX} headers` })
  }
  for (const name of names) {
    // The value may be a secret: the name says enough.
    const at = { field: `${field}.${name}`, value: name }
    const ofName = nameRule(name)
    const ofValue = valueRule(headers[name]!)
    if (ofName !== null) problems.push({ ...at, rule: ofName, isName: true })
    else if (ofValue !== null) problems.push({ ...at, rule: ofValue })
  }
  return problems
}

function nameRule(name: string): string | null {
  if (name.length > NAME_MAX || !token.test(name)) return 'must have the name of a header'
  const lower = name.toLowerCase()
  const isOurs = ourNames.has(lower) || ourPrefixes.test(lower)
  return isOurs ? 'must not be set: it belongs to the connection' : null
}

function valueRule(value: string): string | null {
  if (value.length > VALUE_MAX) return `must have at most ${VALUE_MAX} characters`
  return fieldValue.test(value) ? null : 'must be on one line, in Latin characters'
}

const plainNames: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-language',
  'content-type',
  'if-none-match',
  'prefer',
  'user-agent',
])

/** Whether a header's value may be shown; any other may hold a key. */
export function isPlainHeader(name: string): boolean {
  return plainNames.has(name.toLowerCase())
}
