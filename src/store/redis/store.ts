// The Redis store: any number of processes on any number of machines, one server or one slot of a
// cluster. Each writing call is one script, which the server carries out as a whole.

import { hostname } from 'node:os'
import process from 'node:process'
import type { Change } from '../../core/change.ts'
import type { Entry } from '../../core/entry.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
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
  PruneResult,
  RemoveOptions,
  RenewRequest,
  Report,
  Store,
  UpcomingRequest,
} from '../store.ts'
import type { Inspected, StoreFault } from '../upkeep.ts'
import { apply } from './apply.ts'
import { claim } from './claim.ts'
import { commit } from './commit.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { count } from './count.ts'
import { dump } from './dump.ts'
import { insertAndClaim } from './insert-and-claim.ts'
import { insert } from './insert.ts'
import { inspect, mend } from './inspect.ts'
import { ledger } from './ledger.ts'
import * as list from './list.ts'
import { olderError } from '../shared/older.ts'
import { LAYOUT, UNLISTED_LAYOUT } from './check.ts'
import { listOld } from './listed.ts'
import { load } from './load.ts'
import * as moments from './moments.ts'
import * as past from './past.ts'
import * as records from './records.ts'
import { renew } from './renew.ts'
import * as reports from './reports.ts'
import { Damages, type DamageListener } from '../shared/damage.ts'
import { setAsideNoted } from './set-aside.ts'
import { Shelf } from './shelf.ts'
import * as tallies from './tallies.ts'
import { countDue, upcoming } from './upcoming.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { Wake } from './wake.ts'

export interface RedisOptions extends ConnectionOptions {
  /** Time in place of the server's, for tests. */
  readonly clock?: () => Instant
  /** Whether to hear the hints of other processes; yes unless told otherwise. */
  readonly listens?: boolean
  /** False refuses a namespace of an older layout instead of migrating it. */
  readonly migrates?: boolean
}

let opened = 0

export class RedisStore implements Store, Inspected {
  readonly kind = 'redis'
  readonly isRemote = true
  readonly claimsAtOnce = 2
  readonly #clock: (() => Instant) | null
  readonly #connection: Connection
  readonly #shelf: Shelf
  readonly #wake: Wake
  readonly #damages = new Damages()
  readonly #listens: boolean
  readonly #migrates: boolean

  constructor(options: RedisOptions) {
    this.#clock = options.clock ?? null
    this.#listens = options.listens ?? true
    this.#migrates = options.migrates ?? true
    this.#connection = new Connection(options)
    // Tells this store's hints from those of others; two alike would only miss a hint.
    const sender = `${hostname()}:${process.pid}:${++opened}`
    this.#shelf = new Shelf(this.#connection, sender, this.#clock === null ? 'server' : '')
    this.#wake = new Wake(this.#connection, sender)
  }

  get promise(): string {
    const { address, checked } = this.#connection
    const what = checked === null ? 'not reached yet' : `what was written ${checked.loss}`
    const warnings = (checked?.warnings ?? []).map(warning => `WARNING: ${warning}`)
    return [`redis at ${address.label}: ${what}`, ...warnings].join('; ')
  }

  async open(): Promise<void> {
    await this.#connection.open()
    if (!this.#connection.isListed) await this.#migrate()
    const { checked, address } = this.#connection
    for (const warning of checked?.warnings ?? []) {
      process.emitWarning(`the Redis store at ${address.label}: ${warning}`, {
        code: 'CARILLON_REDIS',
      })
    }
    this.#wake.join()
  }

  async #migrate(): Promise<void> {
    if (this.#migrates) return listOld(this.#connection)
    const place = this.#connection.address.label
    this.#connection.close()
    throw olderError({ place, version: UNLISTED_LAYOUT, latest: LAYOUT })
  }

  async close(): Promise<void> {
    this.#wake.leave()
    this.#connection.close()
  }

  get #open(): Shelf {
    if (this.#connection.isOpen) return this.#shelf
    const { label } = this.#connection.address
    throw new SchedulerError('STORE_UNAVAILABLE', `the Redis store at ${label} is closed`)
  }

  /** A call that may meet records it cannot decode: they are set aside after it. */
  async #decoding<T>(work: (shelf: Shelf) => Promise<T>): Promise<T> {
    const shelf = this.#open
    const result = await work(shelf)
    if (shelf.damaged.size > 0) await this.#setAside(shelf)
    return result
  }

