// Payloads at the edge: what is stored of them is their JSON, and schemas of any library that speaks
// Standard Schema are applied to that.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { SchedulerError, type Problem } from '../core/errors.ts'
import { copyJson } from '../core/json/json-copy.ts'
import type { Json } from '../core/json.ts'
import { jsonPayload } from '../core/history/payload.ts'
import type { Schema } from './options.ts'

/** What is stored of a payload: its JSON, once the schema accepts that. */
export async function storedPayload(
  schema: Schema | undefined,
  value: unknown,
  job: string,
): Promise<Json> {
  const json = jsonPayload(value, job)
  refusePayload(job, await payloadProblems(schema, json, value))
  return json
}

/** Every issue the schema has with a payload; `given` is the value its JSON was made of. */
export async function payloadProblems(
  schema: Schema | undefined,
  json: Json,
  given: unknown = json,
): Promise<Problem[]> {
  if (schema === undefined) return []
  const { issues } = await validated(schema, copyJson(json), given === undefined)
  return (issues ?? []).map(issue => problemOf(issue, json, given))
}

/** What the handler gets: the schema's output for a stored payload. */
export async function readPayload(schema: Schema, stored: unknown, job: string): Promise<unknown> {
  const result = await validated(schema, stored, false)
  if (result.issues === undefined) return result.value
  refusePayload(
    job,
    result.issues.map(issue => problemOf(issue, stored, stored)),
  )
  throw new SchedulerError('PAYLOAD_INVALID', `the payload of ${job} is not valid`)
}

/** A payload that was left out is stored as null: a schema that refuses null is asked again. */
async function validated(
  schema: Schema,
  stored: unknown,
  isLeftOut: boolean,
): Promise<StandardSchemaV1.Result<unknown>> {
  const result = await schema['~standard'].validate(stored)
  if (result.issues === undefined || stored !== null) return result
  const leftOut = await schema['~standard'].validate(undefined)
  return leftOut.issues === undefined || isLeftOut ? leftOut : result
}

function refusePayload(job: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  const text = problems.map(problem => `${problem.field}: ${problem.rule}`).join('; ')
  throw new SchedulerError('PAYLOAD_INVALID', `the payload of ${job} is not valid: ${text}`, {
    problems,
  })
}

const DATE_HINT = 'a Date travels as an ISO string: use a schema that reads one, as z.coerce.date()'

function problemOf(issue: StandardSchemaV1.Issue, json: unknown, given: unknown): Problem {
  const path = issue.path ?? []
  const isDate = valueAt(given, path) instanceof Date
  return {
    field: ['payload', ...path.map(segmentText)].join('.'),
    value: valueAt(json, path),
    rule: isDate ? `${issue.message}; ${DATE_HINT}` : issue.message,
  }
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
