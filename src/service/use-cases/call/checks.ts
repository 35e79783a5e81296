// Rules between the fields of a body, told together with what is wrong inside each of them.

import type { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'

export type BodyCheck = (given: Readonly<Record<string, unknown>>) => readonly Problem[]

const checks = new WeakMap<z.ZodType, BodyCheck>()

/** The same schema; its validator also asks `check`, which sees the body as it was sent. */
export function withCheck<S extends z.ZodType>(schema: S, check: BodyCheck): S {
  const own = schema.clone()
  checks.set(own, check)
  return own
}

export function checkBody(schema: z.ZodType, given: unknown): readonly Problem[] {
  const check = checks.get(schema)
  if (check === undefined || typeof given !== 'object' || given === null) return []
  return check(given as Readonly<Record<string, unknown>>)
}
