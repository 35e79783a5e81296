// Payloads checked by any validator that speaks Standard Schema.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { SchedulerError, type Problem } from '../core/errors.ts'
import type { Schema } from './options.ts'

/** The checked value, or an error that names every issue with its path. */
export async function checkPayload<S extends Schema>(
  schema: S | undefined,
  value: unknown,
  job: string,
): Promise<StandardSchemaV1.InferOutput<S>> {
  if (schema === undefined) return value
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  const problems: Problem[] = result.issues.map(issue => ({
    field: ['payload', ...(issue.path ?? []).map(segmentText)].join('.'),
    value: valueAt(value, issue.path ?? []),
    rule: issue.message,
  }))
  const text = problems.map(problem => `${problem.field}: ${problem.rule}`).join('; ')
  throw new SchedulerError('PAYLOAD_INVALID', `the payload of ${job} is not valid: ${text}`, {
    problems,
  })
}

type Segment = PropertyKey | StandardSchemaV1.PathSegment

function segmentText(segment: Segment): string {
  return String(typeof segment === 'object' ? segment.key : segment)
}

function valueAt(value: unknown, path: readonly Segment[]): unknown {
  let at = value
  for (const segment of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Record<string, unknown>)[segmentText(segment)]
  }
  return at
}
