// Outcomes become stored facts: decided by the core, committed in batches, decided again when the
// row was changed meanwhile, dropped when the lease is gone.

import type { Change } from '../core/change.ts'
import { SchedulerError } from '../core/errors.ts'
import { failInvalid } from '../core/invalid.ts'
import type { Job } from '../core/job.ts'
import { endEntry, kept } from '../core/kept.ts'
import { leavesRow, settle } from '../core/settle.ts'
import type { Instant } from '../core/time.ts'
import { shortId } from '../core/short-id.ts'
import type { Report } from '../store/store.ts'
import { commit } from './commit.ts'
import { settledOf } from './events.ts'
import { endLog, leaseOf, type ActiveAttempt } from './active-attempt.ts'
import type { Holds } from './holds.ts'
import type { Parts } from './parts.ts'
import { noteOutcomes } from './series-fold.ts'
import { errorKindOf, OUTCOMES_TROUBLE, outcomesTrouble } from './store-trouble.ts'

/** Rounds of "read again and decide again" before an outcome is given up as contended. */
const ROUNDS_MAX = 20
const RETRY_FIRST_MS = 50
const RETRY_MAX_MS = 2_000
/** So many outcomes are worth a commit beside the one under way. */
const BESIDE_MIN = 250
/** A store in another process takes so many at once. */
const REMOTE_WRITERS = 2
/** So long outcomes may wait for starts, where both are written by this process. */
const HOLD_MS = 200

export interface SettlerHost {
  /** Hears when the first of the jobs just written falls due again. */
  readonly onSettled: (soonestDue: Instant) => void
  /** Whether many more jobs are due than the last look took. */
  readonly isPressed: () => boolean
  /** For attempts of this node that left a hold on their job, or were cancelled by others. */
  readonly holds?: Holds
}

export class Settler {
  readonly #parts: Parts
  readonly #host: SettlerHost
  #waiting: ActiveAttempt[] = []
  readonly #unwritten = new Set<ActiveAttempt>()
  #isScheduled = false
  #flushing: Promise<void> | null = null
  readonly #writers = new Set<Promise<void>>()
  /** When several outcomes were last written together. */
  #lastSharedAt: Instant = -Infinity
  #cancelTimer: (() => void) | null = null
  /** Since when there is more due than looks take. */
  #pressedSince: Instant | null = null
  /** Of the jobs written since somebody was last told. */
  #soonestDue: Instant = Infinity

  constructor(parts: Parts, host: SettlerHost) {
    this.#parts = parts
    this.#host = host
  }

  get size(): number {
    return this.#waiting.length
  }

  /** Outcomes are on their way to the store: should that fail, their leases need renewals. */
  get isBusy(): boolean {
    return this.#isScheduled || this.#writers.size > 0
  }

  /** Outcomes whose last write failed; while there are any, nothing new should be claimed. */
  get unwritten(): ReadonlySet<ActiveAttempt> {
    return this.#unwritten
  }

