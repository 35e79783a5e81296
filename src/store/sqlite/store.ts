// The SQLite store: one file, any number of processes on one machine. Each call is one transaction.

import type { Change } from '../../core/change.ts'
import type { Entry } from '../../core/entry.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import { beatWrite } from '../../core/owner.ts'
import type { RecordWrite } from '../../core/record.ts'
import type { Instant, Millis } from '../../core/time.ts'
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
  RemoveOptions,
  RenewRequest,
  Report,
  Store,
  UpcomingRequest,
} from '../store.ts'
import type { Aged, Inspected, StoreFault } from '../upkeep.ts'
import * as aged from './aged.ts'
import { apply } from './apply.ts'
import { attempts, attemptTimes } from './attempts.ts'
import { BUSY_STEP_MS, BusyCalls, type After } from '../sql/sqlite/busy.ts'
import { claim } from './claim.ts'
import { commit } from './commit.ts'
import { Connection } from './connection.ts'
import { Damages, type DamageListener } from '../shared/damage.ts'
import { setAsideNoted } from './set-aside.ts'
import { countDue } from './due.ts'
import { dump } from './dump.ts'
import { isBusy } from '../sql/sqlite/errors.ts'
import * as find from './find.ts'
import { insert } from './insert.ts'
import { insertAndClaim } from './insert-and-claim.ts'
import { inspect, mend } from './inspect.ts'
import * as list from './list.ts'
import { load } from './load.ts'
import { overdue } from './overdue.ts'
import { ledger } from './ledger.ts'
import { prune } from './prune.ts'
import * as records from './records.ts'
import { OwnerLocks } from '../sql/sqlite/owner-locks.ts'
import { remove } from './remove.ts'
import { renew } from './renew.ts'
import { addMeasures } from './measures.ts'
import * as reports from './reports.ts'
import { Tables } from './tables.ts'
import { upcoming } from './upcoming.ts'
import { WakeFile } from '../sql/sqlite/wake-file.ts'
import { Wake, type Every } from '../sql/sqlite/wake.ts'
import type { Watch } from '../sql/sqlite/watch.ts'

/** Beside the store, so that whoever opens one reads no file more. */
export { watchFile } from '../sql/sqlite/watch.ts'

export interface SqliteOptions {
  /** A file, or ':memory:' for a database that lives as long as the store is open. */
  readonly path: string
  readonly clock: () => Instant
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** How long a write waits for another process before it fails. */
  readonly busyMs?: number
  /** The timer between tries while the file is locked; without it SQLite waits and stops the thread. */
  readonly after?: After
  /** The timer behind `onWake`; without it other processes are only noticed by looking. */
  readonly every?: Every
  /** Says when others write, where the system does; the timer then hardly looks by itself. */
  readonly watch?: Watch
  /** False refuses a database of an older version instead of migrating it. */
  readonly migrates?: boolean
}

const BUSY_MS = 5_000
const always = () => true
/** Outcomes of this process give others nothing to do, but for what they insert. */
const isNews = ({ token, inserts }: Change): boolean => token === null || inserts.length > 0

export class SqliteStore implements Store, Inspected, Aged {
  readonly kind = 'sqlite'
  readonly isRemote = false
  readonly claimsAtOnce = 1
  readonly promise: string
  readonly #options: SqliteOptions
  readonly #wake: Wake
  readonly #wakeFile: WakeFile
  readonly #damages = new Damages()
  readonly #owners: OwnerLocks
  readonly #busy: BusyCalls
  readonly #busyMs: number
  #tables: Tables | null = null

  constructor(options: SqliteOptions) {
    this.#options = options
    const { every = () => () => {}, watch } = options
    this.#wake = new Wake({ every, ...(watch ? { watch } : {}) })
    this.#wakeFile = new WakeFile(options.path)
    this.promise = promiseOf(options)
    this.#owners = new OwnerLocks(options.path, options.clock)
    this.#busyMs = options.busyMs ?? BUSY_MS
    const { path, after = () => {} } = options
    this.#busy = new BusyCalls({ path, after, limitMs: this.#busyMs })
  }

