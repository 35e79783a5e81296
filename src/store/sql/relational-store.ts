// What the stores over SQL have in common: every call that is an operation both databases share. A database
// says how an operation runs, and has claims, inserts and settles of its own.

import { setRecordAside } from '../../core/stored/damage.ts'
import { atomicAnswer, bundleOf } from '../../core/stored/bundle.ts'
import type { Change } from '../../core/change.ts'
import { isStamped, stampedAt, type RecordWrite, type StampedWrite } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type {
  AttemptFilter,
  Bundle,
  CommitAnswer,
  CommitOptions,
  CommitResult,
  DueCountRequest,
  InsertOptions,
  JobFilter,
  LateMeasures,
  PageRequest,
  PruneRequest,
  Refusal,
  RemoveOptions,
  RenewRequest,
  RenewResult,
  Report,
  Route,
  StoreListener,
  UpcomingRequest,
} from '../port.ts'
import { Damages } from '../shared/damage.ts'
import { apply, Refused } from './apply.ts'
import { attempts, attemptTimes } from './attempts.ts'
import { counts, differences, tenants } from './counts.ts'
import type { Sql } from './dialect.ts'
import { countDue, nextDueAt, upcoming } from './due.ts'
import { count, get, list } from './jobs-query.ts'
import { ledger } from './ledger.ts'
import type { Operation } from './operation.ts'
import { prune } from './prune.ts'
import { pausedQueues, setQueuePaused } from './queues.ts'
import { getRecords, listRecords, putRecords } from './records.ts'
import { remove } from './remove.ts'
import { renew } from './renew.ts'
import { log, progress, report } from './reports.ts'
import { setAside } from './set-aside.ts'

/** An operation, given what it needs for one transaction. */
export type SqlWork<T> = (sql: Sql) => Operation<T>

/** Hints from other processes. */
interface Hints {
  listen(listener: () => void): () => void
}

export abstract class RelationalStore {
  protected readonly damages = new Damages()
  protected abstract readonly wake: Hints

  abstract now(): Promise<Instant>
  /** Throws while the store is closed. */
  protected abstract opened(): unknown
  /** Over one state of the database, or statement by statement; waits for nobody who writes. */
  protected abstract read<T>(work: SqlWork<T>): Promise<T>
  /** All of the work or none of it. */
  protected abstract write<T>(work: SqlWork<T>): Promise<T>
  /** Changes that are independent of each other. */
  protected abstract commitEach(
    changes: readonly Change[],
    options: InsertOptions,
  ): Promise<CommitResult[]>
  /** Other processes may have something to do sooner than they know. */
  protected abstract notify(): void

  /** A write that takes on new work. */
  protected take<T>(work: SqlWork<T>): Promise<T> {
    return this.write(work)
  }

  /** The answer to a call that asks for nothing: a closed store refuses it all the same. */
  protected none(): never[] {
    this.opened()
    return []
  }

  /** After the call that met them. Others may have seen to it, or nothing can be written now. */
  protected async setDamagedAside(write: (work: SqlWork<void>) => unknown): Promise<void> {
    for (const damage of this.damages.take()) {
      try {
        const now = await this.now()
        await write(sql => setAside(sql, damage, now))
        this.damages.tell(damage.job)
      } catch {
        // The next call that meets it tries again.
      }
    }
    for (const entry of this.damages.takeRecords()) {
      try {
        const now = await this.now()
        await write(function* (sql) {
          yield* putRecords(sql, setRecordAside(entry, now), now)
        })
        this.damages.tellRecord(entry)
      } catch {
        // The same.
      }
    }
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer> {
    const { atomic } = options
    if (atomic === undefined) {
      const results = changes.length === 0 ? this.none() : await this.commitEach(changes, options)
      return { results, refusals: [] }
    }
    const given = { ...options, records: atomic.records ?? [] }
    return atomicAnswer(changes, await this.#apply(bundleOf(changes, atomic), given))
  }

  async #apply(bundle: Bundle, options: InsertOptions): Promise<readonly Refusal[]> {
    try {
      await this.take(sql => apply(sql, bundle, options))
    } catch (error) {
      if (error instanceof Refused) return error.refusals
      throw error
    }
    this.notify()
    return []
  }

  async renew(request: RenewRequest) {
    if (request.leases.length === 0) return this.none()
    const work: SqlWork<RenewResult[]> = sql => renew(sql, request)
    return request.until === null ? this.read(work) : this.write(work)
  }

  nextDueAt(routes: readonly Route[], seenAt?: Instant) {
    return this.read(sql => nextDueAt(sql, routes, seenAt))
  }

  get(ids: readonly string[]) {
    return this.read(sql => get(sql, ids))
  }

  list(filter: JobFilter, page: PageRequest) {
    return this.read(sql => list(sql, filter, page))
  }

  attempts(filter: AttemptFilter, page: PageRequest) {
    return this.read(sql => attempts(sql, filter, page))
  }

  attemptTimes(filter: AttemptFilter, page: PageRequest) {
    return this.read(sql => attemptTimes(sql, filter, page))
  }

  ledger(jobId: string, page: PageRequest) {
    return this.read(sql => ledger(sql, jobId, page))
  }

  counts(filter: { readonly tenant?: string } = {}) {
    return this.read(() => counts(filter))
  }

  tenants(page: PageRequest) {
    return this.read(sql => tenants(sql, page))
  }

  count(filter: JobFilter, max: number) {
    return this.read(sql => count(sql, filter, max))
  }

  upcoming(request: UpcomingRequest) {
    return this.read(sql => upcoming(sql, request))
  }

  countDue(request: DueCountRequest) {
    return this.read(sql => countDue(sql, request))
  }

  async setQueuePaused(queue: string, isPaused: boolean): Promise<void> {
    await this.write(() => setQueuePaused(queue, isPaused))
    if (!isPaused) this.notify()
  }

  pausedQueues(): Promise<string[]> {
    return this.read(() => pausedQueues())
  }

  async remove(ids: readonly string[], options?: RemoveOptions) {
    if (ids.length === 0) return this.none()
    return this.write(sql => remove(sql, ids, options))
  }

  prune(request: PruneRequest) {
    return this.write(sql => prune(sql, request))
  }

  async report(reports: readonly (Report | LateMeasures)[], now: Instant) {
    if (reports.length === 0) return this.none()
    return this.write(sql => report(sql, reports, now))
  }

  progress(jobId: string) {
    return this.read(() => progress(jobId))
  }

  log(attemptId: string, page: PageRequest) {
    return this.read(() => log(attemptId, page))
  }

  async putRecords(given: readonly (RecordWrite | StampedWrite)[], now: Instant) {
    if (given.length === 0) return this.none()
    const at = given.some(isStamped) ? await this.now() : now
    const writes = given.map(write => stampedAt(write, at))
    return this.write(sql => putRecords(sql, writes, now))
  }

  getRecords(kind: string, keys: readonly string[], now: Instant) {
    return this.read(sql => getRecords(sql, kind, keys, now))
  }

  listRecords(kind: string, page: PageRequest, now: Instant) {
    return this.read(sql => listRecords(sql, kind, page, now))
  }

  listen({ onWake, onDamage, onRecordDamage }: StoreListener): () => void {
    const stopHints = onWake && this.wake.listen(onWake)
    const stopDamages = this.damages.listen(onDamage, onRecordDamage)
    return () => {
      stopHints?.()
      stopDamages()
    }
  }

  /** For tests: numbers that differ from what is there; empty when all is well. */
  verify(): Promise<string[]> {
    return this.read(() => differences())
  }
}
