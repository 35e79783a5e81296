// The store port: what every store must do, and nothing about when or why. Each call is atomic,
// lists are batches, and time is always given. No policy lives behind this line.

import type { DamagedEntry } from '../core/stored/damage.ts'
import type { Attempt, AttemptTimes, OutcomeKind } from '../core/attempt.ts'
import type {
  AtomicParts,
  Bundle,
  CommitAnswer,
  CommitResult,
  Refusal,
} from '../core/stored/bundle.ts'
import type { Change } from '../core/change.ts'
import type { Job, State } from '../core/job.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { LaneSpan, TenantShares } from '../core/fairness/lane.ts'
import type { LedgerEntry } from '../core/history/ledger.ts'
import type { Page, PageRequest, Parts } from '../core/stored/query.ts'
import type { RecordWrite, StampedWrite, StoredRecord } from '../core/record.ts'
import type { LogLine, Progress } from '../core/history/report.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Maintenance } from './maintenance.ts'

export type { AtomicParts, Bundle, CommitAnswer, CommitResult }
export type { LogLine, Page, PageRequest, Progress, Refusal, TenantShares }

export interface Store {
  readonly kind: 'memory' | 'sqlite' | 'postgres' | 'redis'
  /** It works in a process of its own: this one may go on meanwhile. */
  readonly isRemote: boolean
  /** Claims of one queue that are worth having under way at once, while there is more than one takes. */
  readonly claimsAtOnce: number
  /** One sentence on what survives a crash, printed at start. */
  readonly promise: string
  /** What is done to the store as a whole, also before it is opened. */
  readonly maintenance: Maintenance

  /** Releases everything; calls after it fail. Closing twice is harmless. */
  close(): Promise<void>
  /** The store's own clock: leases and dueness follow it. */
  now(): Promise<Instant>

  /**
   * Idempotent by id. `full` leaves a job out because its queue holds `waitingMax` waiting ones. With
   * `claim` the claim after it is part of the same step, which is written once: whoever can start
   * what it creates need not wait for a second write. The claim gives whatever is its turn.
   */
  insert(jobs: readonly Job[], options: InsertOptions): Promise<InsertAnswer>
  /**
   * Due and waiting → running with a lease, at most `limit`, only from the given routes, nothing
   * from paused queues. When more is due than fits, tenants take turns, then the lanes of each
   * (core/fairness/fair). Returned in the order they should start. Steps fence, attempt counter and version
   * of each by one. Rows that do not decode are set aside as failed, here and in every other call,
   * and never given out.
   */
  claim(request: ClaimRequest): Promise<Job[]>
  /**
   * Writes each change iff version and lease token still match: all of its parts or none.
   * Changes of one call are independent of each other. `full`: an insert found its queue full.
   * With `atomic` all of the changes are written together with what is given there, or nothing is,
   * and the answer names everything that is in the way. A queue is full if it would hold more than
   * `waitingMax` in the end. No job may be named twice.
   */
  commit(changes: readonly Change[], options: CommitOptions): Promise<CommitAnswer>
  /** Extends the leases whose token matches and steps their version; `until: null` only looks. */
  renew(request: RenewRequest): Promise<RenewResult[]>
  /**
   * Running jobs whose lease ended and paused jobs whose pause ended; also jobs whose lease has not
   * ended (`lease.until` is after `now`) but whose owner's process is proven to be gone, where the
   * store can prove it for owners that claimed from it. Reads only.
   */
  overdue(request: { now: Instant; limit: number }): Promise<Job[]>
  /**
   * When the loop must look again: the earliest due moment of the routes (not of paused queues).
   * With `seenAt`, what a claim with rules or lanes at that moment has seen and left is left out.
   */
  nextDueAt(routes: readonly Route[], seenAt?: Instant): Promise<Instant | null>

