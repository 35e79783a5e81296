// How shared operations run: reads statement by statement, writes in one transaction with counts written at
// its end.

import type { Instant } from '../../../core/time.ts'
import type { Damages } from '../../shared/damage.ts'
import { ClaimedNumbers } from '../claimed-numbers.ts'
import { Counts } from '../counts.ts'
import type { Dialect, Sql } from '../dialect.ts'
import { runAsync, type Operation, type Row, type Statement, type Value } from '../operation.ts'
import type { Connection } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { functionIn, type FunctionName } from './functions.ts'
import { statementsIn } from './statements.ts'

const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

export interface SessionOptions {
  readonly connection: Connection
  readonly damages: Damages
  /** Whether the server's clock judges what is due; a test owns time alone. */
  readonly asksServer: boolean
}

export class Session {
  readonly connection: Connection
  readonly damages: Damages
  readonly asksServer: boolean
  readonly claimed = new ClaimedNumbers()
  /** Queues whose last claim gave all it was asked for. */
  readonly saturated = new Set<string>()
  readonly #dialect: Dialect
  readonly #textOf: (sql: string) => string
  #lastSettle: Promise<unknown> = Promise.resolve()

  constructor({ connection, damages, asksServer }: SessionOptions) {
    this.connection = connection
    this.damages = damages
    this.asksServer = asksServer
    this.#dialect = postgresDialect(connection.schema)
    this.#textOf = statementsIn(connection.schema)
  }

  functionName(name: FunctionName): string {
    return functionIn(this.connection.schema, name)
  }

  #sql(): Sql & { readonly counts: Counts } {
    return { dialect: this.#dialect, damages: this.damages, counts: new Counts(this.#dialect) }
  }

  /** One statement that is written out for PostgreSQL but for its tables and parameters. */
  readonly statement = (sql: string, params: readonly Value[]): Promise<Row[]> =>
    this.connection.call(this.#textOf(sql), params)

  read<T>(work: (sql: Sql) => Operation<T>): Promise<T> {
    return runAsync(work(this.#sql()), one => this.statement(one.sql, one.params))
  }

  /** All of the work or none of it; tried again as a whole when others were in its way. */
  write<T>(work: (sql: Sql) => Operation<T>): Promise<T> {
    return this.connection.transaction(async run => {
      const sql = this.#sql()
      const runStatement = (one: Statement) => run(this.#textOf(one.sql), one.params)
      const result = await runAsync(work(sql), runStatement)
      await runAsync(sql.counts.flush(), runStatement)
      return result
    })
  }

  /** Settles come one after the other: side by side they take longer. */
  settleNext<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lastSettle.then(work)
    this.#lastSettle = result.catch(() => {})
    return result
  }

  async now(): Promise<Instant> {
    return (await this.connection.call(`select ${clock}`, []))[0]![0] as Instant
  }
}
