// Calls a definition's `run` with a stored payload: upgraded, checked, then handed over.

import type { Json } from '../core/json.ts'
import type { RunContext } from './context.ts'
import type { AnyDefinition } from './options.ts'
import { checkPayload } from './schema.ts'

/** A stored payload that no longer fits is a failure that no retry can mend. */
export function invoke(definition: AnyDefinition, stored: Json, context: RunContext): unknown {
  const { input, upgrade, run } = definition.options
  const call = run as (input: unknown, context: RunContext) => unknown
  const payload = upgrade ? upgrade(stored) : stored
  if (input === undefined) return call(payload ?? undefined, context)
  return checkPayload(input, payload, definition.name).then(checked => call(checked, context))
}
