// What differs between the databases in statements that are otherwise the same.

import type { Damages } from '../shared/damage.ts'
import type { Job, State } from '../../core/job.ts'
import type { StoreFault } from '../maintenance.ts'
import type { Operation, Row, Value } from './operation.ts'

export interface Condition {
  readonly sql: string
  readonly params: readonly Value[]
}

/** Which jobs are counted together; names as they are stored. */
export interface CountKey {
  readonly tenant: string
  readonly queue: string
  readonly handler: string
  readonly kind: Job['kind']
  readonly state: State
}

export interface CountChange extends CountKey {
  count: number
  pruned: number
}

/** What a write does to the numbers of jobs, summed until its end. */
export interface WriteCounts {
  add(key: CountKey, count: number, pruned?: number): void
  /** Waiting jobs of the queue, with what this write did so far; exact near the bound. */
  waiting(queue: string, waitingMax: number): Operation<number>
}

/** One thing that can be wrong in the database. */
export interface Check {
  readonly kind: StoreFault['kind']
  /** Its first columns are the key; takes the number of rows wanted. */
  readonly text: string
  readonly keyWidth: number
  readonly about: (row: Row) => string
  readonly repair: (sql: Sql, key: readonly Value[]) => Operation<void>
}

export interface Dialect {
  /** `column` is one of the values: one parameter, however many there are. */
  amongTexts(column: string, values: readonly string[]): Condition
  amongNumbers(column: string, values: readonly number[]): Condition
  /** A table of rows that are given, to lead a join. The names of the columns say what they hold. */
  table(columns: string, rows: readonly (readonly Value[])[], alias: string): Condition
  /** Keeps the table before it outermost, where a database would only guess. */
  readonly crossJoin: string
  /** Behind the name of a table: the index to read it by. */
  useIndex(name: string): string
  /** Behind a select of rows of job_states (alias s) that are about to be written. */
  readonly lockStates: string
  /** The same for rows without an alias; those that others hold are left out. */
  readonly lockRows: string
  /** Behind a select of rows of job_states that must not be deleted before this write ends. */
  readonly keepStates: string
  /** Whoever locks the same waits until this write ends; where writes are alone, nothing. */
  lockRecord(kind: string, key: string): Operation<void>
  lockQueue(queue: string): Operation<void>
  /** Inserts an attempt; one with the same job and number gives way to it. */
  replaceAttempt(columns: string, values: string): string
  /** What only this database can have wrong. */
  readonly checks: Readonly<Record<string, Check>>
  /** What a write did to the numbers of jobs. */
  addCounts(changes: readonly CountChange[]): Operation<void>
}

/** What a shared operation works with: made for one transaction. */
export interface Sql {
  readonly dialect: Dialect
  readonly damages: Damages
  readonly counts: WriteCounts
}
