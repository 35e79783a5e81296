// The SQLite store: one file, any number of processes on one machine. Each call is one transaction.

import { atomicAnswer, bundleOf } from '../../../core/stored/bundle.ts'
import type { Change } from '../../../core/change.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { isNodeOwner } from '../../../core/run/owner.ts'
import { stampedAt, type RecordWrite, type StampedWrite } from '../../../core/record.ts'
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
  Route,
  PageRequest,
  PruneRequest,
  Refusal,
  RemoveOptions,
  RenewRequest,
  Report,
  UnopenedStore,
  StoreListener,
  UpcomingRequest,
} from '../../port.ts'
import type { Maintenance } from '../../maintenance.ts'
import { Damages } from '../../shared/damage.ts'
import { apply, Refused } from '../apply.ts'
import { attempts, attemptTimes } from '../attempts.ts'
import { counts, differences, tenants } from '../counts.ts'
import { countDue, nextDueAt, upcoming } from '../due.ts'
import { insert } from '../insert.ts'
import { count, get, list } from '../jobs-query.ts'
import { ledger } from '../ledger.ts'
import { overdue } from '../overdue.ts'
import { prune } from '../prune.ts'
import { pausedQueues, setQueuePaused } from '../queues.ts'
import { getRecords, listRecords, putRecords } from '../records.ts'
import { remove } from '../remove.ts'
import { renew } from '../renew.ts'
import { log, progress, report } from '../reports.ts'
import { setAside } from '../set-aside.ts'
import { BUSY_STEP_MS, BusyCalls, type After } from './busy.ts'
import { claim, insertAndClaim } from './claim.ts'
import { Connection } from './connection.ts'
import { isBusy } from './errors.ts'
import { sqliteMaintenance } from './maintenance.ts'
import { OwnerLocks } from './owner-locks.ts'
import { Session } from './session.ts'
import { commitAll } from './settle.ts'
import { WakeFile } from './wake-file.ts'
import { Wake, type Every } from './wake.ts'
import type { Watch } from './watch.ts'

/** Beside the store, so that whoever opens one reads no file more. */
export { watchFile } from './watch.ts'

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
}

const BUSY_MS = 5_000
const always = () => true
/** Outcomes of this process give others nothing to do, but for what they insert. */
const isNews = ({ token, inserts }: Change): boolean => token === null || inserts.length > 0

