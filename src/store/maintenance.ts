// A second, narrow port for what is done to stores rather than with them: looking for what their
// own writes can never leave behind, and putting it right; versions, copies, removal.

import type { Instant } from '../core/time.ts'
import type { Store } from './port.ts'

/**
 * moment: a job that waits is not where claims look, or one that does not wait is. lease: a running
 * job is not in the record its lease ends by, or a record holds nobody. count: counters differ from
 * what is there. list: a job is not listed as what it is. orphan: something belongs to a job that is
 * gone. number: the next number is taken. damage: what no repair brings back.
 */
export type FaultKind = 'moment' | 'lease' | 'count' | 'list' | 'orphan' | 'number' | 'damage'

export interface StoreFault {
  readonly kind: FaultKind
  /** One sentence. */
  readonly about: string
  /** What `mend` finds it by. */
  readonly key: string
}

export interface Inspected {
  /** At most so many of each kind. Reads only. */
  inspect(limit: number): Promise<StoreFault[]>
  /** In one transaction; what is no longer wrong is left alone. Damage cannot be mended. */
  mend(fault: StoreFault): Promise<void>
}

export function isInspected(store: Store): store is Store & Inspected {
  return 'inspect' in store && 'mend' in store
}

/** History by age, whatever jobs keep: attempts, their logs, and skips. */
export interface Aged {
  countBefore(before: Instant): Promise<number>
  /** The oldest first, at most so many in one transaction; answers with how many went. */
  forgetBefore(before: Instant, limit: number): Promise<number>
}

export function isAged(store: Store): store is Store & Aged {
  return 'forgetBefore' in store
}

/** The place a store is in, without opening the store itself. */
export interface Upkeep {
  /** The newest version this program knows. */
  readonly latest: number
  /** 0 where nothing is yet. Throws for what is not ours, or newer. */
  version(): Promise<number>
  /** Up or down; all steps or none. */
  migrate(to: number): Promise<void>
  /** Writes all of it into a new file while others go on; null where the store has no such way. */
  readonly backup: ((path: string) => Promise<void>) | null
  /** Takes over a place that lost the marker by which it is known; only where there is one. */
  readonly adopt?: () => Promise<void>
  /** What someone with more rights runs for a role that may not create anything; only where rights differ. */
  readonly script?: (role: string | null) => Promise<string>
  /** Everything of this store goes, and nothing else. */
  drop(): Promise<void>
  close(): Promise<void>
}
