// Target tables in a SQLite file: that of the store, or one beside it. Each page is one transaction,
// written without a pause; in a service by a thread (`data-thread`).

import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  CREATED_COLUMN,
  KEY_COLUMN,
  quoted,
  SOURCE_COLUMN,
  sqliteName,
  type PageOfRows,
  type SourceTables,
} from './tables.ts'

/** What is needed of a SQLite driver: rows as arrays, in the order of their columns. */
export interface TablesDatabase {
  exec(sql: string): void
  prepare(sql: string): {
    run(...values: Value[]): { changes: number | bigint }
    all(...values: Value[]): Value[][]
  }
  close(): void
}
type Value = null | number | string

export interface SqliteTablesOptions {
  readonly path: string
  readonly open: (path: string) => TablesDatabase
}

const BUSY_MS = 5_000

export class SqliteTables implements SourceTables {
  readonly #options: SqliteTablesOptions
  #db: TablesDatabase | null = null

  /** Opened at the first use: a service without sources leaves no file behind. */
  constructor(options: SqliteTablesOptions) {
    this.#options = options
  }

  async write(page: PageOfRows): Promise<number> {
    const { tenant, table, source, columns, rows, at } = page
    const name = quoted(sqliteName(tenant, table))
    return this.#transaction(db => {
      prepare(db, sqliteName(tenant, table), columns)
      const all = [SOURCE_COLUMN, CREATED_COLUMN, KEY_COLUMN, ...columns].map(quoted)
      const places = all.map(() => '?').join(', ')
      const insert = db.prepare(
        `insert into ${name} (${all.join(', ')}) values (${places})
          on conflict (${quoted(SOURCE_COLUMN)}, ${quoted(KEY_COLUMN)}) do nothing`,
      )
      const createdAt = new Date(at).toISOString()
      let added = 0
      for (const { key, values } of rows) {
        added += Number(insert.run(source, createdAt, key, ...values).changes)
      }
      return added
    })
  }

  async removeRows({
    tenant,
    table,
    source,
  }: Pick<PageOfRows, 'tenant' | 'table' | 'source'>): Promise<number> {
    const name = sqliteName(tenant, table)
    return this.#transaction(db => {
      if (columnsOf(db, name).length === 0) return 0
      const sql = `delete from ${quoted(name)} where ${quoted(SOURCE_COLUMN)} = ?`
      return Number(db.prepare(sql).run(source).changes)
    })
  }

  async close(): Promise<void> {
    if (this.#db === null) return
    leaveLog(this.#db)
    this.#db.close()
    this.#db = null
  }

  #transaction<T>(work: (db: TablesDatabase) => T): T {
    const db = (this.#db ??= opened(this.#options))
    db.exec('begin immediate')
    try {
      const result = work(db)
      db.exec('commit')
      return result
    } catch (error) {
      rollback(db)
      throw error
    }
  }
}

/** The last one to leave folds the log in; as long as others are there they will do it. */
function leaveLog(db: TablesDatabase): void {
  try {
    db.exec('pragma busy_timeout = 0')
    db.exec('pragma journal_mode = delete')
  } catch {
    // Others are still there.
  }
}

/** A full disk may have ended the transaction already; then there is nothing to take back. */
function rollback(db: TablesDatabase): void {
  try {
    db.exec('rollback')
  } catch {
    // The error that led here is the one to report.
  }
}

function opened({ path, open }: SqliteTablesOptions): TablesDatabase {
  if (path !== ':memory:') {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  }
  const db = open(path)
  db.exec(`pragma busy_timeout = ${BUSY_MS}`)
  db.exec('pragma journal_mode = wal')
  // A page lost with the power is fetched again by the next run.
  db.exec('pragma synchronous = normal')
  return db
}

function columnsOf(db: TablesDatabase, name: string): string[] {
  return db
    .prepare('select name from pragma_table_info(?)')
    .all(name)
    .map(([column]) => String(column))
}

function prepare(db: TablesDatabase, name: string, columns: readonly string[]): void {
  const held = columnsOf(db, name)
  const table = quoted(name)
  if (held.length === 0) {
    const own = columns.map(column => `${quoted(column)} text`)
    db.exec(`create table ${table} (
      ${quoted(SOURCE_COLUMN)} text not null,
      ${quoted(CREATED_COLUMN)} text not null,
      ${quoted(KEY_COLUMN)} text not null,
      ${[...own, `unique (${quoted(SOURCE_COLUMN)}, ${quoted(KEY_COLUMN)})`].join(', ')}
    )`)
    return
  }
  for (const column of columns.filter(one => !held.includes(one))) {
    db.exec(`alter table ${table} add column ${quoted(column)} text`)
  }
}
