// Where a schedule's description lies: in the metadata of its job, under a key of the service.

import type { JsonObject } from '../../../core/json.ts'
import { RESERVED } from '../crawl-jobs/flat.ts'

const KEY = `${RESERVED}description`

export function descriptionOf(metadata: JsonObject): string {
  const held = metadata[KEY]
  return typeof held === 'string' ? held : ''
}

export function withDescription(metadata: JsonObject, description: string): JsonObject {
  const { [KEY]: _, ...others } = metadata
  return description === '' ? others : { ...others, [KEY]: description }
}
