// One connection and how operations run over it: each inside one transaction, with counts written at
// its end.

import { Damages } from '../../shared/damage.ts'
import { ClaimedNumbers } from '../claimed-numbers.ts'
import { Counts } from '../counts.ts'
import type { Sql } from '../dialect.ts'
import { runSync, type Operation, type RunStatement } from '../operation.ts'
import type { Connection } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import type { Statement } from './driver.ts'

export class Session {
  readonly connection: Connection
  readonly damages: Damages
  readonly claimed = new ClaimedNumbers()
  readonly #runStatement: RunStatement

  constructor(connection: Connection, damages: Damages) {
    this.connection = connection
    this.damages = damages
    this.#runStatement = ({ sql, params }) => connection.statement(sql).all(...params)
  }

  statement(text: string): Statement {
    return this.connection.statement(text)
  }

  /** Inside a transaction. */
  run<T>(operation: Operation<T>): T {
    return runSync(operation, this.#runStatement)
  }

  /** Over one state of the database. */
  read<T>(work: (sql: Sql) => Operation<T>): T {
    const sql = { dialect: sqliteDialect, damages: this.damages, counts: new Counts(sqliteDialect) }
    return this.connection.read(() => this.run(work(sql)))
  }

  /** All of the work or none of it; nobody else writes meanwhile. */
  write<T>(work: (sql: Sql) => Operation<T>): T {
    return this.writeWith(sql => this.run(work(sql)))
  }

  /** The same for work that runs statements itself. */
  writeWith<T>(work: (sql: Sql) => T): T {
    const counts = new Counts(sqliteDialect)
    return this.connection.write(() => {
      const result = work({ dialect: sqliteDialect, damages: this.damages, counts })
      this.run(counts.flush())
      return result
    })
  }
}
