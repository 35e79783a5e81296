// What differs between the databases in statements that are otherwise the same.

import type { Damages } from '../shared/damage.ts'
import type { CountChange } from './counts.ts'
import type { Operation, Value } from './operation.ts'

export interface Condition {
  readonly sql: string
  readonly params: readonly Value[]
}

export interface Dialect {
  /** `column` is one of the values: one parameter, however many there are. */
  amongTexts(column: string, values: readonly string[]): Condition
  amongNumbers(column: string, values: readonly number[]): Condition
  /** A table of one column `value` and its place `n`, counted from 0, to join with. */
  tableOfNumbers(values: readonly number[], alias: string): Condition
  /** Behind a select whose rows of job_states (alias s) are about to be written; SQLite locks the file. */
  readonly lockStates: string
  /** What a write did to the numbers of jobs. */
  addCounts(changes: readonly CountChange[]): Operation<void>
}

/** What every shared operation works with. */
export interface Sql {
  readonly dialect: Dialect
  readonly damages: Damages
}
