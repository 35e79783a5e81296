// The Redis store: any number of processes on any number of machines, one server or one slot of a
// cluster. Each writing call is one script, which the server carries out as a whole.

import { hostname } from 'node:os'
import process from 'node:process'
import { atomicAnswer, bundleOf } from '../../core/stored/bundle.ts'
import type { Change } from '../../core/change.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import { isStamped, type RecordWrite, type StampedWrite } from '../../core/record.ts'
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
  PruneResult,
  RemoveOptions,
  RenewRequest,
  Report,
  UnopenedStore,
  StoreListener,
  UpcomingRequest,
} from '../port.ts'
import type { Maintenance } from '../maintenance.ts'
import { Damages } from '../shared/damage.ts'
import { setRecordAside } from '../../core/stored/damage.ts'
import { isLate } from '../port.ts'
import { writeEach } from '../shared/single-calls.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { apply } from './apply.ts'
import { addMeasures, attempts as attemptsOf } from './attempts.ts'
import { claim, insertAndClaim } from './claim.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { count } from './count.ts'
import { counts, tenants } from './counts.ts'
import { setAsideNoted } from './damage.ts'
import { countDue, nextDueAt, overdue, upcoming } from './due.ts'
import { insert } from './insert.ts'
import { get, list } from './jobs-query.ts'
import { ledger } from './ledger.ts'
import { redisMaintenance } from './maintenance.ts'
import * as records from './records.ts'
import { renew } from './renew.ts'
import * as reports from './reports.ts'
import { RedisSession } from './session.ts'
import { commit } from './settle.ts'
import { Wake } from './wake.ts'
import { flag } from './script-args.ts'

export interface RedisOptions extends ConnectionOptions {
  /** Time in place of the server's, for tests. */
  readonly clock?: () => Instant
  /** Whether to hear the hints of other processes; yes unless told otherwise. */
  readonly listens?: boolean
  /** There is nothing to migrate: a namespace of an older layout is refused either way. */
  readonly migrates?: boolean
}

let opened = 0

export class RedisStore implements UnopenedStore {
  readonly kind = 'redis'
  readonly isRemote = true
  readonly claimsAtOnce = 2
  readonly maintenance: Maintenance
  readonly #clock: (() => Instant) | null
  readonly #connection: Connection
  readonly #session: RedisSession
  readonly #wake: Wake
  readonly #damages = new Damages()
  readonly #listens: boolean

  constructor(options: RedisOptions) {
    this.#clock = options.clock ?? null
    this.#listens = options.listens ?? true
    this.#connection = new Connection(options)
    // Tells this store's hints from those of others; two alike would only miss a hint.
    const sender = `${hostname()}:${process.pid}:${++opened}`
    this.#session = new RedisSession(this.#connection, sender, this.#clock === null ? 'server' : '')
    this.#wake = new Wake(this.#connection, sender)
    this.maintenance = redisMaintenance(options, {
      connection: this.#connection,
      open: () => this.#open,
      reading: work => this.#reading(work),
      now: () => this.now(),
    })
  }

  get promise(): string {
    const { address, checked } = this.#connection
    const what = checked === null ? 'not reached yet' : `what was written ${checked.loss}`
    const warnings = (checked?.warnings ?? []).map(warning => `WARNING: ${warning}`)
    return [`redis at ${address.label}: ${what}`, ...warnings].join('; ')
  }

  async open(): Promise<void> {
    await this.#connection.open()
    const { checked, address } = this.#connection
    for (const warning of checked?.warnings ?? []) {
      process.emitWarning(`the Redis store at ${address.label}: ${warning}`, {
        code: 'CARILLON_REDIS',
      })
    }
    this.#wake.join()
  }

  async close(): Promise<void> {
    this.#wake.leave()
    this.#connection.close()
  }

  get #open(): RedisSession {
    if (this.#connection.isOpen) return this.#session
    const { label } = this.#connection.address
    throw new SchedulerError('STORE_UNAVAILABLE', `the Redis store at ${label} is closed`)
  }