  /** The same for a question, which is asked again for what was set aside. */
  async #reading<T>(work: (shelf: Shelf) => Promise<T>): Promise<T> {
    const shelf = this.#open
    const result = await work(shelf)
    if (shelf.damaged.size === 0) return result
    await this.#setAside(shelf)
    return work(shelf)
  }

  async #setAside(shelf: Shelf): Promise<void> {
    const noted = new Map(shelf.damaged)
    shelf.damaged.clear()
    try {
      const jobs = await setAsideNoted(shelf, noted, await this.now())
      for (const job of jobs) this.#damages.tell(job)
    } catch {
      // The next call that meets them tries again.
    }
  }

  async now(): Promise<Instant> {
    if (this.#clock) return this.#clock()
    const [seconds, micros] = (await this.#connection.send('TIME')) as [string, string]
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  }

  async insert(jobs: readonly Job[], options: InsertOptions) {
    return insert(this.#open, jobs, options)
  }

  async claim(request: ClaimRequest) {
    return this.#decoding(shelf => claim(shelf, request))
  }

  async insertAndClaim(jobs: readonly Job[], options: InsertOptions, request: ClaimRequest) {
    return this.#decoding(shelf => insertAndClaim(shelf, jobs, options, request))
  }

  async commit(changes: readonly Change[], options: InsertOptions) {
    return commit(this.#open, changes, options)
  }

  async apply(bundle: Bundle, options: InsertOptions) {
    return apply(this.#open, bundle, options)
  }

  async renew(request: RenewRequest) {
    return renew(this.#open, request)
  }

  async overdue({ now, limit }: { now: Instant; limit: number }) {
    return this.#decoding(shelf => moments.overdue(shelf, now, limit))
  }

  async nextDueAt(lines: readonly Line[], seenAt?: Instant) {
    return moments.nextDueAt(this.#open, lines, seenAt)
  }

  async get(ids: readonly string[]) {
    return this.#reading(shelf => list.get(shelf, ids))
  }

  async list(filter: JobFilter, page: PageRequest) {
    return this.#reading(shelf => list.list(shelf, filter, page))
  }

  async attempts(filter: AttemptFilter, page: PageRequest) {
    return this.#reading(shelf => past.attempts(shelf, filter, page))
  }

  async attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return this.#reading(shelf => past.attempts(shelf, filter, page))
  }

  async ledger(jobId: string, page: PageRequest) {
    return this.#reading(shelf => ledger(shelf, jobId, page))
  }

  async counts(filter: { readonly tenant?: string } = {}) {
    return tallies.counts(this.#open, filter.tenant)
  }

  async tenants(page: PageRequest) {
    return tallies.tenants(this.#open, page)
  }

  async count(filter: JobFilter, max: number): Promise<number> {
    return this.#reading(shelf => count(shelf, filter, max))
  }

  async upcoming(request: UpcomingRequest): Promise<Job[]> {
    return this.#reading(shelf => upcoming(shelf, request))
  }

  async countDue(request: DueCountRequest): Promise<number[]> {
    return countDue(this.#open, request)
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    const shelf = this.#open
    await shelf.run('pause', [shelf.sender, toKey(queue), isPaused ? '1' : '0'])
  }

  async pausedQueues(): Promise<string[]> {
    const { connection } = this.#open
    const queues = (await connection.send('SMEMBERS', `${connection.prefix}paused`)) as string[]
    return queues.map(fromKey).sort()
  }

  async remove(ids: readonly string[], options?: RemoveOptions): Promise<boolean[]> {
    const shelf = this.#open
    if (ids.length === 0) return []
    const answer = (await shelf.run('remove', [
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

  async addMeasures(late: LateMeasures) {
    return this.#reading(shelf => past.addMeasures(shelf, late))
  }

  async report(given: readonly Report[], now: Instant) {
    return reports.report(this.#open, given, now)
  }

  async progress(jobId: string) {
    return reports.progress(this.#open, jobId)
  }

  async log(attemptId: string, page: PageRequest) {
    return reports.log(this.#open, attemptId, page)
  }

  async beat(owner: string, keptMs: Millis): Promise<void> {
    await records.beat(this.#open, { owner, keptMs, now: this.#clock?.() ?? null })
  }

  async putRecords(writes: readonly RecordWrite[], now: Instant) {
    return records.putRecords(this.#open, writes, now)
  }

  async getRecords(kind: string, keys: readonly string[], now: Instant) {
    return records.getRecords(this.#open, kind, keys, now)
  }

  async listRecords(kind: string, page: PageRequest, now: Instant) {
    return records.listRecords(this.#open, { kind, now }, page)
  }

  async dump(request: DumpRequest) {
    return this.#reading(shelf => dump(shelf, request))
  }

  async load(entries: readonly Entry[], now: Instant): Promise<void> {
    await load(this.#open, entries, now)
  }

  onDamage(listener: DamageListener): () => void {
    return this.#damages.listen(listener)
  }

  async inspect(limit: number): Promise<StoreFault[]> {
    return inspect(this.#open, limit)
  }

  async mend(fault: StoreFault): Promise<void> {
    await mend(this.#open, fault)
  }

  onWake(listener: () => void): () => void {
    return this.#listens ? this.#wake.listen(listener) : () => {}
  }
}