  add(held: ActiveAttempt): void {
    held.phase = 'settling'
    endLog(held, this.#parts.clock.now())
    this.#waiting.push(held)
    if (!this.#isScheduled) this.#schedule()
    else if (this.#flushing !== null && this.#waiting.length === BESIDE_MIN) this.#writeBeside()
  }

  /** A store in another process writes one batch while this one decides the next. */
  #writeBeside(): void {
    const { store, clock } = this.#parts
    if (!store.isRemote || this.#writers.size >= REMOTE_WRITERS) return
    clock.soon(() => {
      if (this.#waiting.length > 0 && this.#writers.size < REMOTE_WRITERS) this.#startWriter()
    })
  }

  #startWriter(): void {
    const writer = this.#writeAll().finally(() => this.#writers.delete(writer))
    this.#writers.add(writer)
  }

  /** Alone, an outcome is written at once; under load, those of a moment share a commit. */
  #schedule(): void {
    this.#isScheduled = true
    const { clock, settings } = this.#parts
    const wait = settings.gatherMs - Math.abs(clock.now() - this.#lastSharedAt)
    if (wait > 0 && this.#waiting.length < settings.batchMax) {
      this.#cancelTimer = clock.after(wait, () => this.#flushSoon())
    } else clock.soon(() => this.#flushSoon())
  }

  #flushSoon(): void {
    this.#cancelTimer = null
    if (this.#isHeld()) this.#parts.clock.soon(() => this.#flushSoon())
    else void this.flush()
  }

  /**
   * Where a crowd is due and claims and commits take turns, jobs start before others end. Once for
   * each crowd: a backlog without end would only keep more in memory.
   */
  #isHeld(): boolean {
    const { store, clock } = this.#parts
    if (store.isRemote || !this.#host.isPressed()) {
      this.#pressedSince = null
      return false
    }
    const now = clock.now()
    this.#pressedSince ??= now
    return this.#waiting.length > 0 && Math.abs(now - this.#pressedSince) < HOLD_MS
  }

  /** The process is as good as dead: what was not written is not written any more. */
  abandon(): void {
    this.#cancelTimer?.()
    for (const held of this.#waiting) held.phase = 'gone'
    this.#waiting = []
  }

  /** Also called early, when nothing else is left to do. */
  flush(): Promise<void> {
    this.#flushing ??= this.#drain().finally(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  async #drain(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    while (this.#waiting.length > 0 || this.#writers.size > 0) {
      if (this.#writers.size === 0) this.#startWriter()
      await Promise.all(this.#writers)
    }
    this.#isScheduled = false
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const { settings, clock } = this.#parts
      const batch = this.#waiting.splice(0, settings.batchMax)
      if (this.#waiting.length >= BESIDE_MIN) this.#writeBeside()
      await this.#settleBatch(batch)
      this.#lastSharedAt = batch.length > 1 ? clock.now() : -Infinity
      if (this.#waiting.length > 0) await this.#letOthersStart()
    }
  }

  /** What was held back is written between looks for more, where both take turns in this process. */
  #letOthersStart(): Promise<void> | null {
    const { store, clock } = this.#parts
    if (store.isRemote || !this.#host.isPressed()) return null
    return new Promise(resolve => clock.soon(resolve))
  }

  async #settleBatch(batch: readonly ActiveAttempt[]): Promise<void> {
    let left = batch.filter(held => held.phase !== 'gone')
    let delay = RETRY_FIRST_MS
    for (let round = 0; left.length > 0 && round < ROUNDS_MAX; round++) {
      try {
        left = await this.#round(left)
        this.#wrote(batch)
      } catch (error) {
        this.#failed(left, error)
        // What was told of already is not told again.
        left = left.filter(held => held.phase !== 'gone' && !this.#hasLapsed(held))
        await new Promise<void>(resolve => this.#parts.clock.after(delay, resolve))
        delay = Math.min(delay * 2, RETRY_MAX_MS)
        // Whether the commit happened is not known: the next round reads before it writes.
        for (const held of left) held.isStale = true
        round--
      }
    }
    this.#wrote(batch)
    for (const held of left) this.#lose(held, 'contended')
    const soonest = this.#soonestDue
    this.#soonestDue = Infinity
    this.#host.onSettled(soonest)
  }

  #failed(left: readonly ActiveAttempt[], error: unknown): void {
    // A store that cannot write any outcome; one outcome that cannot be written is another matter.
    if (error instanceof SchedulerError && error.code.startsWith('STORE_')) {
      for (const held of left) this.#unwritten.add(held)
      this.#parts.troubles.raise(outcomesTrouble(error))
    }
    this.#parts.events.emit('error', { kind: errorKindOf(error), error, during: 'settle' })
  }

  #wrote(batch: readonly ActiveAttempt[]): void {
    if (this.#unwritten.size === 0) return
    for (const held of batch) this.#unwritten.delete(held)
    if (this.#unwritten.size === 0) this.#parts.troubles.clear(OUTCOMES_TROUBLE)
  }

  #hasLapsed(held: ActiveAttempt): boolean {
    if (this.#parts.clock.now() < held.job.lease!.until) return false
    this.#lose(held, 'the store could not be reached until the lease ended')
    return true
  }

  /** One pass over the batch; returns those whose row was changed and must be decided again. */
  async #round(batch: readonly ActiveAttempt[]): Promise<ActiveAttempt[]> {
    const { clock, settings, events } = this.#parts
    const fresh = await this.#readStale(batch)
    if (fresh.length === 0) return []
    await this.sendReports(fresh)
    const now = clock.now()
    const changes = fresh.map(held => this.#decide(held, now))
    const options = { now, waitingMax: settings.waitingMax }
    const results = await commit(this.#parts, changes.map(kept), options)
    const again: ActiveAttempt[] = []
    const done: Change[] = []
    for (const [i, held] of fresh.entries()) {
      if (results[i] === 'committed') {
        held.phase = 'gone'
        done.push(changes[i]!)
        this.#noteHold(held, changes[i]!.job)
        this.#noteDue(changes[i]!.job)
        for (const made of changes[i]!.inserts) this.#noteDue(made)
      } else if (results[i] === 'missing') this.#lose(held, 'the job was removed')
      else {
        held.isStale = true
        again.push(held)
      }
    }
    noteOutcomes(events, done)
    if (done.length > 0 && events.isHeard('settled')) {
      events.emit('settled', { settled: done.map(settledOf) })
    }
    return again
  }

  /** One job that cannot be understood is set aside; the others of the batch are written. */
  #decide(held: ActiveAttempt, now: Instant): Change {
    const { outcome, startedAt, measures } = held
    const { holdMs } = this.#parts.settings
    const finish = {
      outcome: outcome!,
      startedAt,
      measures,
      holdMs: outlives(held) ? holdMs : null,
      waitsFor: held.lacks,
    }
    try {
      return settle(held.job, finish, now)
    } catch (error) {
      const during = `settle of ${shortId(held.job.id)}`
      this.#parts.events.emit('error', { kind: 'cron', error, during })
      return failInvalid(held.job, error, now, finish)
    }
  }

  /** Rows someone else wrote are read again; those that are no longer ours are let go. */
  async #readStale(batch: readonly ActiveAttempt[]): Promise<ActiveAttempt[]> {
    const stale = batch.filter(held => held.isStale)
    if (stale.length === 0) return [...batch]
    const jobs = await this.#parts.store.get(stale.map(held => held.job.id))
    const byId = new Map(jobs.map(job => [job.id, job]))
    const lost: ActiveAttempt[] = []
    for (const held of stale) {
      const job = byId.get(held.job.id)
      const { token, fence } = leaseOf(held)
      if (job?.lease?.token === token && job.counters.fence === fence) {
        held.job = job
        held.isStale = false
      } else lost.push(held)
    }
    for (const held of lost) await this.#checkLost(held, byId.get(held.job.id))
    return batch.filter(held => held.phase !== 'gone')
  }

  /** A commit whose answer was cut off left its trace behind: then nothing was lost. */
  async #checkLost(held: ActiveAttempt, job: Job | undefined): Promise<void> {
    if (job) this.#noteHold(held, job)
    const { id, lease } = held.job
    const page = await this.#parts.store.attempts({ jobId: id, id: lease!.attemptId }, { limit: 1 })
    const attempt = page.items[0] ?? null
    const isOurs = attempt ? attempt.outcome === held.outcome!.kind : leftNothing(held, job)
    if (attempt?.outcome === 'cancelled' && !isOurs) this.#host.holds?.measures.add(held)
    if (!job || !isOurs) {
      this.#lose(held, job ? 'the lease was lost' : 'the job was removed')
      return
    }
    held.phase = 'gone'
    this.#noteDue(job)
    this.#parts.events.emit('settled', { settled: [{ job, attempt, skips: [] }] })
  }

  #noteHold(held: ActiveAttempt, { hold }: Job): void {
    if (hold === null || hold.attemptId !== held.job.lease!.attemptId) return
    this.#host.holds?.add(held, hold)
  }

  #noteDue({ dueAt }: Job): void {
    if (dueAt !== null && dueAt < this.#soonestDue) this.#soonestDue = dueAt
  }

  #lose(held: ActiveAttempt, reason: string): void {
    held.phase = 'gone'
    // A claim that goes back unstarted has no result that could be refused.
    if (held.outcome?.kind === 'released') return
    this.#parts.events.emit('leaseLost', { job: held.job, reason })
  }

  /** Log lines, progress and checkpoints that handlers left since the last time. */
  async sendReports(batch: readonly ActiveAttempt[]): Promise<void> {
    const reporting = batch.filter(held => held.pending !== null && held.phase !== 'gone')
    if (reporting.length === 0) return
    const reports = reporting.map(reportOf)
    for (const held of reporting) held.pending = null
    await this.#parts.store.report(reports, this.#parts.clock.now())
  }
}

/** Its handler was told to stop and has not. A node that stops takes its handlers with it. */
function outlives({ isInHandler, abortReason }: ActiveAttempt): boolean {
  return isInHandler && abortReason !== 'shutdown'
}

/** No one else ends a lease without leaving an attempt, unless the job keeps none. */
function leftNothing({ outcome, startedAt }: ActiveAttempt, job: Job | undefined): boolean {
  if (!leavesRow(outcome!)) return true
  const isEnd = outcome!.kind === 'succeeded' && job !== undefined && endEntry(job) !== null
  return isEnd && job.last!.startedAt === startedAt
}

function reportOf(held: ActiveAttempt): Report {
  const { id, token, fence } = leaseOf(held)
  const { progress, checkpoint, lines } = held.pending!
  return {
    jobId: id,
    token,
    fence,
    attemptId: held.job.lease!.attemptId,
    lines,
    ...(progress ? { progress } : {}),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  }
}
