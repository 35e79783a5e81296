// Everything wrong with a source, told at once; without problems, the source with its defaults.

import type { z } from 'zod'
import { MASK } from '../actions/action.ts'
import { checkHeaders } from '../actions/guard/headers.ts'
import { isSecretHeader, isSecretName } from '../actions/secrets.ts'
import { ruleText } from '../actions/rule-text.ts'
import type { Problem } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import { valueAt } from './path.ts'
import { sourceShape } from './shape.ts'
import { sourceLimits, type SourceDocument } from './source.ts'
import { ownColumns } from './tables.ts'

export interface CheckedSource {
  /** Null when anything is wrong. */
  readonly document: SourceDocument | null
  readonly problems: readonly Problem[]
}

/** Says what is wrong with a URL; null when nothing is. Which hosts may be reached differs by node. */
export type UrlRule = (url: string) => string | null

export function checkSource(written: unknown, urlRule: UrlRule): CheckedSource {
  const size = sizeProblems(written)
  if (size.length > 0) return { document: null, problems: size }
  // From here on it is what will be stored: plain JSON.
  const given = JSON.parse(JSON.stringify(written)) as Record<string, unknown>
  const parsed = sourceShape.safeParse(given)
  const problems = parsed.success ? [] : shapeProblems(parsed.error, given)
  problems.push(...betweenProblems(given), ...urlProblems(given.url, urlRule))
  if (!parsed.success || problems.length > 0) return { document: null, problems }
  return { document: parsed.data, problems }
}

/** Bounded before anything walks it. */
function sizeProblems(given: unknown): readonly Problem[] {
  const found = new Findings()
  if (!isObject(given)) found.add('source', given, 'an object')
  else if (!isShallow(given, sourceLimits.depth)) {
    found.add('source', typeof given, `at most ${sourceLimits.depth} levels deep`)
  } else found.json('source', given, sourceLimits.bytes)
  return found.problems
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every(inner => isShallow(inner, levels - 1))
}

/** Problems of a shape; `field` stands before each path. */
export function shapeProblems(error: z.ZodError, given: unknown): Problem[] {
  return error.issues.flatMap(issue => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [null]
    return keys.map(key => {
      const path = (key === null ? issue.path : [...issue.path, key]).map(String)
      const value = valueAt(given, path.join('.') || '.')
      const isMissing = value === undefined && issue.code === 'invalid_type'
      const rule = isMissing ? 'is needed' : ruleText(issue.message)
      return {
        field: path.join('.') || 'source',
        value: isPrivate(path) ? MASK : value,
        rule: key === null ? rule : 'is not known',
      }
    })
  })
}

/** What is sent with a request may be a key, whatever it is called. */
function isPrivate([first, , third]: readonly string[]): boolean {
  return first === 'headers' || (first === 'params' && third === 'value')
}

/** Rules between fields, and those a shape cannot say; asked of whatever can be read. */
export function betweenProblems(given: Readonly<Record<string, unknown>>): Problem[] {
  return [
    ...paginationProblems(given),
    ...columnProblems(valueAt(given, 'response.fields')),
    ...headerProblems(given.headers),
    ...paramProblems(given),
  ]
}

function paginationProblems({ offsetPagination, cursorPagination }: Record<string, unknown>) {
  if (offsetPagination === undefined || cursorPagination === undefined) return []
  const rule = 'cannot be given with offsetPagination'
  return [{ field: 'cursorPagination', value: 'both', rule }]
}

function columnProblems(fields: unknown): Problem[] {
  if (!Array.isArray(fields)) return []
  const targets = fields.map(field => valueAt(field, 'target'))
  return targets.flatMap((value, i) => {
    if (typeof value !== 'string') return []
    const field = `response.fields.${i}.target`
    if (ownColumns.has(value)) return [{ field, value, rule: 'is a column the table has anyway' }]
    return targets.indexOf(value) < i ? [{ field, value, rule: 'must be another column' }] : []
  })
}

const REFERENCE_RULE = 'must be a reference to a secret: {secret: <NAME>}'

function headerProblems(headers: unknown): Problem[] {
  if (!isObject(headers)) return []
  const names = Object.keys(headers)
  const isPlain = (name: string) => typeof headers[name] === 'string'
  const texts = names.map(name => [name, isPlain(name) ? (headers[name] as string) : ''])
  const wrong = checkHeaders(Object.fromEntries(texts) as Record<string, string>, 'headers')
  const shown = names
    .filter(name => isPlain(name) && isSecretHeader(name))
    .map(name => ({ field: `headers.${name}`, value: MASK, rule: REFERENCE_RULE }))
  return [...wrong, ...shown]
}

function paramProblems(given: Readonly<Record<string, unknown>>): Problem[] {
  const { params } = given
  if (!Array.isArray(params)) return []
  const taken = [
    'offsetPagination.pageParam',
    'offsetPagination.limitParam',
    'cursorPagination.cursorParam',
  ]
  const names = taken.map(path => valueAt(given, path)).filter(name => typeof name === 'string')
  return params.flatMap((param: unknown, i): Problem[] => {
    const name = valueAt(param, 'name')
    if (typeof name !== 'string') return []
    const at = `params.${i}`
    if (names.includes(name)) {
      return [{ field: `${at}.name`, value: name, rule: 'is set by the pagination' }]
    }
    const isRef = isObject(valueAt(param, 'value'))
    if (isRef || !isSecretName(name)) return []
    return [{ field: `${at}.value`, value: MASK, rule: REFERENCE_RULE }]
  })
}

export function urlProblems(url: unknown, urlRule: UrlRule): Problem[] {
  if (typeof url !== 'string') return []
  const rule = urlRule(url)
  if (rule !== null) return [{ field: 'url', value: withoutQuery(url), rule }]
  const query = URL.canParse(url) ? [...new URL(url).searchParams.keys()] : []
  const secret = query.find(isSecretName)
  if (secret === undefined) return []
  const said = `must not carry ${secret}: give it in params, as a reference to a secret`
  return [{ field: 'url', value: withoutQuery(url), rule: said }]
}

function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '?…')
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