  async open(): Promise<void> {
    if (this.#tables) return
    const { path, synchronous = 'FULL', after, migrates = true } = this.#options
    const busyMs = after === undefined ? this.#busyMs : BUSY_STEP_MS
    const open = () => Connection.open({ path, synchronous, busyMs, migrates })
    const connection = after === undefined ? open() : await this.#busy.untilFree(open)
    this.#tables = new Tables(connection, this.#damages)
    this.#wakeFile.open()
    this.#wake.attach(this.#tables.connection)
  }

  lockOwner(owner: string): void {
    if (this.#options.path !== ':memory:') this.#owners.lock(owner)
  }

  async goneOwners(owners: readonly string[]): Promise<string[]> {
    return owners.filter(owner => this.#owners.isGone(owner))
  }

  async close(): Promise<void> {
    this.#owners.releaseAll()
    this.#wake.attach(null)
    this.#wakeFile.close()
    this.#tables?.connection.close()
    this.#tables = null
  }

  get #open(): Tables {
    if (this.#tables) return this.#tables
    throw new SchedulerError(
      'STORE_UNAVAILABLE',
      `the SQLite store at ${this.#options.path} is closed`,
    )
  }

  /** A call that writes; while the file is locked, in the order of calls. */
  async #call<T>(work: (tables: Tables) => T): Promise<T> {
    const tables = this.#open
    if (!this.#busy.isFree) return this.#done(await this.#busy.inTurn(() => work(this.#open)))
    try {
      return this.#done(work(tables))
    } catch (error) {
      if (!isBusy(error) || this.#options.after === undefined) throw error
    }
    return this.#done(await this.#busy.inTurn(() => work(this.#open)))
  }

  /** A call that takes on work: none for a file that is no longer there. */
  #take<T>(work: (tables: Tables) => T): Promise<T> {
    return this.#call(tables => {
      tables.connection.assertThere()
      return work(tables)
    })
  }

  /** A call that gives other processes something to do: they are told after its commit. */
  async #news<T>(called: Promise<T>, isNewsIn: (result: T) => boolean = always): Promise<T> {
    const result = await called
    if (isNewsIn(result)) this.#wakeFile.touch()
    return result
  }

  /** A question: it waits for nobody who writes. */
  async #read<T>(work: (tables: Tables) => T): Promise<T> {
    try {
      return this.#done(work(this.#open))
    } catch (error) {
      if (!isBusy(error) || this.#options.after === undefined) throw error
    }
    return this.#done(await this.#busy.untilFree(() => work(this.#open)))
  }

  /** Rows that a call could not decode are set aside after it. */
  #done<T>(result: T): T {
    const tables = this.#tables
    if (tables !== null && !tables.damages.isEmpty) setAsideNoted(tables, this.#options.clock())
    return result
  }

  async now(): Promise<Instant> {
    return this.#options.clock()
  }

  insert(jobs: readonly Job[], options: InsertOptions) {
    return this.#news(this.#take(tables => insert(tables, jobs, options)))
  }

  claim(request: ClaimRequest) {
    return this.#take(tables => claim(tables, request))
  }

  insertAndClaim(jobs: readonly Job[], options: InsertOptions, request: ClaimRequest) {
    const call = this.#take(tables => insertAndClaim(tables, jobs, options, request))
    return this.#news(call, ({ claimed }) => claimed.length < jobs.length)
  }

  commit(changes: readonly Change[], options: InsertOptions) {
    const call = this.#call(tables => commit(tables, changes, options))
    return this.#news(call, () => changes.some(isNews))
  }

  apply(bundle: Bundle, options: InsertOptions) {
    return this.#news(this.#take(tables => apply(tables, bundle, options)))
  }

  renew(request: RenewRequest) {
    return this.#call(tables => renew(tables, request))
  }

  async overdue({ now, limit }: { now: Instant; limit: number }) {
    return this.#call(tables => overdue(tables, now, limit))
  }

  nextDueAt(lines: readonly Line[], seenAt?: Instant) {
    return this.#read(tables => list.nextDueAt(tables, lines, seenAt))
  }

