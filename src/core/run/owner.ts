// Who holds a lease: one start of one process. Its name is the node's with the id of the start
// behind it; a remote worker's is its own name alone.

import type { StampedWrite } from '../record.ts'
import type { Instant, Millis } from '../time.ts'

/** Starts write their beats into records of this kind, under the name of the owner. */
export const BEAT_KIND = 'beat'

/** A separator and eight hexadecimal digits. */
const SEPARATOR = '~'
const SUFFIX_LENGTH = 9

export function ownerOf(nodeId: string, startId: string): string {
  return `${nodeId}${SEPARATOR}${startId}`
}

/** Whether the owner is a start of a node, which beats; remote workers do not. */
export function isNodeOwner(owner: string): boolean {
  return owner[owner.length - SUFFIX_LENGTH] === SEPARATOR
}

/** The name people know: without the id of the start. */
export function nodeIdOf(owner: string): string {
  return isNodeOwner(owner) ? owner.slice(0, -SUFFIX_LENGTH) : owner
}

export function beatWrite(owner: string, stampedForMs: Millis): StampedWrite {
  return { kind: BEAT_KIND, key: owner, stampedForMs }
}

/** A beat as it is stored: the store's time of it. */
export function beatAt(value: unknown): Instant | null {
  return typeof value === 'number' ? value : null
}
