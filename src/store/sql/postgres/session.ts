// How shared operations run: reads statement by statement, writes in one transaction with counts written at
// its end.

import type { StampedWrite } from '../../../core/record.ts'
import type { Instant } from '../../../core/time.ts'
import type { PutResult } from '../../port.ts'
import type { Damages } from '../../shared/damage.ts'
import { toKey } from '../../shared/text.ts'
import { Counts } from '../counts.ts'
import type { Sql } from '../dialect.ts'
import { runAsync, type Operation, type Row, type Statement, type Value } from '../operation.ts'
import type { Connection } from './connection.ts'
import { postgresDialect } from './dialect.ts'
import { functionIn, type FunctionName } from './functions.ts'
import { Recent } from './recent.ts'
import { statementsIn } from './statements.ts'

const CLAIMED_MAX = 100_000

const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
const stampedSql = `insert into records as r (kind, key, value, version, expire_at)
  select ?, ?, c.at::text, 1, c.at + ?::bigint from (select ${clock} as at) c
  on conflict (kind, key) do update
    set value = excluded.value, expire_at = excluded.expire_at, version = r.version + 1`

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
  /** Numbers of the jobs claimed here, by id: settling them needs no search. */
  readonly claimed = new Recent<string, number>(CLAIMED_MAX)
  /** Queues whose last claim gave all it was asked for. */
  readonly saturated = new Set<string>()
  readonly #textOf: (sql: string) => string
  #lastSettle: Promise<unknown> = Promise.resolve()

  constructor({ connection, damages, asksServer }: SessionOptions) {
    this.connection = connection
    this.damages = damages
    this.asksServer = asksServer
    this.#textOf = statementsIn(connection.schema)
  }

  functionName(name: FunctionName): string {
    return functionIn(this.connection.schema, name)
  }

  #sql(): Sql & { readonly counts: Counts } {
    const dialect = postgresDialect(this.connection.schema)
    return { dialect, damages: this.damages, counts: new Counts(dialect) }
  }

  /** One statement that is written out for PostgreSQL but for its tables and parameters. */
  readonly statement = (sql: string, params: readonly Value[]): Promise<Row[]> =>
    this.connection.call(this.#textOf(sql), params, { isTakenWaited: true })

  read<T>(work: (sql: Sql) => Operation<T>): Promise<T> {
    const run = ({ sql, params }: Statement) => this.connection.call(this.#textOf(sql), params)
    return runAsync(work(this.#sql()), run)
  }

  /** All of the work or none of it; tried again as a whole when others were in its way. */
  write<T>(work: (sql: Sql) => Operation<T>): Promise<T> {
    return this.connection.transaction(
      async run => {
        const sql = this.#sql()
        const runStatement = (one: Statement) => run(this.#textOf(one.sql), one.params)
        const result = await runAsync(work(sql), runStatement)
        await runAsync(sql.counts.flush(), runStatement)
        return result
      },
      { isTakenWaited: true },
    )
  }

  /** Settles come one after the other: side by side they take longer. */
  settleNext<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lastSettle.then(work)
    this.#lastSettle = result.catch(() => {})
    return result
  }

  /** With the server's time as its value. */
  async putStamped({ kind, key, stampedForMs }: StampedWrite): Promise<PutResult> {
    await this.statement(stampedSql, [kind, toKey(key), stampedForMs])
    return 'put'
  }

  async now(): Promise<Instant> {
    return (await this.connection.call(`select ${clock}`, []))[0]![0] as Instant
  }
}
