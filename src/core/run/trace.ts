// Where the one who made a job stood in a trace: kept in the job's metadata, under a key that
// belongs to the product, and carried over to its run.

import type { NewJob } from '../job.ts'
import type { JsonObject } from '../json.ts'

/** A W3C `traceparent`. */
const KEY = 'carillon:traceparent'

/** Only what runs once belongs to the call that made it; a schedule outlives every trace. */
export function withTrace(input: NewJob, traceparent: string): NewJob {
  const { spec } = input
  if (spec.trigger.kind !== 'once') return input
  return { ...input, spec: { ...spec, metadata: { ...spec.metadata, [KEY]: traceparent } } }
}

export function traceOf(metadata: JsonObject): string | null {
  const held = metadata[KEY]
  return typeof held === 'string' ? held : null
}
