// Target tables in PostgreSQL, in schemas of their own. A page is one statement: all of it or none.

import { slices, type Steps } from '../actions/slices.ts'
import { SchedulerError } from '../core/errors.ts'
import {
  CREATED_COLUMN,
  KEY_COLUMN,
  postgresSchema,
  quoted,
  SOURCE_COLUMN,
  type PageOfRows,
  type Row,
  type SourceTables,
} from './tables.ts'

type Value = string | number | boolean | null
type Run = (sql: string, values?: readonly Value[]) => Promise<readonly (readonly unknown[])[]>

/** What is needed of a connection: rows as arrays, in the order of their columns. */
export interface TablesConnection {
  rows: Run
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface PostgresTablesOptions {
  /** Opened at the first use. */
  readonly connect: () => TablesConnection
  /** The store's own schema, unquoted. */
  readonly schema: string
}

/** Said of a schema that is ours, so that nobody else's is ever written to. */
const MARK = 'target tables of carillon'
/** "CRLT": one at a time makes tables, over all nodes. */
const LATCH = 0x43_52_4c_54
const KNOWN_MAX = 10_000

export class PostgresTables implements SourceTables {
  readonly #options: PostgresTablesOptions
  /** Columns known to be there, by table: most pages need no look. */
  readonly #known = new Map<string, ReadonlySet<string>>()
  #held: TablesConnection | null = null

  constructor(options: PostgresTablesOptions) {
    this.#options = options
  }

  async write(page: PageOfRows): Promise<number> {
    const place = this.#placeOf(page)
    await this.#prepare(page, place)
    try {
      return await this.#insert(page, place)
    } catch (error) {
      // Somebody dropped the table or a column of it since this node looked.
      if (!isGone(error)) throw error
      this.#known.delete(place)
      await this.#prepare(page, place)
      return this.#insert(page, place)
    }
  }

  async #insert({ source, columns, rows, at }: PageOfRows, place: string): Promise<number> {
    const own = columns.map((_, i) => `row ->> ${i + 1}`)
    const values = ['$1', '$2::timestamptz', 'row ->> 0', ...own].join(', ')
    const all = [SOURCE_COLUMN, CREATED_COLUMN, KEY_COLUMN, ...columns].map(quoted).join(', ')
    const json = await slices.run(jsonOf(rows), { totalMs: Infinity })
    const [counted] = await this.#connection.rows(
      `with added as (
        insert into ${place} (${all})
          select ${values} from json_array_elements($3::json) as given (row)
          on conflict (${quoted(SOURCE_COLUMN)}, ${quoted(KEY_COLUMN)}) do nothing
          returning 1
      ) select count(*) from added`,
      [source, new Date(at).toISOString(), json],
    )
    return Number(counted?.[0] ?? 0)
  }

  async removeRows(from: Pick<PageOfRows, 'tenant' | 'table' | 'source'>): Promise<number> {
    const place = this.#placeOf(from)
    const [held] = await this.#connection.rows('select to_regclass($1)', [place])
    if (held?.[0] == null) return 0
    const sql = `with gone as (
        delete from ${place} where ${quoted(SOURCE_COLUMN)} = $1 returning 1
      ) select count(*) from gone`
    const [counted] = await this.#connection.rows(sql, [from.source])
    return Number(counted?.[0] ?? 0)
  }

  async close(): Promise<void> {
    await this.#held?.close()
    this.#held = null
  }

  get #connection(): TablesConnection {
    this.#held ??= this.#options.connect()
    return this.#held
  }

  #placeOf({ tenant, table }: Pick<PageOfRows, 'tenant' | 'table'>): string {
    return `${quoted(postgresSchema(this.#options.schema, tenant))}.${quoted(table)}`
  }

  async #prepare({ tenant, columns }: PageOfRows, place: string): Promise<void> {
    const known = this.#known.get(place)
    if (known && columns.every(column => known.has(column))) return
    const schema = postgresSchema(this.#options.schema, tenant)
    await this.#connection.transaction(async run => {
      await run(`select pg_advisory_xact_lock(${LATCH})`)
      await prepareSchema(run, schema)
      await run(`create table if not exists ${place} (
        ${quoted(SOURCE_COLUMN)} text not null,
        ${quoted(CREATED_COLUMN)} timestamptz not null,
        ${quoted(KEY_COLUMN)} text not null,
        unique (${quoted(SOURCE_COLUMN)}, ${quoted(KEY_COLUMN)})
      )`)
      const added = columns.map(column => `add column if not exists ${quoted(column)} text`)
      if (added.length > 0) await run(`alter table ${place} ${added.join(', ')}`)
    })
    if (this.#known.size >= KNOWN_MAX) this.#known.clear()
    this.#known.set(place, new Set([...(known ?? []), ...columns]))
  }
}

/** A schema that was there before and is not ours is left alone. */
async function prepareSchema(run: Run, schema: string): Promise<void> {
  const [held] = await run(
    `select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = $1`,
    [schema],
  )
  if (held?.[0] === MARK) return
  if (held) {
    const message = `schema ${schema} belongs to something else; nothing was changed in it`
    throw new SchedulerError('STORE_FOREIGN', message)
  }
  await run(`create schema ${quoted(schema)}`)
  await run(`comment on schema ${quoted(schema)} is '${MARK}'`)
}

/** No such table, column or schema, in the words of the connection. */
function isGone(error: unknown): boolean {
  return error instanceof SchedulerError && error.code === 'STORE_CORRUPT'
}

const ROWS_PER_STEP = 50

/** Lists of key and values; 32 Mi characters of them in one step take 0.1 s of the event loop. */
function* jsonOf(rows: readonly Row[]): Steps<string> {
  const texts: string[] = []
  for (const [i, { key, values }] of rows.entries()) {
    if (i % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield
    texts.push(JSON.stringify([key, ...values]))
  }
  return `[${texts.join(',')}]`
}
