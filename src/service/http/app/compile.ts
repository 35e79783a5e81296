// Zod at the edge: one schema checks what comes in, types the handler and describes the API.

import type { FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'
import { checkBody } from '../../use-cases/call/checks.ts'

/** What a request part breaks; the error handler gives it the status of its route. */
export class InvalidPart extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super('the request is not valid')
    this.problems = problems
  }
}

export const compileValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  // Bodies are named by their own fields; the other parts say where they stand.
  const prefix = httpPart === 'headers' ? 'headers' : ''
  return (given: unknown) => {
    // No body at all arrives as null.
    const data = given ?? undefined
    const parsed = schema.safeParse(data)
    const between = checkBody(schema, data)
    if (parsed.success && between.length === 0) return { value: parsed.data }
    const inside = parsed.success ? [] : problemsOf(parsed.error, data, prefix)
    return { error: new InvalidPart([...inside, ...between]) }
  }
}

export function problemsOf(error: z.ZodError, given: unknown, prefix = ''): Problem[] {
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

/** Answers are typed by their schemas when compiled; with `checks` they are compared as they go. */
export function answerCompiler(checks: boolean): FastifySerializerCompiler<FastifySchema> {
  return ({ schema, url, httpStatus }) => {
    if (!checks) return data => JSON.stringify(data)
    const known = schema as unknown as z.ZodType
    return data => {
      const text = JSON.stringify(data)
      const parsed = known.safeParse(JSON.parse(text))
      if (parsed.success) return text
      throw new Error(`the answer ${httpStatus} of ${url} does not fit: ${parsed.error.message}`)
    }
  }
}