  /** A call that may meet records it cannot decode: they are set aside after it. */
  async #decoding<T>(work: (session: RedisSession) => Promise<T>): Promise<T> {
    const session = this.#open
    const result = await work(session)
    if (session.damaged.size + session.damagedRecords.size > 0) await this.#setAside(session)
    return result
  }

  /** The same for a question, which is asked again for what was set aside. */
  async #reading<T>(work: (session: RedisSession) => Promise<T>): Promise<T> {
    const session = this.#open
    const result = await work(session)
    if (session.damaged.size + session.damagedRecords.size === 0) return result
    await this.#setAside(session)
    return work(session)
  }

  async #setAside(session: RedisSession): Promise<void> {
    const noted = new Map(session.damaged)
    session.damaged.clear()
    try {
      const jobs = await setAsideNoted(session, noted, await this.now())
      for (const job of jobs) this.#damages.tell(job)
    } catch {
      // The next call that meets them tries again.
    }
    const entries = [...session.damagedRecords.values()]
    session.damagedRecords.clear()
    try {
      const now = await this.now()
      const writes = entries.flatMap(entry => setRecordAside(entry, now))
      await records.putRecords(session, writes, now)
      for (const entry of entries) this.#damages.tellRecord(entry)
    } catch {
      // The same.
    }
  }

  async now(): Promise<Instant> {
    if (this.#clock) return this.#clock()
    const [seconds, micros] = (await this.#connection.send('TIME')) as [string, string]
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  }

  async insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const { claim: request } = options
    if (request === undefined) {
      return { results: await insert(this.#open, jobs, options), claimed: [] }
    }
    return this.#decoding(session => insertAndClaim(session, jobs, options, request))
  }

  async claim(request: ClaimRequest) {
    return this.#decoding(session => claim(session, request))
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer> {
    const { atomic } = options
    const session = this.#open
    if (atomic === undefined) {
      return { results: await commit(session, changes, options), refusals: [] }
    }
    const given = { ...options, records: atomic.records ?? [] }
    return atomicAnswer(changes, await apply(session, bundleOf(changes, atomic), given))
  }

  async renew(request: RenewRequest) {
    return renew(this.#open, request)
  }

  async overdue({ now, limit }: { now: Instant; limit: number }) {
    return this.#decoding(session => overdue(session, now, limit))
  }

  async nextDueAt(routes: readonly Route[], seenAt?: Instant) {
    return nextDueAt(this.#open, routes, seenAt)
  }

  async get(ids: readonly string[]) {
    return this.#reading(session => get(session, ids))
  }

  async list(filter: JobFilter, page: PageRequest) {
    return this.#reading(session => list(session, filter, page))
  }

  async attempts(filter: AttemptFilter, page: PageRequest) {
    return this.#reading(session => attemptsOf(session, filter, page))
  }

  async attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return this.#reading(session => attemptsOf(session, filter, page))
  }

  async ledger(jobId: string, page: PageRequest) {
    return this.#reading(session => ledger(session, jobId, page))
  }

  async counts(filter: { readonly tenant?: string } = {}) {
    return counts(this.#open, filter.tenant)
  }

  async tenants(page: PageRequest) {
    return tenants(this.#open, page)
  }

  async count(filter: JobFilter, max: number): Promise<number> {
    return this.#reading(session => count(session, filter, max))
  }

  async upcoming(request: UpcomingRequest): Promise<Job[]> {
    return this.#reading(session => upcoming(session, request))
  }

  async countDue(request: DueCountRequest): Promise<number[]> {
    return countDue(this.#open, request)
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    const session = this.#open
    await session.run('pause-queue', [session.sender, toKey(queue), flag(isPaused)])
  }

  async pausedQueues(): Promise<string[]> {
    const queues = (await this.#open.send('SMEMBERS', 'queues:paused')) as string[]
    return queues.map(fromKey).sort()
  }

  async remove(ids: readonly string[], options?: RemoveOptions): Promise<boolean[]> {
    const session = this.#open
    if (ids.length === 0) return []
    const answer = (await session.run('remove', [
      String(options?.now ?? 0),
      ...records.recordArgs(options?.records ?? []),
      String(ids.length),
      ...ids.map(toKey),
    ])) as number[]
    return answer.map(existed => existed === 1)
  }

  async prune({ now, limit, endedTasksMax }: PruneRequest): Promise<PruneResult> {
    const args = [now, limit, endedTasksMax].map(String)
    const answer = (await this.#open.run('prune', args)) as [number, number, number, number]
    const [attempts, jobs, expired, isFull] = answer
    return { attempts, jobs, records: expired, isFull: isFull === 1 }
  }

  async report(given: readonly (Report | LateMeasures)[], now: Instant) {
    return writeEach(given, {
      isSingle: isLate,
      together: async (running: readonly Report[]) => reports.report(this.#open, running, now),
      single: late => this.#reading(session => addMeasures(session, late)),
    })
  }

  async progress(jobId: string) {
    return reports.progress(this.#open, jobId)
  }

  async log(attemptId: string, page: PageRequest) {
    return reports.log(this.#open, attemptId, page)
  }

  async putRecords(given: readonly (RecordWrite | StampedWrite)[], now: Instant) {
    const session = this.#open
    return writeEach(given, {
      isSingle: isStamped,
      together: (writes: readonly RecordWrite[]) => records.putRecords(session, writes, now),
      single: write => records.putStamped(session, write, this.#clock?.() ?? null),
    })
  }

  async getRecords(kind: string, keys: readonly string[], now: Instant) {
    return this.#decoding(session => records.getRecords(session, kind, keys, now))
  }

  async listRecords(kind: string, page: PageRequest, now: Instant) {
    return this.#decoding(session => records.listRecords(session, { kind, now }, page))
  }

  listen({ onWake, onDamage, onRecordDamage }: StoreListener): () => void {
    const stopHints = onWake && this.#listens ? this.#wake.listen(onWake) : undefined
    const stopDamages = this.#damages.listen(onDamage, onRecordDamage)
    return () => {
      stopHints?.()
      stopDamages()
    }
  }
}