export class SqliteStore implements UnopenedStore {
  readonly kind = 'sqlite'
  readonly isRemote = false
  readonly claimsAtOnce = 1
  readonly promise: string
  readonly maintenance: Maintenance
  readonly #options: SqliteOptions
  readonly #wake: Wake
  readonly #wakeFile: WakeFile
  readonly #damages = new Damages()
  readonly #owners: OwnerLocks
  readonly #busy: BusyCalls
  readonly #busyMs: number
  #session: Session | null = null

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
    this.maintenance = sqliteMaintenance(path, {
      read: work => this.#read(work),
      write: work => this.#call(work),
    })
  }

  async open(): Promise<void> {
    if (this.#session) return
    const { path, synchronous = 'FULL', after } = this.#options
    const busyMs = after === undefined ? this.#busyMs : BUSY_STEP_MS
    const open = () => Connection.open({ path, synchronous, busyMs })
    const connection = after === undefined ? open() : await this.#busy.untilFree(open)
    this.#session = new Session(connection, this.#damages)
    this.#wakeFile.open()
    this.#wake.attach(connection)
  }

  async close(): Promise<void> {
    this.#owners.releaseAll()
    this.#wake.attach(null)
    this.#wakeFile.close()
    this.#session?.connection.close()
    this.#session = null
  }

  get #open(): Session {
    if (this.#session) return this.#session
    throw new SchedulerError(
      'STORE_UNAVAILABLE',
      `the SQLite store at ${this.#options.path} is closed`,
    )
  }

  /** The answer to a call that asks for nothing: a closed store refuses it all the same. */
  #none(): never[] {
    this.#open.connection.assertOpen()
    return []
  }

  /** A call that writes; while the file is locked, in the order of calls. */
  async #call<T>(work: (session: Session) => T): Promise<T> {
    const session = this.#open
    if (!this.#busy.isFree) return this.#done(await this.#busy.inTurn(() => work(this.#open)))
    try {
      return this.#done(work(session))
    } catch (error) {
      if (!isBusy(error) || this.#options.after === undefined) throw error
    }
    return this.#done(await this.#busy.inTurn(() => work(this.#open)))
  }

  /** A call that takes on work: none for a file that is no longer there. */
  #take<T>(work: (session: Session) => T): Promise<T> {
    return this.#call(session => {
      session.connection.assertThere()
      return work(session)
    })
  }

  /** A call that gives other processes something to do: they are told after its commit. */
  async #news<T>(called: Promise<T>, isNewsIn: (result: T) => boolean = always): Promise<T> {
    const result = await called
    if (isNewsIn(result)) this.#wakeFile.touch()
    return result
  }

  /** A question: it waits for nobody who writes. */
  async #read<T>(work: (session: Session) => T): Promise<T> {
    try {
      return this.#done(work(this.#open))
    } catch (error) {
      if (!isBusy(error) || this.#options.after === undefined) throw error
    }
    return this.#done(await this.#busy.untilFree(() => work(this.#open)))
  }

  /** Rows that a call could not decode are set aside after it. */
  #done<T>(result: T): T {
    if (this.#session !== null && !this.#damages.isEmpty) this.#setAside(this.#session)
    return result
  }

  /** Others may have seen to it, or nothing can be written now. */
  #setAside(session: Session): void {
    for (const damage of this.#damages.take()) {
      try {
        session.write(sql => setAside(sql, damage, this.#options.clock()))
        this.#damages.tell(damage.job)
      } catch {
        // The next call that meets it tries again.
      }
    }
  }

  async now(): Promise<Instant> {
    return this.#options.clock()
  }

  async insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const { claim: request } = options
    if (request !== undefined) {
      this.#lockOwner(request)
      const call = this.#take(session => insertAndClaim(session, jobs, options, request))
      return this.#news(call, ({ claimed }) => claimed.length < jobs.length)
    }
    if (jobs.length === 0) return { results: this.#none(), claimed: [] }
    const call = this.#take(session => session.write(sql => insert(sql, jobs, options)))
    return { results: await this.#news(call), claimed: [] }
  }

  claim(request: ClaimRequest) {
    this.#lockOwner(request)
    return this.#take(session => claim(session, request))
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer> {
    const { atomic } = options
    if (atomic !== undefined) {
      const given = { ...options, records: atomic.records ?? [] }
      return atomicAnswer(changes, await this.#apply(bundleOf(changes, atomic), given))
    }
    if (changes.length === 0) return { results: this.#none(), refusals: [] }
    const call = this.#call(session =>
      session.writeWith(sql => commitAll(session, sql, changes, options)),
    )
    return { results: await this.#news(call, () => changes.some(isNews)), refusals: [] }
  }

  async #apply(bundle: Bundle, options: InsertOptions): Promise<readonly Refusal[]> {
    const call = this.#take(session => session.write(sql => apply(sql, bundle, options)))
    try {
      await this.#news(call)
      return []
    } catch (error) {
      if (error instanceof Refused) return error.refusals
      throw error
    }
  }

  async renew(request: RenewRequest) {
    if (request.leases.length === 0) return this.#none()
    const isLook = request.until === null
    return this.#call(session =>
      isLook ? session.read(() => renew(request)) : session.write(() => renew(request)),
    )
  }

  async overdue({ now, limit }: { now: Instant; limit: number }): Promise<Job[]> {
    const late = await this.#read(session => session.read(sql => overdue(sql, now, limit)))
    const { items } = await this.list({ states: ['running'] }, { limit: limits.pageMax })
    const leased = items.filter(({ lease }) => lease !== null && lease.until > now)
    const owners = new Set(leased.map(({ lease }) => lease!.owner))
    const gone = new Set([...owners].filter(owner => this.#owners.isGone(owner)))
    return [...late, ...leased.filter(({ lease }) => gone.has(lease!.owner))].slice(0, limit)
  }

  /** As long as this process lives, others find the lock held. Remote workers live elsewhere. */
  #lockOwner({ owner }: ClaimRequest): void {
    if (this.#options.path !== ':memory:' && isNodeOwner(owner)) this.#owners.lock(owner)
  }

  nextDueAt(routes: readonly Route[], seenAt?: Instant) {
    return this.#read(session =>
      session.connection.glance(() => session.run(nextDueAt(routes, seenAt))),
    )
  }

  get(ids: readonly string[]) {
    return this.#read(session => session.read(sql => get(sql, ids)))
  }

  list(filter: JobFilter, page: PageRequest) {
    return this.#read(session => session.read(sql => list(sql, filter, page)))
  }

  attempts(filter: AttemptFilter, page: PageRequest) {
    return this.#read(session => session.read(sql => attempts(sql, filter, page)))
  }

  attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return this.#read(session => session.read(sql => attemptTimes(sql, filter, page)))
  }

  ledger(jobId: string, page: PageRequest) {
    return this.#read(session => session.read(sql => ledger(sql, jobId, page)))
  }

  counts(filter: { readonly tenant?: string } = {}) {
    return this.#read(session => session.read(() => counts(filter)))
  }

  tenants(page: PageRequest) {
    return this.#read(session => session.read(sql => tenants(sql, page)))
  }

  count(filter: JobFilter, max: number) {
    return this.#read(session => session.read(sql => count(sql, filter, max)))
  }

  upcoming(request: UpcomingRequest) {
    return this.#read(session => session.read(sql => upcoming(sql, request)))
  }

  countDue(request: DueCountRequest) {
    return this.#read(session => session.read(sql => countDue(sql, request)))
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    const call = this.#call(session => session.write(() => setQueuePaused(queue, isPaused)))
    await this.#news(call)
  }

  pausedQueues(): Promise<string[]> {
    return this.#read(session => session.read(() => pausedQueues()))
  }

  async remove(ids: readonly string[], options?: RemoveOptions) {
    if (ids.length === 0) return this.#none()
    return this.#call(session => session.write(sql => remove(sql, ids, options)))
  }

  prune(request: PruneRequest) {
    return this.#call(session => session.write(sql => prune(sql, request)))
  }

  async report(reports: readonly (Report | LateMeasures)[], now: Instant) {
    if (reports.length === 0) return this.#none()
    return this.#call(session => session.write(sql => report(sql, reports, now)))
  }

  progress(jobId: string) {
    return this.#read(session => session.read(() => progress(jobId)))
  }

  log(attemptId: string, page: PageRequest) {
    return this.#read(session => session.read(() => log(attemptId, page)))
  }

  async putRecords(writes: readonly (RecordWrite | StampedWrite)[], now: Instant) {
    if (writes.length === 0) return this.#none()
    const at = this.#options.clock()
    const stamped = writes.map(write => stampedAt(write, at))
    return this.#call(session => session.write(sql => putRecords(sql, stamped, now)))
  }

  getRecords(kind: string, keys: readonly string[], now: Instant) {
    return this.#read(session => session.read(sql => getRecords(sql, kind, keys, now)))
  }

  listRecords(kind: string, page: PageRequest, now: Instant) {
    return this.#read(session => session.read(() => listRecords(kind, page, now)))
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
    return this.#read(session => session.read(() => differences()))
  }
}

function promiseOf({ path, synchronous }: SqliteOptions): string {
  if (path === ':memory:') return 'sqlite in memory: everything is lost when the process ends'
  return synchronous === 'NORMAL'
    ? `sqlite at ${path}: survives a crash of the process; the last moments may be lost with the power`
    : `sqlite at ${path}: what was written survives crashes and loss of power`
}
