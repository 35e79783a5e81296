// The reference store: nothing survives the process. Every other store must behave like this one.

import { atomicAnswer, bundleOf } from '../../core/stored/bundle.ts'
import type { Change } from '../../core/change.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import { stampedAt, type RecordWrite, type StampedWrite } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { Maintenance } from '../maintenance.ts'
import { isLate } from '../port.ts'
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
  PutResult,
  RemoveOptions,
  RenewRequest,
  Report,
  UnopenedStore,
  UpcomingRequest,
} from '../port.ts'
import { apply } from './apply.ts'
import { memoryMaintenance } from './maintenance.ts'
import { prune } from './prune.ts'
import * as read from './read.ts'
import { getRecords, listRecords, putRecords } from './records.ts'
import { emptyRows, pageOf, removeJob, type Rows } from './rows.ts'
import * as tally from './tally.ts'
import * as write from './write.ts'

export class MemoryStore implements UnopenedStore {
  readonly kind = 'memory'
  readonly isRemote: boolean = false
  readonly claimsAtOnce: number = 1
  readonly promise = 'memory: everything is lost when the process ends'
  readonly maintenance: Maintenance
  readonly #clock: () => Instant
  readonly #rows: Rows
  #isOpen = false

  /** Stores made over the same rows share them, as processes share a database. */
  constructor(clock: () => Instant, rows: Rows = emptyRows()) {
    this.#clock = clock
    this.#rows = rows
    this.maintenance = memoryMaintenance(rows, () => this.#open)
  }

  async open(): Promise<void> {
    this.#isOpen = true
  }

  async close(): Promise<void> {
    this.#isOpen = false
  }

  get #open(): Rows {
    if (this.#isOpen) return this.#rows
    throw new SchedulerError('STORE_UNAVAILABLE', 'the memory store is closed')
  }

  async now(): Promise<Instant> {
    return this.#clock()
  }

  async insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer> {
    const rows = this.#open
    const results = write.insertAll(rows, jobs, options)
    return { results, claimed: options.claim ? write.claim(rows, options.claim) : [] }
  }

  async claim(request: ClaimRequest): Promise<Job[]> {
    return write.claim(this.#open, request)
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer> {
    const rows = this.#open
    const { atomic } = options
    if (atomic === undefined) {
      return { results: changes.map(change => write.commit(rows, change, options)), refusals: [] }
    }
    const given = { ...options, records: atomic.records ?? [] }
    return atomicAnswer(changes, apply(rows, bundleOf(changes, atomic), given))
  }

  async renew(request: RenewRequest) {
    return write.renew(this.#open, request)
  }

  async overdue({ now, limit }: { now: Instant; limit: number }): Promise<Job[]> {
    return read.overdue(this.#open, now, limit)
  }

  async nextDueAt(routes: readonly Route[], seenAt?: Instant): Promise<Instant | null> {
    return read.nextDueAt(this.#open, routes, seenAt)
  }

  async get(ids: readonly string[]): Promise<Job[]> {
    const rows = this.#open
    return ids.flatMap(id => rows.jobs.get(id)?.job ?? [])
  }

  async list(filter: JobFilter, page: PageRequest) {
    return read.list(this.#open, filter, page)
  }

  async attempts(filter: AttemptFilter, page: PageRequest) {
    return read.attempts(this.#open, filter, page)
  }

  async attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return read.attemptTimes(this.#open, filter, page)
  }

  async ledger(jobId: string, page: PageRequest) {
    return read.ledger(this.#open, jobId, page)
  }

  async counts(filter: { readonly tenant?: string } = {}) {
    return tally.counts(this.#open, filter)
  }

  async tenants(page: PageRequest) {
    return tally.tenants(this.#open, page)
  }

  async count(filter: JobFilter, max: number): Promise<number> {
    return read.count(this.#open, filter, max)
  }

  async upcoming(request: UpcomingRequest): Promise<Job[]> {
    return read.upcoming(this.#open, request)
  }

  async countDue(request: DueCountRequest): Promise<number[]> {
    return read.countDue(this.#open, request)
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    if (isPaused) this.#open.pausedQueues.add(queue)
    else this.#open.pausedQueues.delete(queue)
  }

  async pausedQueues(): Promise<string[]> {
    return [...this.#open.pausedQueues].sort()
  }

  async remove(ids: readonly string[], options?: RemoveOptions): Promise<boolean[]> {
    const rows = this.#open
    const existed = ids.map(id => removeJob(rows, id))
    if (options && existed.includes(true)) putRecords(rows, options.records, options.now)
    return existed
  }

  async prune(request: PruneRequest) {
    return prune(this.#open, request)
  }

  async report(reports: readonly (Report | LateMeasures)[], now: Instant): Promise<boolean[]> {
    const rows = this.#open
    return reports.map(given =>
      isLate(given) ? write.addMeasures(rows, given) : write.report(rows, given, now),
    )
  }

  async progress(jobId: string) {
    return this.#open.progress.get(jobId) ?? null
  }

  async log(attemptId: string, page: PageRequest) {
    const lines = (this.#open.logs.get(attemptId)?.lines ?? []).map((line, index) => ({
      line,
      index,
    }))
    const { items, cursor } = pageOf(lines, page, item => item.index)
    return { items: items.map(item => item.line), cursor }
  }

  async putRecords(
    writes: readonly (RecordWrite | StampedWrite)[],
    now: Instant,
  ): Promise<PutResult[]> {
    const at = this.#clock()
    return putRecords(
      this.#open,
      writes.map(one => stampedAt(one, at)),
      now,
    )
  }

  async getRecords(kind: string, keys: readonly string[], now: Instant) {
    return getRecords(this.#open, kind, keys, now)
  }

  async listRecords(kind: string, page: PageRequest, now: Instant) {
    return listRecords(this.#open, kind, page, now)
  }

  /** Nothing else writes to it, and nothing in it can be damaged. */
  listen(): () => void {
    return () => {}
  }
}
