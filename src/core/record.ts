// Small keyed records beside the jobs: nodes, idempotency keys, settings of lanes, audit.

import type { Json } from './json.ts'
import type { Instant, Millis } from './time.ts'

/** Nodes tell of themselves in records of this kind, which lapse when they no longer do. */
export const NODE_KIND = 'node'

/** The latest time seen, and the clock epoch if the clock was ever set back. */
export const CLOCK_KIND = 'clock'

/** Tokens that were revoked before their time. */
export const REVOKED_KIND = 'revoked-token'

/** Records that say all by being there: one that cannot be read still says it. */
export function speaksByPresence(kind: string): boolean {
  return kind === REVOKED_KIND
}

export interface StoredRecord {
  readonly kind: string
  readonly key: string
  readonly value: Json
  readonly version: number
  readonly expireAt: Instant | null
}

/** Written iff the stored version is the expected one: 0 means "not there yet", null means any. */
export interface RecordWrite {
  readonly kind: string
  readonly key: string
  /** Null as a whole removes the record. */
  readonly value: Json
  readonly expectedVersion: number | null
  readonly expireAt: Instant | null
  readonly remove?: boolean
}

/** Always written: its value is the store's own time of the write, and it expires so long after. */
export interface StampedWrite {
  readonly kind: string
  readonly key: string
  readonly stampedForMs: Millis
}

export function isStamped(write: RecordWrite | StampedWrite): write is StampedWrite {
  return 'stampedForMs' in write
}

/** A write as it is made at the store's time. */
export function stampedAt(write: RecordWrite | StampedWrite, at: Instant): RecordWrite {
  if (!isStamped(write)) return write
  const { kind, key, stampedForMs } = write
  return { kind, key, value: at, expectedVersion: null, expireAt: at + stampedForMs }
}

/** Only while it is there: whoever removes the record is the one who took it up. */
export function removalOf({ kind, key, version }: StoredRecord): RecordWrite {
  return { kind, key, value: null, expectedVersion: version, expireAt: null, remove: true }
}
