// What is said about the schema of a database in the same words by both: its text, and why it is refused.

import { createHash } from 'node:crypto'
import { SchedulerError } from '../../core/errors.ts'
import type { Instant } from '../../core/time.ts'

export const APPLICATION = 'carillon'

/** Of a text that is frozen: databases that exist were made by it. */
export function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function refuseNewer(place: string, version: number, known: number): void {
  if (version <= known) return
  throw new SchedulerError(
    'STORE_NEWER',
    `${place} has schema version ${version}, this program knows up to ${known}`,
    { details: { version, known } },
  )
}

/** Nodes of the earlier program may still be at work: until then, as far as their records say. */
export function inUseError(place: string, until: Instant): SchedulerError {
  return new SchedulerError(
    'STORE_IN_USE',
    `a node works on ${place}: stop every node; if it is gone, wait until ${new Date(until).toISOString()}`,
  )
}
