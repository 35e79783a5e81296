// Calls a definition's `run` with a copy of the stored payload: upgraded, read by the schema, passed.

import type { Json } from '../core/json.ts'
import type { RunContext } from './context.ts'
import type { AnyDefinition } from './options.ts'
import { readPayload } from './schema.ts'

/** A stored payload that no longer fits is a failure that no retry can mend. */
export function invoke(definition: AnyDefinition, stored: Json, context: RunContext): unknown {
  const { input, upgrade, run } = definition.options
  const call = run as (input: unknown, context: RunContext) => unknown
  const payload = upgrade ? upgrade(stored) : stored
  if (input === undefined) return call(payload ?? undefined, context)
  return readPayload(input, payload, definition.name).then(read => call(read, context))
}
