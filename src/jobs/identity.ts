// Ids of rows that are known by what their callers named: the same names give the same id.

import { createHash } from 'node:crypto'
import { limits } from '../core/limits.ts'

const READABLE_LENGTH = 100

/**
 * The parts of a name as one id. Where that would be longer than an id may be, its beginning and a
 * hash of the whole. `=` is in no encoded part, so no other name gives that id.
 */
export function idOf(parts: readonly string[], suffix = ''): string {
  const id = parts.map(encodeURIComponent).join(':')
  if (id.length + suffix.length <= limits.idLength) return id + suffix
  const hash = createHash('sha256').update(id).digest('base64url')
  // Not within an escape such as %3A.
  const readable = id.slice(0, READABLE_LENGTH).replace(/%.?$/, '')
  return `${readable}=${hash}${suffix}`
}
