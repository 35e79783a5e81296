// The SQLite store: one file, any number of processes on one machine. Each call is one transaction.

import type { Change } from '../../core/change.ts'
import type { Entry } from '../../core/entry.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import type { RecordWrite } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type {
  AttemptFilter,
  Bundle,
  ClaimRequest,
  DumpRequest,
  InsertOptions,
  JobFilter,
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
import { attempts } from './attempts.ts'
import { claim } from './claim.ts'
import { commit } from './commit.ts'
import { Connection } from './connection.ts'
import { dump } from './dump.ts'
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
import { remove } from './remove.ts'
import { renew } from './renew.ts'
import * as reports from './reports.ts'
import { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'
import { upcoming } from './upcoming.ts'
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
  /** The timer behind `onWake`; without it other processes are only noticed by looking. */
  readonly every?: Every
  /** Says when others write, where the system does; the timer then hardly looks by itself. */
  readonly watch?: Watch
}

const BUSY_MS = 5_000

export class SqliteStore implements Store, Inspected, Aged {
  readonly kind = 'sqlite'
  readonly isRemote = false
  readonly claimsAtOnce = 1
  readonly promise: string
  readonly #options: SqliteOptions
  readonly #wake: Wake
  #tables: Tables | null = null

  constructor(options: SqliteOptions) {
    this.#options = options
    const { every = () => () => {}, watch } = options
    this.#wake = new Wake({ every, ...(watch ? { watch } : {}) })
    this.promise = promiseOf(options)
  }

  async open(): Promise<void> {
    if (this.#tables) return
    const { path, synchronous = 'FULL', busyMs = BUSY_MS } = this.#options
    this.#tables = new Tables(Connection.open({ path, synchronous, busyMs }))
    this.#wake.attach(this.#tables)
  }

  async close(): Promise<void> {
    this.#wake.attach(null)
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

  async now(): Promise<Instant> {
    return this.#options.clock()
  }

  async insert(jobs: readonly Job[], options: InsertOptions) {
    return insert(this.#open, jobs, options)
  }

  async claim(request: ClaimRequest) {
    return claim(this.#open, request)
  }

  async insertAndClaim(jobs: readonly Job[], options: InsertOptions, request: ClaimRequest) {
    return insertAndClaim(this.#open, jobs, options, request)
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
    return overdue(this.#open, now, limit)
  }

  async nextDueAt(lines: readonly Line[], seenAt?: Instant) {
    return list.nextDueAt(this.#open, lines, seenAt)
  }

  async get(ids: readonly string[]) {
    return list.get(this.#open, ids)
  }

  async list(filter: JobFilter, page: PageRequest) {
    return find.list(this.#open, filter, page)
  }

  async attempts(filter: AttemptFilter, page: PageRequest) {
    return attempts(this.#open, filter, page)
  }

  async ledger(jobId: string, page: PageRequest) {
    return ledger(this.#open, jobId, page)
  }

  async counts(filter: { readonly tenant?: string } = {}) {
    const tables = this.#open
    return tables.read(() => tables.tallies.counts(filter))
  }

  async tenants(page: PageRequest) {
    const tables = this.#open
    return tables.read(() => tables.tallies.tenants(page))
  }

  async count(filter: JobFilter, max: number) {
    return find.count(this.#open, filter, max)
  }

  async upcoming(request: UpcomingRequest) {
    return upcoming(this.#open, request)
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    const tables = this.#open
    tables.write(() =>
      tables
        .statement(
          `insert into queues (queue, paused) values (?, ?)
            on conflict (queue) do update set paused = excluded.paused`,
        )
        .run(toKey(queue), isPaused ? 1 : 0),
    )
  }

  async pausedQueues(): Promise<string[]> {
    const tables = this.#open
    return tables.glance(() => list.pausedQueues(tables).sort())
  }

  async remove(ids: readonly string[], options?: RemoveOptions) {
    return remove(this.#open, ids, options)
  }

  async prune(request: PruneRequest) {
    return prune(this.#open, request)
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

  async putRecords(writes: readonly RecordWrite[], now: Instant) {
    return records.putRecords(this.#open, writes, now)
  }

  async getRecords(kind: string, keys: readonly string[], now: Instant) {
    return records.getRecords(this.#open, kind, keys, now)
  }

  async listRecords(kind: string, page: PageRequest, now: Instant) {
    return records.listRecords(this.#open, kind, page, now)
  }

  async dump(request: DumpRequest) {
    return dump(this.#open, request)
  }

  async load(entries: readonly Entry[], now: Instant): Promise<void> {
    load(this.#open, entries, now)
  }

  onWake(listener: () => void): () => void {
    return this.#wake.listen(listener)
  }

  async inspect(limit: number): Promise<StoreFault[]> {
    return inspect(this.#open, limit)
  }

  async mend(fault: StoreFault): Promise<void> {
    mend(this.#open, fault)
  }

  async countBefore(before: Instant): Promise<number> {
    return aged.countBefore(this.#open, before)
  }

  async forgetBefore(before: Instant, limit: number): Promise<number> {
    return aged.forgetBefore(this.#open, before, limit)
  }

  /** For tests: numbers that differ from what is there; empty when all is well. */
  async verify(): Promise<string[]> {
    const tables = this.#open
    return tables.read(() => tables.tallies.differences())
  }
}

function promiseOf({ path, synchronous }: SqliteOptions): string {
  if (path === ':memory:') return 'sqlite in memory: everything is lost when the process ends'
  return synchronous === 'NORMAL'
    ? `sqlite at ${path}: survives a crash of the process; the last moments may be lost with the power`
    : `sqlite at ${path}: what was written survives crashes and loss of power`
}