  /** The jobs that exist, in the order asked. */
  get(ids: readonly string[]): Promise<Job[]>
  /** With `search` it looks at a bounded number, so a page may be short while a cursor is given. */
  list(filter: JobFilter, page: PageRequest): Promise<Page<Job>>
  /**
   * Settled attempts, newest first unless asked otherwise: those of one job by number, those of
   * many by id, which grows with time. Looks at a bounded number, so a page may be short, even
   * empty, while its cursor says that more may follow.
   */
  attempts(filter: AttemptFilter, page: PageRequest): Promise<Page<Attempt>>
  /** The same without what attempts told, so that many can be read to count them. */
  attemptTimes(filter: AttemptFilter, page: PageRequest): Promise<Page<AttemptTimes>>
  /** Decisions of one schedule in the order of their moments. */
  ledger(jobId: string, page: PageRequest): Promise<Page<LedgerEntry>>
  /** Kept as work happens, never counted over the jobs; of one tenant, or of all together. */
  counts(filter?: { readonly tenant?: string }): Promise<Count[]>
  /** The same by tenant, in the order of their names; only those that have jobs. */
  tenants(page: PageRequest): Promise<Page<TenantCount>>
  /** How many jobs match; stops counting at `max`, with `search` after a bounded number. */
  count(filter: JobFilter, max: number): Promise<number>
  /**
   * Waiting jobs by their due moment, from the first moment until before the last. Looks at a
   * bounded number, so the answer may be short; with an offset more, as for a page.
   */
  upcoming(request: UpcomingRequest): Promise<Job[]>
  /** How many waiting jobs are due in each part of a window: all of them, however many. */
  countDue(request: DueCountRequest): Promise<number[]>

  setQueuePaused(queue: string, isPaused: boolean): Promise<void>
  pausedQueues(): Promise<string[]>
  /** Any state; everything that belongs to the job goes with it. Says which existed. */
  remove(ids: readonly string[], options?: RemoveOptions): Promise<boolean[]>
  /** Bounded bites of what has expired: attempts, skips, ended jobs, records. Never a live job. */
  prune(request: PruneRequest): Promise<PruneResult>

  /**
   * Written only while the lease holds; says for each whether it did. Late measures are written to an
   * attempt that ended without its handler, which stays as it is otherwise: false when it is not
   * there, or has measures already.
   */
  report(reports: readonly (Report | LateMeasures)[], now: Instant): Promise<boolean[]>
  /** What the live attempt, or the last one of an unfinished run, reported. */
  progress(jobId: string): Promise<Progress | null>
  log(attemptId: string, page: PageRequest): Promise<Page<LogLine>>

  /** Each write is applied or refused on its own. */
  putRecords(writes: readonly (RecordWrite | StampedWrite)[], now: Instant): Promise<PutResult[]>
  getRecords(kind: string, keys: readonly string[], now: Instant): Promise<StoredRecord[]>
  /** In the order of keys. */
  listRecords(kind: string, page: PageRequest, now: Instant): Promise<Page<StoredRecord>>

  /** Until the function it returns is called, or the store is closed. */
  listen(listener: StoreListener): () => void
}

/** What makes a store opens it; the engine and the use cases are given opened ones. */
export interface UnopenedStore extends Store {
  /** Creates or migrates what is needed, or refuses with a clear error and changes nothing. */
  open(): Promise<void>
}

export interface StoreListener {
  /** A hint that something became due sooner: may be lost, late or doubled. */
  readonly onWake?: () => void
  /** A stored job did not decode and was set aside as failed, reason `damaged`. */
  readonly onDamage?: (job: Job) => void
  /** A record beside the jobs did not decode and was set aside: it reads as not there. */
  readonly onRecordDamage?: (entry: DamagedEntry) => void
}

/** A queue and one handler in it: what a node can serve is a set of routes. */
export interface Route {
  readonly queue: string
  readonly handler: string
}

export interface WriteOptions {
  readonly now: Instant
  readonly waitingMax?: number | null
}
export interface CommitOptions extends WriteOptions {
  readonly atomic?: AtomicParts
}
export interface InsertOptions extends WriteOptions {
  /**
   * Written in the same step, if any of the jobs is inserted. If one conflicts, nothing is written
   * and every job gets `conflict`.
   */
  readonly records?: readonly RecordWrite[]
  /** Made in the same step, after the insert. */
  readonly claim?: ClaimRequest
}
export interface RemoveOptions {
  readonly now: Instant
  /** Written in the same step, if any of the jobs existed; one that conflicts is left out. */
  readonly records: readonly RecordWrite[]
}
export type InsertResult = 'inserted' | 'exists' | 'full' | 'conflict'
export interface InsertAnswer {
  /** One for each job. */
  readonly results: readonly InsertResult[]
  /** Nothing without `claim`. */
  readonly claimed: readonly Job[]
}

