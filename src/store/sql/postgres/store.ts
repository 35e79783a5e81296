// The PostgreSQL store: one schema of one database, any number of processes anywhere. Claims, inserts,
// settles and renewals are one statement each; other writes are transactions of several.

import type { Change } from '../../../core/change.ts'
import type { Entry } from '../../../core/entry.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { beatWrite } from '../../../core/owner.ts'
import type { RecordWrite } from '../../../core/record.ts'
import type { Instant, Millis } from '../../../core/time.ts'
import type {
  AttemptFilter,
  Bundle,
  ClaimRequest,
  DueCountRequest,
  DumpRequest,
  InsertOptions,
  JobFilter,
  LateMeasures,
  Line,
  PageRequest,
  PruneRequest,
  Refusal,
  RemoveOptions,
  RenewRequest,
  Report,
  Store,
  UpcomingRequest,
} from '../../store.ts'
import type { Aged, Inspected, StoreFault } from '../../upkeep.ts'
import { Damages, type DamageListener } from '../../shared/damage.ts'
import { countBefore, deleteBefore } from '../aged.ts'
import { apply, Refused } from '../apply.ts'
import { attempts, attemptTimes } from '../attempts.ts'
import { counts, differences, tenants } from '../counts.ts'
import type { Sql } from '../dialect.ts'
import { countDue, upcoming } from '../due.ts'
import { dump } from '../dump.ts'
import { count, get, list } from '../jobs-query.ts'
import { ledger } from '../ledger.ts'
import { load } from '../load.ts'
import { addMeasures } from '../measures.ts'
import type { Operation } from '../operation.ts'
import { overdue } from '../overdue.ts'
import { prune } from '../prune.ts'
import { pausedQueues, setQueuePaused } from '../queues.ts'
import { getRecords, listRecords, putRecords } from '../records.ts'
import { remove } from '../remove.ts'
import { inspect, repair } from '../repair.ts'
import { log, progress, report } from '../reports.ts'
import { setAside } from '../set-aside.ts'
import { parseAddress, type Address } from './address.ts'
import { checkServer, promiseOf } from './boot.ts'
import { claim } from './claim.ts'
import { Connection } from './connection.ts'
import { insert, insertAndClaim } from './insert.ts'
import { Functions } from './install.ts'
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

export class PostgresStore implements Store, Inspected, Aged {
  readonly kind = 'postgres'
  readonly isRemote = true
  readonly claimsAtOnce = 1
  /** What is dangerous about the server's settings, known once the store is open. */
  warnings: readonly string[] = []
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

  async insert(jobs: readonly Job[], options: InsertOptions) {
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

  async insertAndClaim(jobs: readonly Job[], options: InsertOptions, request: ClaimRequest) {
    const both = await this.#call(session => insertAndClaim(session, jobs, options, request))
    const held = new Set(both.claimed.map(job => job.id))
    if (jobs.some(job => job.dueAt !== null && !held.has(job.id))) this.#wake.tell()
    return both
  }

  async commit(changes: readonly Change[], options: InsertOptions) {
    const results = await commit(this.#open, changes, options)
    this.#wake.tellOf(changes, options.now)
    return results
  }

  async apply(bundle: Bundle, options: InsertOptions): Promise<Refusal[]> {
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

  async nextDueAt(lines: readonly Line[], seenAt?: Instant) {
    return nextDueAt(this.#open, lines, seenAt)
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

  addMeasures(late: LateMeasures) {
    return this.#write(() => addMeasures(late))
  }

  report(reports: readonly Report[], now: Instant) {
    return this.#write(sql => report(sql, reports, now))
  }

  progress(jobId: string) {
    return this.#read(() => progress(jobId))
  }

  log(attemptId: string, page: PageRequest) {
    return this.#read(() => log(attemptId, page))
  }

  async beat(owner: string, keptMs: Millis): Promise<void> {
    const now = this.#clock?.() ?? null
    if (now === null) await this.#open.beat(owner, keptMs)
    else await this.putRecords([beatWrite(owner, now, keptMs)], now)
  }

  putRecords(writes: readonly RecordWrite[], now: Instant) {
    return this.#write(sql => putRecords(sql, writes, now))
  }

  getRecords(kind: string, keys: readonly string[], now: Instant) {
    return this.#read(sql => getRecords(sql, kind, keys, now))
  }

  listRecords(kind: string, page: PageRequest, now: Instant) {
    return this.#read(() => listRecords(kind, page, now))
  }

  dump(request: DumpRequest) {
    return this.#read(sql => dump(sql, request))
  }

  async load(entries: readonly Entry[], now: Instant): Promise<void> {
    await this.#write(sql => load(sql, entries, now))
  }

  onWake(listener: () => void): () => void {
    return this.#wake.listen(listener)
  }

  onDamage(listener: DamageListener): () => void {
    return this.#damages.listen(listener)
  }

  inspect(limit: number): Promise<StoreFault[]> {
    return this.#read(sql => inspect(sql, limit))
  }

  async mend(fault: StoreFault): Promise<void> {
    await this.#write(sql => repair(sql, fault))
  }

  countBefore(before: Instant): Promise<number> {
    return this.#read(() => countBefore(before))
  }

  forgetBefore(before: Instant, limit: number): Promise<number> {
    return this.#write(sql => deleteBefore(sql, before, limit))
  }

  /** For tests: numbers that differ from what is there; empty when all is well. */
  verify(): Promise<string[]> {
    return this.#read(() => differences())
  }
}
