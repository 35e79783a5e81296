// What a caller gives, checked by the schemas of a use case: every problem is named by its field.

import { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'

/** What a request part breaks; the error handler gives it the status of its route. */
export class InvalidPart extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super('the request is not valid')
    this.problems = problems
  }
}

export type Part = 'params' | 'query' | 'body' | 'headers'

/** The value as the schema makes it; throws everything that is wrong with it. */
export function checkPart(schema: z.ZodType, given: unknown, part: Part): unknown {
  // No body at all arrives as null.
  const data = given ?? undefined
  const parsed = schema.safeParse(data)
  const between = checkBody(schema, data)
  if (parsed.success && between.length === 0) return parsed.data
  // Bodies are named by their own fields; headers say where they stand.
  const prefix = part === 'headers' ? 'headers' : ''
  const inside = parsed.success ? [] : problemsOf(parsed.error, data, prefix)
  throw new InvalidPart([...inside, ...between])
}

function problemsOf(error: z.ZodError, given: unknown, prefix = ''): Problem[] {
  return error.issues.flatMap(issue => problemsOfIssue(issue, given, prefix === '' ? [] : [prefix]))
}

type Issue = z.core.$ZodIssue

function problemsOfIssue(issue: Issue, given: unknown, base: readonly PropertyKey[]): Problem[] {
  const at = (path: readonly PropertyKey[]) => [...base, ...path].map(String).join('.') || 'body'
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const path = [...issue.path, key]
      return { field: at(path), value: valueAt(given, path), rule: 'is not a known field' }
    })
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const best = closest(issue.errors)
    const isFlat = best.length === 1 && best[0]!.path.length === 0
    if (!isFlat) {
      const inner = valueAt(given, issue.path)
      return best.flatMap(one => problemsOfIssue(one, inner, [...base, ...issue.path]))
    }
  }
  const value = valueAt(given, issue.path)
  return [{ field: at(issue.path), value, rule: ruleOf(issue, value) }]
}

/** The alternative the caller most likely meant: the one that got furthest. */
function closest(alternatives: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) => Math.max(...issues.map(({ path }) => path.length))
  return [...alternatives].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0]!
}

function ruleOf(issue: Issue, value: unknown): string {
  if (value === undefined && issue.code === 'invalid_type') return 'is needed'
  const text = issue.message
    .replace(/^Invalid input: /, '')
    .replace(/^Invalid option: /, 'must be ')
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    return (value as Record<PropertyKey, unknown>)[key]
  }, given)
}

export type BodyCheck = (given: Readonly<Record<string, unknown>>) => readonly Problem[]

const checks = new WeakMap<z.ZodType, BodyCheck>()

/** The same schema; its validator also asks `check`, which sees the body as it was sent. */
export function withCheck<S extends z.ZodType>(schema: S, check: BodyCheck): S {
  const own = schema.clone()
  checks.set(own, check)
  return own
}

function checkBody(schema: z.ZodType, given: unknown): readonly Problem[] {
  const check = checks.get(schema)
  if (check === undefined || typeof given !== 'object' || given === null) return []
  return check(given as Readonly<Record<string, unknown>>)
}