export interface ClaimRequest {
  readonly queue: string
  readonly handlers: readonly string[]
  readonly now: Instant
  readonly limit: number
  readonly owner: string
  readonly leaseMs: Millis
  /** One token for the whole batch; with the fence it is unique per claim of a job. */
  readonly token: string
  /** As many ids as the limit. */
  readonly attemptIds: readonly string[]
  /** Tenants and lanes may have rules (core/fairness/lane): they are looked up and held to. */
  readonly hasLimits?: boolean
  /** Claims with a turn of their own; the queue's is neither asked nor moved. Rules hold. */
  readonly laneScope?: LaneScope
  /** What a tenant may be given at most, less what it holds already. */
  readonly shares?: TenantShares
}

export interface LaneScope {
  /** Claims of one scope share a turn of their own, which the store keeps and moves in the claim. */
  readonly scope: string
  /** Null for every lane of every tenant. */
  readonly lanes: TenantLanes | null
}

export interface TenantLanes {
  readonly tenant: string
  /** Of this tenant. */
  readonly spans: readonly LaneSpan[]
}

export interface RenewRequest {
  readonly leases: readonly {
    readonly id: string
    readonly token: string
    readonly fence: number
  }[]
  readonly until: Instant | null
}
export interface RenewResult {
  readonly id: string
  readonly isHeld: boolean
  /** The version after the call, while held. */
  readonly version: number
}

export interface JobFilter {
  readonly ids?: readonly string[]
  readonly kind?: Job['kind']
  readonly states?: readonly State[]
  /** Of those that wait, only the ones that wait for their start, or only the others. */
  readonly isUnstarted?: boolean
  readonly tenant?: string
  readonly queue?: string
  readonly handler?: string
  readonly seriesId?: string
  readonly app?: string
  readonly definition?: string
  /** Part of the name or the start of the id, whatever the case. */
  readonly search?: string
}

export interface AttemptFilter {
  readonly jobId?: string
  readonly id?: string
  readonly run?: number
  readonly outcomes?: readonly OutcomeKind[]
  /** Of jobs of this tenant, queue, handler or series. */
  readonly tenant?: string
  readonly queue?: string
  readonly handler?: string
  readonly seriesId?: string
  /** Finished at or after, and before; claimed no longer before `since` than a timeout lasts. */
  readonly since?: Instant
  readonly until?: Instant
}

export interface Count {
  readonly queue: string
  readonly handler: string
  readonly kind: Job['kind']
  readonly state: State
  readonly count: number
  /** Rows that ended in this state and were pruned since. */
  readonly pruned: number
}

export interface TenantCount {
  readonly tenant: string
  /** Without the states none is in. */
  readonly counts: Readonly<Partial<Record<State, number>>>
}

export interface UpcomingRequest {
  readonly tenant?: string
  readonly queue?: string
  readonly from: Instant
  readonly until: Instant
  readonly limit: number
  readonly kind?: Job['kind']
  /** Leaves out so many first, as a page does. */
  readonly offset?: number
}

export interface DueCountRequest extends Parts {
  readonly tenant?: string
  readonly queue?: string
  readonly kind?: Job['kind']
}

export interface PruneRequest {
  readonly now: Instant
  readonly limit: number
  /** Ended tasks of a queue beyond this number go oldest first, whatever their age. */
  readonly endedTasksMax: number
}
export interface PruneResult {
  readonly attempts: number
  readonly jobs: number
  readonly records: number
  /** More is waiting to be pruned. */
  readonly isFull: boolean
}

/** What a handler measured whose attempt was ended without it. */
export interface LateMeasures {
  readonly jobId: string
  readonly attemptId: string
  readonly measures: JsonObject
}

export function isLate(report: Report | LateMeasures): report is LateMeasures {
  return 'measures' in report
}

export interface Report {
  readonly jobId: string
  readonly token: string
  readonly fence: number
  readonly attemptId: string
  readonly progress?: { readonly fraction: number; readonly note: string | null }
  readonly checkpoint?: Json
  readonly lines?: readonly LogLine[]
}
export type PutResult = 'put' | 'conflict'
