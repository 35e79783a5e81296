// The way to the server: a small pool, calls that each are one statement, and connections that are
// thrown away as soon as anything is wrong with them.

import { SchedulerError } from '../../../core/errors.ts'
import type { Address } from './address.ts'
import type { Row, Value as StoredValue } from '../operation.ts'
import { columnTypes, loadDriver, type Client, type ClientConfig, type Pool } from './driver.ts'
import { isAnswer, isInTheWay, isTaken, isUndefinedFunction, translated } from './errors.ts'

const CONNECT_MS = 10_000
const STATEMENT_MS = 30_000
/** The server gives up first, unless it is out of reach. */
const ANSWER_MS = 35_000
const WAIT_MS = 10_000
const IDLE_MS = 60_000
const TRIES = 5

/**
 * Every statement is bounded and has an index that leads to it, row by row in the order given. Left to itself
 * the server reads whole tables and indexes as long as it has no statistics of one that was just filled.
 */
const byIndex = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']
  .map(way => `-c enable_${way}=off`)
  .join(' ')

export type Value = StoredValue | boolean

interface Query {
  readonly text: string
  readonly values: readonly Value[]
  readonly name: string | null
}

/** Within a transaction. */
export type Run = (sql: string, values?: readonly Value[]) => Promise<Row[]>

/** Texts that get a name; the store's own are fewer, those of filters may be many. */
const NAMES_MAX = 300

export class Connection {
  readonly address: Address
  /** The schema, as it is written in SQL. */
  readonly schema: string
  readonly #pool: Pool
  readonly #names = new Map<string, string>()
  /** Thrown by the work of a transaction itself: passed on as they are. */
  readonly #ownErrors = new WeakSet<Error>()
  #isOpen = true
  /** Brings back a function that someone took away. */
  restore: (() => Promise<void>) | null = null

  constructor(address: Address) {
    this.address = address
    this.schema = address.schema
    this.#pool = this.#newPool()
  }

  #newPool(): Pool {
    const pool = new (loadDriver().Pool)({
      ...this.#config(),
      max: this.address.poolMax,
      idleTimeoutMillis: IDLE_MS,
    })
    // A connection that breaks while nobody uses it leaves the pool by itself.
    pool.on('error', () => {})
    // One that breaks while it is lent out tells its query and, beside that, whoever listens: with
    // nobody listening, the process would end.
    pool.on('connect', client => {
      client.on('error', () => {})
    })
    return pool
  }

  /** Session settings travel with the connection itself, which a pooler would not take. */
  #config(): ClientConfig {
    const { connectionString, isDirect, options } = this.address
    const session: ClientConfig = {
      statement_timeout: STATEMENT_MS,
      idle_in_transaction_session_timeout: STATEMENT_MS,
      application_name: 'carillon',
      options: `-c jit=off -c lock_timeout=${WAIT_MS} ${byIndex} ${options}`.trim(),
    }
    return {
      connectionString,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: CONNECT_MS,
      types: columnTypes,
      ...(isDirect ? session : options === '' ? {} : { options }),
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#pool.end()
  }

  /** A statement that is made often. */
  async call(sql: string, values: readonly Value[]): Promise<Row[]> {
    const query = { text: sql, values, name: this.#nameOf(sql) }
    return this.#again(() => this.#once(query))
  }

  /** Any other statement. */
  async rows(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#again(() => this.#once({ text: sql, values, name: null }))
  }

  /**
   * Tried again when others were in its way: then nothing of it was written. A key that another writer took
   * in this moment is met again, as one that is there.
   */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await work()
      } catch (error) {
        if (this.#ownErrors.has(error as Error)) throw error
        const isOver = tried === TRIES
        if (!isOver && (isInTheWay(error) || isTaken(error))) continue
        if (!isOver && this.restore !== null && isUndefinedFunction(error)) {
          await this.restore()
          continue
        }
        throw this.#meant(error)
      }
    }
  }

  async #once({ text, values, name }: Query): Promise<Row[]> {
    if (!this.#isOpen) throw this.closedError()
    const client = await this.#pool.connect()
    let isSound = false
    try {
      const query = { text, values: values as Value[], rowMode: 'array' as const }
      const { rows } = await client.query<Row>(name === null ? query : { ...query, name })
      isSound = true
      return rows
    } catch (error) {
      isSound = isAnswer(error)
      throw error
    } finally {
      client.release(!isSound)
    }
  }

  /** Statements with a name are parsed once per connection; behind a pooler there is no telling. */
  #nameOf(sql: string): string | null {
    if (!this.address.isDirect) return null
    const known = this.#names.get(sql)
    if (known !== undefined) return known
    if (this.#names.size === NAMES_MAX) return null
    const name = `carillon_${this.#names.size + 1}`
    this.#names.set(sql, name)
    return name
  }

  /** Several statements on one connection, all of them or none; tried again as a whole. */
  async transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    return this.#again(() => this.#transaction(work))
  }

  async #transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw this.closedError()
    const client = await this.#pool.connect()
    let isSound = false
    let failed: unknown = null
    const run: Run = async (text, values) => {
      // Without values a text may hold several statements; the last one answers.
      const given = values === undefined ? {} : { values: [...values], ...this.#named(text) }
      try {
        const result: unknown = await client.query({ text, rowMode: 'array', ...given })
        const last = Array.isArray(result) ? (result as unknown[]).at(-1) : result
        return (last as { rows: Row[] }).rows
      } catch (error) {
        failed = error
        throw error
      }
    }
    try {
      await run('begin')
      const answer = await work(run)
      await run('commit')
      isSound = true
      return answer
    } catch (error) {
      if (error !== failed) this.#ownErrors.add(error as Error)
      isSound = failed === null || isAnswer(failed)
      if (isSound) await run('rollback').catch(() => (isSound = false))
      throw error
    } finally {
      client.release(!isSound)
    }
  }

  #named(sql: string): { name?: string } {
    const name = this.#nameOf(sql)
    return name === null ? {} : { name }
  }

  /** One of its own, beside the pool, for whoever listens. */
  alone(): Client {
    if (!this.#isOpen) throw this.closedError()
    return new (loadDriver().Client)({ ...this.#config(), statement_timeout: STATEMENT_MS })
  }

  #meant(error: unknown): unknown {
    return this.#isOpen ? translated(error, this.address) : this.closedError()
  }

  closedError(): SchedulerError {
    const message = `the PostgreSQL store at ${this.address.place} is closed`
    return new SchedulerError('STORE_UNAVAILABLE', message)
  }
}
