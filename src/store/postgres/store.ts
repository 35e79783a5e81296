// The PostgreSQL store: one schema of one database, any number of processes anywhere. Each call is
// one statement, and so one transaction; bundles and copies are transactions of several.

import { atomicAnswer, bundleOf } from '../../core/bundle.ts'
import type { Change } from '../../core/change.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import { isStamped, stampedAt, type RecordWrite, type StampedWrite } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type {
  AttemptFilter,
  ClaimRequest,
  CommitAnswer,
  CommitOptions,
  DueCountRequest,
  InsertAnswer,
  InsertOptions,
  JobFilter,
  LateMeasures,
  Route,
  PageRequest,
  PruneRequest,
  RemoveOptions,
  RenewRequest,
  Report,
  UnopenedStore,
  StoreListener,
  UpcomingRequest,
} from '../port.ts'
import { parseAddress, type Address } from './address.ts'
import { apply } from './apply.ts'
import { attempts, attemptTimes } from './attempts.ts'
import { checkServer, promiseOf } from './boot.ts'
import { claim } from './claim.ts'
import { commit } from './commit.ts'
import { Connection } from './connection.ts'
import { Damages } from '../shared/damage.ts'
import { isLate } from '../port.ts'
import { writeEach } from '../shared/single-calls.ts'
import * as find from './find.ts'
import { insert, insertAndClaim } from './insert.ts'
import { ledger } from './ledger.ts'
import * as list from './list.ts'
import { Functions } from './install.ts'
import { postgresMaintenance, type PostgresMaintenance } from './maintenance.ts'
import { migrate, refuseOlder } from './migrate.ts'
import { overdue } from './overdue.ts'
import * as records from './records.ts'
import { prune, remove } from './remove.ts'
import { renew } from './renew.ts'
import { addMeasures } from './measures.ts'
import * as reports from './reports.ts'
import { setAsideNoted } from './set-aside.ts'
import { Tables } from './tables.ts'
import * as tallies from './tallies.ts'
import { countDue, upcoming } from './upcoming.ts'
import { Wake } from './wake.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?schema=carillon&pool=4&listen=on` */
  readonly url: string
  /** Instead of the server's, for tests. */
  readonly clock?: () => Instant
  /** Whether to hear of other processes' writes; on unless the URL says `listen=off`. */
  readonly listens?: boolean
  /** False refuses a schema of an older version instead of migrating it. */
  readonly migrates?: boolean
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
  readonly #migrates: boolean
  readonly #wake = new Wake()
  readonly #damages = new Damages()
  #functions: Functions | null = null
  #tables: Tables | null = null

  constructor({ url, clock, listens = true, migrates = true }: PostgresOptions) {
    this.#migrates = migrates
    this.#address = parseAddress(url)
    this.#clock = clock ?? null
    this.#listens = listens
    this.maintenance = postgresMaintenance(this.#address, {
      open: () => this.#open,
      reading: work => this.#reading(work),
    })
  }

  get promise(): string {
    return promiseOf(this.#address.place, this.warnings)
  }

  async open(): Promise<void> {
    if (this.#tables) return
    const connection = new Connection(this.#address)
    const functions = new Functions(connection)
    try {
      this.warnings = await checkServer(connection)
      if (!this.#migrates) await refuseOlder(connection)
      await migrate(connection)
      await functions.ensure()
    } catch (error) {
      await connection.close()
      throw error
    }
    connection.restore = () => functions.install()
    this.#functions = functions
    this.#tables = new Tables(connection, this.#clock === null)
    if (this.#listens) this.#wake.attach(connection)
  }

  async close(): Promise<void> {
    const tables = this.#tables
    this.#tables = null
    await this.#wake.detach()
    await tables?.connection.close()
    await this.maintenance.close()
  }

  get #open(): Tables {
    if (this.#tables === null) {
      const message = `the PostgreSQL store at ${this.#address.place} is closed`
      throw new SchedulerError('STORE_UNAVAILABLE', message)
    }
    this.#wake.attend()
    return this.#tables
  }

  /** A call that may meet rows it cannot decode: they are set aside after it. */
  async #decoding<T>(work: (tables: Tables) => Promise<T>): Promise<T> {
    const tables = this.#open
    const result = await work(tables)
    if (tables.damaged.size > 0) await this.#setAside(tables)
    return result
  }

  /** The same for a question, which is asked again for what was set aside. */
  async #reading<T>(work: (tables: Tables) => Promise<T>): Promise<T> {
    const tables = this.#open
    const result = await work(tables)
    if (tables.damaged.size === 0) return result
    await this.#setAside(tables)
    return work(tables)
  }

  async #setAside(tables: Tables): Promise<void> {
    const noted = new Map(tables.damaged)
    tables.damaged.clear()
    try {
      const jobs = await setAsideNoted(tables, noted, await this.now())
      for (const job of jobs) this.#damages.tell(job)
    } catch {
      // The next call that meets them tries again.
    }
  }

  async now(): Promise<Instant> {
    if (this.#clock) return this.#clock()
    const sql = 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
    return Number((await this.#open.connection.call(sql, []))[0]![0])
  }

  async insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const { claim: request } = options
    return request === undefined
      ? { results: await this.#insert(jobs, options), claimed: [] }
      : this.#insertAndClaim(jobs, options, request)
  }

  async #insert(jobs: readonly Job[], options: InsertOptions) {
    const tables = this.#open
    const isDue = jobs.some(job => job.dueAt !== null)
    const notification = isDue ? this.#wake.begin() : null
    if (notification !== null) {
      try {
        return await insert(tables, jobs, options, notification)
      } finally {
        this.#wake.end()
      }
    }
    const results = await insert(tables, jobs, options)
    if (isDue) this.#wake.tell()
    return results
  }

  async #insertAndClaim(jobs: readonly Job[], options: InsertOptions, request: ClaimRequest) {
    const both = await this.#decoding(tables => insertAndClaim(tables, jobs, options, request))
    const held = new Set(both.claimed.map(job => job.id))
    if (jobs.some(job => job.dueAt !== null && !held.has(job.id))) this.#wake.tell()
    return both
  }

  async claim(request: ClaimRequest) {
    return this.#decoding(tables => claim(tables, request))
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer> {
    const { atomic } = options
    if (atomic !== undefined) {
      const given = { ...options, records: atomic.records ?? [] }
      const refusals = await apply(this.#open, bundleOf(changes, atomic), given)
      this.#wake.tell()
      return atomicAnswer(changes, refusals)
    }
    const results = await commit(this.#open, changes, options)
    this.#wake.tellOf(changes, options.now)
    return { results, refusals: [] }
  }

  async renew(request: RenewRequest) {
    return renew(this.#open, request)
  }

  async overdue({ now, limit }: { now: Instant; limit: number }) {
    return this.#decoding(tables => overdue(tables, now, limit))
  }

  async nextDueAt(routes: readonly Route[], seenAt?: Instant) {
    return list.nextDueAt(this.#open, routes, seenAt)
  }

  async get(ids: readonly string[]) {
    return this.#reading(tables => list.get(tables, ids))
  }

  async list(filter: JobFilter, page: PageRequest) {
    return this.#reading(tables => find.list(tables, filter, page))
  }

  async attempts(filter: AttemptFilter, page: PageRequest) {
    return attempts(this.#open, filter, page)
  }

  async attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return attemptTimes(this.#open, filter, page)
  }

  async ledger(jobId: string, page: PageRequest) {
    return this.#reading(tables => ledger(tables, jobId, page))
  }

  async counts(filter?: { readonly tenant?: string }) {
    return tallies.counts(this.#open, filter)
  }

  async tenants(page: PageRequest) {
    return tallies.tenants(this.#open, page)
  }

  async count(filter: JobFilter, max: number) {
    return find.count(this.#open, filter, max)
  }

  async upcoming(request: UpcomingRequest) {
    return this.#reading(tables => upcoming(tables, request))
  }

  async countDue(request: DueCountRequest) {
    return countDue(this.#open, request)
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    await list.setQueuePaused(this.#open, queue, isPaused)
    if (!isPaused) this.#wake.tell()
  }

  async pausedQueues(): Promise<string[]> {
    return list.pausedQueues(this.#open)
  }

  async remove(ids: readonly string[], options?: RemoveOptions) {
    return remove(this.#open, ids, options)
  }

  async prune(request: PruneRequest) {
    const result = await prune(this.#open, request)
    await this.#functions?.nameOften(request.now)
    return result
  }

  async report(given: readonly (Report | LateMeasures)[], now: Instant) {
    const tables = this.#open
    return writeEach(given, {
      isSingle: isLate,
      together: (running: readonly Report[]) => reports.report(tables, running, now),
      single: late => addMeasures(tables, late),
    })
  }

  async progress(jobId: string) {
    return reports.progress(this.#open, jobId)
  }

  async log(attemptId: string, page: PageRequest) {
    return reports.log(this.#open, attemptId, page)
  }

  async putRecords(given: readonly (RecordWrite | StampedWrite)[], now: Instant) {
    const tables = this.#open
    const at = this.#clock?.() ?? null
    return writeEach(at === null ? given : given.map(write => stampedAt(write, at)), {
      isSingle: isStamped,
      together: (writes: readonly RecordWrite[]) => records.putRecords(tables, writes, now),
      single: write => records.putStamped(tables, write),
    })
  }

  async getRecords(kind: string, keys: readonly string[], now: Instant) {
    return records.getRecords(this.#open, kind, keys, now)
  }

  async listRecords(kind: string, page: PageRequest, now: Instant) {
    return records.listRecords(this.#open, kind, page, now)
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
  async verify(): Promise<string[]> {
    return tallies.differences(this.#open)
  }
}
