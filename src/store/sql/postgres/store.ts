// The PostgreSQL store: one schema of one database, any number of processes anywhere. Claims, inserts,
// settles and renewals are one statement each; other writes are transactions of several.

import type { Change } from '../../../core/change.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { atomicAnswer, bundleOf } from '../../../core/stored/bundle.ts'
import { isStamped, stampedAt, type RecordWrite, type StampedWrite } from '../../../core/record.ts'
import type { Instant } from '../../../core/time.ts'
import type {
  AttemptFilter,
  Bundle,
  ClaimRequest,
  CommitAnswer,
  CommitOptions,
  DueCountRequest,
  InsertAnswer,
  InsertOptions,
  JobFilter,
  LateMeasures,
  PageRequest,
  PruneRequest,
  Refusal,
  RemoveOptions,
  RenewRequest,
  Report,
  Route,
  StoreListener,
  UnopenedStore,
  UpcomingRequest,
} from '../../port.ts'
import { Damages } from '../../shared/damage.ts'
import { apply, Refused } from '../apply.ts'
import { attempts, attemptTimes } from '../attempts.ts'
import { counts, differences, tenants } from '../counts.ts'
import type { Sql } from '../dialect.ts'
import { countDue, upcoming } from '../due.ts'
import { count, get, list } from '../jobs-query.ts'
import { ledger } from '../ledger.ts'
import type { Operation } from '../operation.ts'
import { overdue } from '../overdue.ts'
import { prune } from '../prune.ts'
import { pausedQueues, setQueuePaused } from '../queues.ts'
import { getRecords, listRecords, putRecords } from '../records.ts'
import { remove } from '../remove.ts'
import { log, progress, report } from '../reports.ts'
import { setAside } from '../set-aside.ts'
import { writeEach } from '../../shared/single-calls.ts'
import { parseAddress, type Address } from './address.ts'
import { checkServer, promiseOf } from './boot.ts'
import { claim } from './claim.ts'
import { Connection } from './connection.ts'
import { insert, insertAndClaim } from './insert.ts'
import { Functions } from './install.ts'
import { postgresMaintenance, type PostgresMaintenance } from './maintenance.ts'
import { prepare } from './migrate.ts'
import { nextDueAt } from './next-due.ts'
import { renew } from './renew.ts'
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

export class PostgresStore implements UnopenedStore {
  readonly kind = 'postgres'
  readonly isRemote = true
  readonly claimsAtOnce = 1
  /** What is dangerous about the server's settings, known once the store is open. */
  warnings: readonly string[] = []
  readonly maintenance: PostgresMaintenance
  readonly #address: Address
  readonly #clock: (() => Instant) | null
  readonly #listens: boolean
  readonly #wake = new Wake()
  readonly #damages = new Damages()
  #functions: Functions | null = null
  #session: Session | null = null

  constructor({ url, clock, listens = true }: PostgresOptions) {
    this.#address = parseAddress(url)
    this.#clock = clock ?? null
    this.#listens = listens
    this.maintenance = postgresMaintenance(this.#address, {
      read: work => this.#read(work),
      write: work => this.#write(work),
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
    this.#session = new Session({ connection, damages: this.#damages, asksServer })
    if (this.#listens) this.#wake.attach(connection)
  }

  async close(): Promise<void> {
    const session = this.#session
    this.#session = null
    await this.#wake.detach()
    await session?.connection.close()
    await this.maintenance.close()
  }

  get #open(): Session {
    if (this.#session === null) {
      const message = `the PostgreSQL store at ${this.#address.place} is closed`
      throw new SchedulerError('STORE_UNAVAILABLE', message)
    }
    this.#wake.attend()
    return this.#session
  }

  /** Rows that a call could not decode are set aside after it. */
  async #call<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.#open
    const result = await work(session)
    if (!this.#damages.isEmpty) await this.#setAside(session)
    return result
  }

  #read<T>(work: (sql: Sql) => Operation<T>): Promise<T> {
    return this.#call(session => session.read(work))
  }

