// Payloads as callers give them: what is stored of them is their JSON.

import { refuse, type Problem } from '../errors.ts'
import { toJson } from '../json/json-copy.ts'
import type { Json } from '../json.ts'

/** The JSON of a payload, checked by the schema of the handler it is for. */
export type PayloadCheck = (handler: string, payload: unknown) => Promise<Json>

/** The JSON of the value, or an error that names every part JSON cannot carry. */
export function jsonPayload(value: unknown, job: string): Json {
  const problems: Problem[] = []
  const json = toJson(value, 'payload', problems)
  refuse('PAYLOAD_INVALID', `the payload of ${job} is not valid`, problems)
  return json
}
