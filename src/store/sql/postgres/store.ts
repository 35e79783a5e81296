// The PostgreSQL store: one schema of one database, any number of processes anywhere. Claims, inserts and
// settles are one statement each; other writes are transactions of several.

import type { Change } from '../../../core/change.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import type { Instant } from '../../../core/time.ts'
import type {
  ClaimRequest,
  CommitResult,
  InsertAnswer,
  InsertOptions,
  InsertResult,
  PruneRequest,
  UnopenedStore,
} from '../../port.ts'
import { overdue } from '../overdue.ts'
import { RelationalStore, type SqlWork } from '../relational-store.ts'
import { parseAddress, type Address } from './address.ts'
import { checkServer, promiseOf } from './boot.ts'
import { claim } from './claim.ts'
import { Connection } from './connection.ts'
import { insert, insertAndClaim } from './insert.ts'
import { Functions } from './install.ts'
import { postgresMaintenance, type PostgresMaintenance } from './maintenance.ts'
import { prepare } from './migrate.ts'
import { Session } from './session.ts'
import { commit } from './settle.ts'
import { Wake } from './wake.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?schema=carillon&pool=4&listen=on` */
  readonly url: string
  /** Instead of the server's, for tests. */
  readonly clock?: () => Instant
  /** Whether to hear of other processes' writes; on unless the URL says `listen=off`. */
  readonly listens?: boolean
}

export class PostgresStore extends RelationalStore implements UnopenedStore {
  readonly kind = 'postgres'
  readonly isRemote = true
  readonly claimsAtOnce = 1
  /** What is dangerous about the server's settings, known once the store is open. */
  warnings: readonly string[] = []
  readonly maintenance: PostgresMaintenance
  readonly #address: Address
  readonly #clock: (() => Instant) | null
  readonly #listens: boolean
  protected readonly wake = new Wake()
  #functions: Functions | null = null
  #session: Session | null = null

  constructor({ url, clock, listens = true }: PostgresOptions) {
    super()
    this.#address = parseAddress(url)
    this.#clock = clock ?? null
    this.#listens = listens
    this.maintenance = postgresMaintenance(this.#address, {
      read: work => this.read(work),
      write: work => this.write(work),
    })
  }

  get promise(): string {
    return promiseOf(this.#address.place, this.warnings)
  }

  async open(): Promise<void> {
    if (this.#session) return
    const connection = new Connection(this.#address)
    const functions = new Functions(connection)
    try {
      this.warnings = await checkServer(connection)
      await prepare(connection)
      await functions.ensure()
    } catch (error) {
      await connection.close()
      throw error
    }
    connection.restore = () => functions.install()
    this.#functions = functions
    const asksServer = this.#clock === null
    this.#session = new Session({ connection, damages: this.damages, asksServer })
    if (this.#listens) this.wake.attach(connection)
  }

  async close(): Promise<void> {
    const session = this.#session
    this.#session = null
    await this.wake.detach()
    await session?.connection.close()
    await this.maintenance.close()
  }

  protected opened(): Session {
    if (this.#session === null) {
      const message = `the PostgreSQL store at ${this.#address.place} is closed`
      throw new SchedulerError('STORE_UNAVAILABLE', message)
    }
    this.wake.attend()
    return this.#session
  }

  async #call<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.opened()
    const result = await work(session)
    if (!this.damages.isEmpty) await this.setDamagedAside(aside => session.write(aside))
    return result
  }

  protected read<T>(work: SqlWork<T>): Promise<T> {
    return this.#call(session => session.read(work))
  }

  protected write<T>(work: SqlWork<T>): Promise<T> {
    return this.#call(session => session.write(work))
  }

  protected notify(): void {
    this.wake.tell()
  }

  async now(): Promise<Instant> {
    return this.#clock ? this.#clock() : this.opened().now()
  }

  async insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const { claim: request } = options
    return request === undefined
      ? { results: await this.#insert(jobs, options), claimed: [] }
      : this.#insertAndClaim(jobs, options, request)
  }

  async #insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertResult[]> {
    if (jobs.length === 0) return this.none()
    const session = this.opened()
    const isDue = jobs.some(job => job.dueAt !== null)
    const notification = isDue ? this.wake.begin() : null
    let isNotified = false
    try {
      const inserted = await insert(session, jobs, options, notification)
      isNotified = inserted.isNotified
      return inserted.results
    } finally {
      if (notification !== null) this.wake.end()
      if (isDue && !isNotified) this.notify()
    }
  }

  claim(request: ClaimRequest) {
    return this.#call(session => claim(session, request))
  }

  async #insertAndClaim(jobs: readonly Job[], options: InsertOptions, request: ClaimRequest) {
    const both = await this.#call(session => insertAndClaim(session, jobs, options, request))
    const held = new Set(both.claimed.map(job => job.id))
    if (jobs.some(job => job.dueAt !== null && !held.has(job.id))) this.notify()
    return both
  }

  protected async commitEach(
    changes: readonly Change[],
    options: InsertOptions,
  ): Promise<CommitResult[]> {
    const results = await commit(this.opened(), changes, options)
    this.wake.tellOf(changes, options.now)
    return results
  }

  async overdue({ now, limit }: { now: Instant; limit: number }) {
    const at = this.#clock ? now : Math.min(now, await this.now())
    return this.read(sql => overdue(sql, at, limit))
  }

  override async prune(request: PruneRequest) {
    const result = await super.prune(request)
    await this.#functions?.nameOften(request.now)
    return result
  }
}