  #write<T>(work: (sql: Sql) => Operation<T>): Promise<T> {
    return this.#call(session => session.write(work))
  }

  /** Others may have seen to it, or nothing can be written now. */
  async #setAside(session: Session): Promise<void> {
    for (const damage of this.#damages.take()) {
      try {
        const now = await this.now()
        await session.write(sql => setAside(sql, damage, now))
        this.#damages.tell(damage.job)
      } catch {
        // The next call that meets it tries again.
      }
    }
  }

  async now(): Promise<Instant> {
    return this.#clock ? this.#clock() : this.#open.now()
  }

  async insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const { claim: request } = options
    return request === undefined
      ? { results: await this.#insert(jobs, options), claimed: [] }
      : this.#insertAndClaim(jobs, options, request)
  }

  async #insert(jobs: readonly Job[], options: InsertOptions) {
    const session = this.#open
    if (jobs.length === 0) return []
    const isDue = jobs.some(job => job.dueAt !== null)
    const notification = isDue ? this.#wake.begin() : null
    if (notification !== null) {
      try {
        return await insert(session, jobs, options, notification)
      } finally {
        this.#wake.end()
      }
    }
    const results = await insert(session, jobs, options, null)
    if (isDue) this.#wake.tell()
    return results
  }

  claim(request: ClaimRequest) {
    return this.#call(session => claim(session, request))
  }

  async #insertAndClaim(jobs: readonly Job[], options: InsertOptions, request: ClaimRequest) {
    const both = await this.#call(session => insertAndClaim(session, jobs, options, request))
    const held = new Set(both.claimed.map(job => job.id))
    if (jobs.some(job => job.dueAt !== null && !held.has(job.id))) this.#wake.tell()
    return both
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer> {
    const { atomic } = options
    if (atomic !== undefined) {
      const given = { ...options, records: atomic.records ?? [] }
      return atomicAnswer(changes, await this.#apply(bundleOf(changes, atomic), given))
    }
    const results = await commit(this.#open, changes, options)
    this.#wake.tellOf(changes, options.now)
    return { results, refusals: [] }
  }

  async #apply(bundle: Bundle, options: InsertOptions): Promise<readonly Refusal[]> {
    try {
      await this.#open.write(sql => apply(sql, bundle, options))
    } catch (error) {
      if (error instanceof Refused) return error.refusals
      throw error
    }
    this.#wake.tell()
    return []
  }

  async renew(request: RenewRequest) {
    return renew(this.#open, request)
  }

  async overdue({ now, limit }: { now: Instant; limit: number }) {
    const at = this.#clock ? now : Math.min(now, await this.now())
    return this.#read(sql => overdue(sql, at, limit))
  }

  async nextDueAt(routes: readonly Route[], seenAt?: Instant) {
    return nextDueAt(this.#open, routes, seenAt)
  }

  get(ids: readonly string[]) {
    return this.#read(sql => get(sql, ids))
  }

  list(filter: JobFilter, page: PageRequest) {
    return this.#read(sql => list(sql, filter, page))
  }

  attempts(filter: AttemptFilter, page: PageRequest) {
    return this.#read(sql => attempts(sql, filter, page))
  }

  attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return this.#read(sql => attemptTimes(sql, filter, page))
  }

  ledger(jobId: string, page: PageRequest) {
    return this.#read(sql => ledger(sql, jobId, page))
  }

  counts(filter: { readonly tenant?: string } = {}) {
    return this.#read(() => counts(filter))
  }

  tenants(page: PageRequest) {
    return this.#read(sql => tenants(sql, page))
  }

  count(filter: JobFilter, max: number) {
    return this.#read(sql => count(sql, filter, max))
  }

  upcoming(request: UpcomingRequest) {
    return this.#read(sql => upcoming(sql, request))
  }

  countDue(request: DueCountRequest) {
    return this.#read(sql => countDue(sql, request))
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    await this.#write(() => setQueuePaused(queue, isPaused))
    if (!isPaused) this.#wake.tell()
  }

  pausedQueues(): Promise<string[]> {
    return this.#read(() => pausedQueues())
  }

  remove(ids: readonly string[], options?: RemoveOptions) {
    return this.#write(sql => remove(sql, ids, options))
  }

  async prune(request: PruneRequest) {
    const result = await this.#write(sql => prune(sql, request))
    await this.#functions?.nameOften(request.now)
    return result
  }

  report(reports: readonly (Report | LateMeasures)[], now: Instant) {
    return this.#write(sql => report(sql, reports, now))
  }

  progress(jobId: string) {
    return this.#read(() => progress(jobId))
  }

  log(attemptId: string, page: PageRequest) {
    return this.#read(() => log(attemptId, page))
  }

  putRecords(given: readonly (RecordWrite | StampedWrite)[], now: Instant) {
    const at = this.#clock?.() ?? null
    return writeEach(at === null ? given : given.map(write => stampedAt(write, at)), {
      isSingle: isStamped,
      together: (writes: readonly RecordWrite[]) =>
        this.#write(sql => putRecords(sql, writes, now)),
      single: write => this.#open.putStamped(write),
    })
  }

  getRecords(kind: string, keys: readonly string[], now: Instant) {
    return this.#read(sql => getRecords(sql, kind, keys, now))
  }

  listRecords(kind: string, page: PageRequest, now: Instant) {
    return this.#read(() => listRecords(kind, page, now))
  }

  listen({ onWake, onDamage }: StoreListener): () => void {
    const stopHints = onWake && this.#wake.listen(onWake)
    const stopDamages = onDamage && this.#damages.listen(onDamage)
    return () => {
      stopHints?.()
      stopDamages?.()
    }
  }

  /** For tests: numbers that differ from what is there; empty when all is well. */
  verify(): Promise<string[]> {
    return this.#read(() => differences())
  }
}