  get(ids: readonly string[]) {
    return this.#read(tables => list.get(tables, ids))
  }

  list(filter: JobFilter, page: PageRequest) {
    return this.#read(tables => find.list(tables, filter, page))
  }

  attempts(filter: AttemptFilter, page: PageRequest) {
    return this.#read(tables => attempts(tables, filter, page))
  }

  attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return this.#read(tables => attemptTimes(tables, filter, page))
  }

  ledger(jobId: string, page: PageRequest) {
    return this.#read(tables => ledger(tables, jobId, page))
  }

  async counts(filter: { readonly tenant?: string } = {}) {
    return this.#read(tables => tables.read(() => tables.tallies.counts(filter)))
  }

  tenants(page: PageRequest) {
    return this.#read(tables => tables.read(() => tables.tallies.tenants(page)))
  }

  count(filter: JobFilter, max: number) {
    return this.#read(tables => find.count(tables, filter, max))
  }

  upcoming(request: UpcomingRequest) {
    return this.#read(tables => upcoming(tables, request))
  }

  countDue(request: DueCountRequest) {
    return this.#read(tables => countDue(tables, request))
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    await this.#news(this.#call(tables => list.setQueuePaused(tables, queue, isPaused)))
  }

  pausedQueues(): Promise<string[]> {
    return this.#read(tables => tables.glance(() => list.pausedQueues(tables).sort()))
  }

  remove(ids: readonly string[], options?: RemoveOptions) {
    return this.#call(tables => remove(tables, ids, options))
  }

  prune(request: PruneRequest) {
    return this.#call(tables => prune(tables, request))
  }

  addMeasures(late: LateMeasures) {
    return this.#call(tables => addMeasures(tables, late))
  }

  report(given: readonly Report[], now: Instant) {
    return this.#call(tables => reports.report(tables, given, now))
  }

  progress(jobId: string) {
    return this.#read(tables => reports.progress(tables, jobId))
  }

  log(attemptId: string, page: PageRequest) {
    return this.#read(tables => reports.log(tables, attemptId, page))
  }

  async beat(owner: string, keptMs: Millis): Promise<void> {
    const now = this.#options.clock()
    await this.putRecords([beatWrite(owner, now, keptMs)], now)
  }

  putRecords(writes: readonly RecordWrite[], now: Instant) {
    return this.#call(tables => records.putRecords(tables, writes, now))
  }

  getRecords(kind: string, keys: readonly string[], now: Instant) {
    return this.#read(tables => records.getRecords(tables, kind, keys, now))
  }

  listRecords(kind: string, page: PageRequest, now: Instant) {
    return this.#read(tables => records.listRecords(tables, kind, page, now))
  }

  dump(request: DumpRequest) {
    return this.#read(tables => dump(tables, request))
  }

  async load(entries: readonly Entry[], now: Instant): Promise<void> {
    await this.#call(tables => load(tables, entries, now))
  }

  onWake(listener: () => void): () => void {
    return this.#wake.listen(listener)
  }

  onDamage(listener: DamageListener): () => void {
    return this.#damages.listen(listener)
  }

  inspect(limit: number): Promise<StoreFault[]> {
    return this.#read(tables => inspect(tables, limit))
  }

  async mend(fault: StoreFault): Promise<void> {
    await this.#call(tables => mend(tables, fault))
  }

  countBefore(before: Instant): Promise<number> {
    return this.#read(tables => aged.countBefore(tables, before))
  }

  forgetBefore(before: Instant, limit: number): Promise<number> {
    return this.#call(tables => aged.forgetBefore(tables, before, limit))
  }

  /** For tests: numbers that differ from what is there; empty when all is well. */
  verify(): Promise<string[]> {
    return this.#read(tables => tables.read(() => tables.tallies.differences()))
  }
}

function promiseOf({ path, synchronous }: SqliteOptions): string {
  if (path === ':memory:') return 'sqlite in memory: everything is lost when the process ends'
  return synchronous === 'NORMAL'
    ? `sqlite at ${path}: survives a crash of the process; the last moments may be lost with the power`
    : `sqlite at ${path}: what was written survives crashes and loss of power`
}
