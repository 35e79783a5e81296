// The SQLite store: one file, any number of processes on one machine. Each call is one transaction.

import type { Change } from '../../../core/change.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { isNodeOwner } from '../../../core/run/owner.ts'
import type { Instant } from '../../../core/time.ts'
import type {
  ClaimRequest,
  CommitResult,
  InsertAnswer,
  InsertOptions,
  UnopenedStore,
} from '../../port.ts'
import type { Maintenance } from '../../maintenance.ts'
import { insert } from '../insert.ts'
import { overdue } from '../overdue.ts'
import { RelationalStore, type SqlWork } from '../relational-store.ts'
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
/** Outcomes of this process give others nothing to do, but for what they insert. */
const isNews = ({ token, inserts }: Change): boolean => token === null || inserts.length > 0

export class SqliteStore extends RelationalStore implements UnopenedStore {
  readonly kind = 'sqlite'
  readonly isRemote = false
  readonly claimsAtOnce = 1
  readonly promise: string
  readonly maintenance: Maintenance
  readonly #options: SqliteOptions
  protected readonly wake: Wake
  readonly #wakeFile: WakeFile
  readonly #owners: OwnerLocks
  readonly #busy: BusyCalls
  readonly #busyMs: number
  #session: Session | null = null

  constructor(options: SqliteOptions) {
    super()
    this.#options = options
    const { every = () => () => {}, watch } = options
    this.wake = new Wake({ every, ...(watch ? { watch } : {}) })
    this.#wakeFile = new WakeFile(options.path)
    this.promise = promiseOf(options)
    this.#owners = new OwnerLocks(options.path, options.clock)
    this.#busyMs = options.busyMs ?? BUSY_MS
    const { path, after = () => {} } = options
    this.#busy = new BusyCalls({ path, after, limitMs: this.#busyMs })
    this.maintenance = sqliteMaintenance(path, {
      read: work => this.read(work),
      write: work => this.write(work),
    })
  }

  async open(): Promise<void> {
    if (this.#session) return
    const { path, synchronous = 'FULL', after } = this.#options
    const busyMs = after === undefined ? this.#busyMs : BUSY_STEP_MS
    const open = () => Connection.open({ path, synchronous, busyMs })
    const connection = after === undefined ? open() : await this.#busy.untilFree(open)
    this.#session = new Session(connection, this.damages)
    this.#wakeFile.open()
    this.wake.attach(connection)
  }

  async close(): Promise<void> {
    this.#owners.releaseAll()
    this.wake.attach(null)
    this.#wakeFile.close()
    this.#session?.connection.close()
    this.#session = null
  }

  protected opened(): Session {
    if (this.#session) return this.#session
    throw new SchedulerError(
      'STORE_UNAVAILABLE',
      `the SQLite store at ${this.#options.path} is closed`,
    )
  }

  /** A call that writes; while the file is locked, in the order of calls. */
  async #call<T>(work: (session: Session) => T): Promise<T> {
    const session = this.opened()
    if (!this.#busy.isFree) return this.#done(await this.#busy.inTurn(() => work(this.opened())))
    try {
      return await this.#done(work(session))
    } catch (error) {
      if (!isBusy(error) || this.#options.after === undefined) throw error
    }
    return this.#done(await this.#busy.inTurn(() => work(this.opened())))
  }

  protected write<T>(work: SqlWork<T>): Promise<T> {
    return this.#call(session => session.write(work))
  }

  protected override take<T>(work: SqlWork<T>): Promise<T> {
    return this.#take(session => session.write(work))
  }

  /** A call that takes on work: none for a file that is no longer there. */
  #take<T>(work: (session: Session) => T): Promise<T> {
    return this.#call(session => {
      session.connection.assertThere()
      return work(session)
    })
  }

  protected async read<T>(work: SqlWork<T>): Promise<T> {
    try {
      return await this.#done(this.opened().read(work))
    } catch (error) {
      if (!isBusy(error) || this.#options.after === undefined) throw error
    }
    return this.#done(await this.#busy.untilFree(() => this.opened().read(work)))
  }

  async #done<T>(result: T): Promise<T> {
    const session = this.#session
    if (session !== null && !this.damages.isEmpty) {
      await this.setDamagedAside(work => session.write(work))
    }
    return result
  }

  protected notify(): void {
    this.#wakeFile.touch()
  }

  async now(): Promise<Instant> {
    return this.#options.clock()
  }

  async insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const { claim: request } = options
    if (request !== undefined) {
      this.#lockOwner(request)
      const both = await this.#take(session => insertAndClaim(session, jobs, options, request))
      if (both.claimed.length < jobs.length) this.notify()
      return both
    }
    if (jobs.length === 0) return { results: this.none(), claimed: [] }
    const results = await this.take(sql => insert(sql, jobs, options))
    this.notify()
    return { results, claimed: [] }
  }

  claim(request: ClaimRequest) {
    this.#lockOwner(request)
    return this.#take(session => claim(session, request))
  }

  protected async commitEach(
    changes: readonly Change[],
    options: InsertOptions,
  ): Promise<CommitResult[]> {
    const results = await this.#call(session =>
      session.writeWith(sql => commitAll(session, sql, changes, options)),
    )
    if (changes.some(isNews)) this.notify()
    return results
  }

  async overdue({ now, limit }: { now: Instant; limit: number }): Promise<Job[]> {
    const late = await this.read(sql => overdue(sql, now, limit))
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
}

function promiseOf({ path, synchronous }: SqliteOptions): string {
  if (path === ':memory:') return 'sqlite in memory: everything is lost when the process ends'
  return synchronous === 'NORMAL'
    ? `sqlite at ${path}: survives a crash of the process; the last moments may be lost with the power`
    : `sqlite at ${path}: what was written survives crashes and loss of power`
}
