// What is done to a store as a whole: versions, copies, repair and removal. The command line, the
// doctor and the copier call it; the engine does not.

import type { Entry } from '../core/stored/entry.ts'
import type { Page } from '../core/stored/query.ts'
import type { Instant } from '../core/time.ts'

/** `version`, `migrate`, `backup`, `drop` and the repair of a marker do not need an open store. */
export interface Maintenance {
  /** The newest schema version this program knows. */
  readonly latest: number
  /** 0 where nothing is stored yet. Throws for a place that is foreign or newer. */
  version(): Promise<number>
  /** Up or down; all steps or none. */
  migrate(to: number): Promise<void>
  /** Writes everything into a new file while others go on; null where the store cannot. */
  readonly backup: ((path: string) => Promise<void>) | null
  /** Removes everything of this store and nothing else. */
  drop(): Promise<void>

  /**
   * Everything stored, in a fixed order: the entries of one type after those of another, jobs in the
   * order of creation. Looks at a bounded number, so a page may be short, even empty, while its
   * cursor says that more may follow. What is written meanwhile may be in it or not.
   */
  dump(request: DumpRequest): Promise<Page<Entry>>
  /**
   * Writes entries as they are, all or none, into a store nobody else writes to. What is there
   * already with the same content is left; with other content it is refused (STORE_NOT_EMPTY),
   * and so is what belongs to a job that is not there (JOB_NOT_FOUND).
   */
  load(entries: readonly Entry[], now: Instant): Promise<void>

  /** At most `limit` faults of each kind. Reads only. */
  inspect(limit: number): Promise<StoreFault[]>
  /** In one transaction; what is no longer wrong is left alone. Damage cannot be repaired. */
  repair(fault: StoreFault): Promise<void>

  /** Attempts and skips, whatever jobs keep; null where history goes by the retention of jobs only. */
  countOlderThan(before: Instant): Promise<number | null>
  /** The oldest first with their logs, at most `limit` in one transaction; returns how many. */
  deleteOlderThan(before: Instant, limit: number): Promise<number>
}

export interface DumpRequest {
  readonly limit: number
  /** Null for the beginning. */
  readonly cursor: string | null
}

/**
 * moment: a job that waits is not where claims look, or one that does not wait is. lease: a running
 * job is not in the record its lease ends by, or a record holds nobody. count: counters differ from
 * what is there. list: a job is not listed as what it is. orphan: something belongs to a job that is
 * gone. number: the next number is taken. marker: the marker a store is known by is gone, so it does
 * not open. damage: what no repair brings back.
 */
export type FaultKind =
  | 'moment'
  | 'lease'
  | 'count'
  | 'list'
  | 'orphan'
  | 'number'
  | 'marker'
  | 'damage'

export interface StoreFault {
  readonly kind: FaultKind
  /** One sentence. */
  readonly about: string
  /** What `repair` finds it by. */
  readonly key: string
}
