// Entries of another store, written as they are by one script, unless something is there already:
// then it answers with what is there, and the others are sent again.

import {
  entryOwnerless,
  entryTaken,
  entryTypes,
  isSameEntry,
  type Entry,
} from '../../core/stored/entry.ts'
import type { Instant } from '../../core/time.ts'
import { decodeEntry, encodeEntry } from './entry.ts'
import type { RedisSession } from './session.ts'

/** Null if nothing is there; 0 if the job the entry belongs to is not there. */
type Stored = readonly string[] | null | 0

export async function load(
  session: RedisSession,
  entries: readonly Entry[],
  now: Instant,
): Promise<void> {
  // Jobs come before what belongs to them.
  let left = entryTypes.flatMap(type => entries.filter(entry => entry.type === type))
  while (left.length > 0) {
    const args = left.flatMap(entry => [entry.type, ...encodeEntry(entry)])
    const stored = (await session.run('load', [session.sender, String(now), ...args])) as Stored[]
    if (stored.length === 0) return
    const ownerless = left.find((_, i) => stored[i] === 0)
    if (ownerless !== undefined) throw entryOwnerless(ownerless)
    left = left.filter((entry, i) => isMissing(entry, stored[i]!))
  }
}

function isMissing(entry: Entry, stored: Stored): boolean {
  if (stored === null || stored === 0) return true
  if (!isSameEntry(decodeEntry(entry.type, stored), entry)) throw entryTaken(entry)
  return false
}
