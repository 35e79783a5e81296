// What a handler leaves for its next attempt: a bounded copy as JSON.

import { refuse, type Problem } from './errors.ts'
import { toJson } from './json/json-copy.ts'
import { jsonBytes, type Json } from './json.ts'
import { limits } from './limits.ts'

/** Throws PAYLOAD_INVALID for what JSON cannot carry and for what is too large. */
export function storedCheckpoint(given: unknown): Json {
  const problems: Problem[] = []
  const checkpoint = toJson(given, 'checkpoint', problems)
  const bytes = problems.length > 0 ? 0 : (jsonBytes(checkpoint) ?? Infinity)
  if (bytes > limits.checkpointBytes) {
    const rule = `must be at most ${limits.checkpointBytes} bytes as JSON`
    problems.push({ field: 'checkpoint', value: `${bytes} bytes`, rule })
  }
  refuse('PAYLOAD_INVALID', 'the checkpoint cannot be kept', problems)
  return checkpoint
}
