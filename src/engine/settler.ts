// Outcomes become stored facts: decided by the core, committed in batches, decided again when the
// row was changed meanwhile, dropped when the lease is gone.

import type { Change } from '../core/change.ts'
import { SchedulerError } from '../core/errors.ts'
import { failInvalid } from '../core/invalid.ts'
import type { Job } from '../core/job.ts'
import { kept } from '../core/kept.ts'
import { settle } from '../core/settle.ts'
import type { Instant, Millis } from '../core/time.ts'
import { shortId } from '../core/short-id.ts'
import { commit } from './commit.ts'
import { noteOutcomes, settledOf } from '../runtime/events.ts'
import { endLog, type ActiveAttempt } from './active-attempt.ts'
import type { Holds } from './holds.ts'
import { LostOutcomes } from './lost-outcomes.ts'
import type { Parts } from './parts.ts'
import { sendReports } from './reports.ts'
import type { Room } from '../core/room.ts'
import { errorKindOf, OUTCOMES_TROUBLE, outcomesTrouble } from '../core/store-trouble.ts'

/** While more outcomes wait to be written, nothing is claimed. */
const UNWRITTEN_MAX = 10_000
/** Rounds of "read again and decide again" before an outcome is given up as contended. */
const ROUNDS_MAX = 20
const RETRY_FIRST_MS: Millis = 50
const RETRY_MAX_MS: Millis = 2_000
/** So many outcomes are worth a commit beside the one under way. */
const SECOND_WRITER_MIN = 250
/** A store in another process takes so many commits at once. */
const REMOTE_WRITERS = 2
/** How long outcomes wait for starts while the node is saturated and the store works in this process. */
const HOLD_BACK_MS: Millis = 200

export interface SettlerParts {
  readonly room: Room
  readonly holds: Holds
}

export class Settler {
  readonly #parts: Parts
  readonly #room: Room
  readonly #holds: Holds
  readonly #lost: LostOutcomes
  #waiting: ActiveAttempt[] = []
  readonly #unwritten = new Set<ActiveAttempt>()
  readonly #writers = new Set<Promise<void>>()
  #isScheduled = false
  #isAbandoned = false
  /** The last poll took many jobs, and there are more: set by the loop. */
  isSaturated = false
  #saturatedSince: Instant | null = null
  /** Of the jobs written since the loop was last told. */
  #soonestDue: Instant = Infinity

  constructor(parts: Parts, { room, holds }: SettlerParts) {
    this.#parts = parts
    this.#room = room
    this.#holds = holds
    this.#lost = new LostOutcomes(parts, holds)
  }

  /** While this is so, nothing is claimed: leases and memory are not for waiting. */
  get isBehind(): boolean {
    return this.#unwritten.size > 0 || this.#waiting.length > UNWRITTEN_MAX
  }

  /** Outcomes are on their way to the store: should that fail, their leases need renewals. */
  get isBusy(): boolean {
    return this.#waiting.length > 0 || this.#writers.size > 0
  }

  /** Outcomes whose last write failed. */
  get unwritten(): ReadonlySet<ActiveAttempt> {
    return this.#unwritten
  }

  /** Claims that go back unstarted. */
  release(attempts: readonly ActiveAttempt[]): void {
    for (const attempt of attempts) {
      attempt.outcome = { kind: 'released' }
      this.add(attempt)
    }
  }

  /** Written with the others of this turn of the event loop, or with those of the commit under way. */
  add(attempt: ActiveAttempt): void {
    if (this.#isAbandoned) return
    attempt.phase = 'settling'
    if (attempt.log !== null) endLog(attempt, this.#parts.clock.now())
    this.#waiting.push(attempt)
    if (!this.#isScheduled && this.#mayWrite) this.#schedule()
  }

  /** A store in another process writes one batch while this one decides the next. */
  get #mayWrite(): boolean {
    const writers = this.#writers.size
    if (writers === 0) return this.#waiting.length > 0
    if (!this.#parts.store.isRemote || writers >= REMOTE_WRITERS) return false
    return this.#waiting.length >= SECOND_WRITER_MIN
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#parts.clock.soon(() => {
      this.#isScheduled = false
      if (!this.#mayWrite) return
      if (this.#isHeldBack()) this.#schedule()
      else this.#startWriter()
    })
  }

  /**
   * Where a saturated node and its store take turns in one process, jobs start before others end. Once
   * for each backlog: one without end would only keep more in memory.
   */
  #isHeldBack(): boolean {
    const { store, clock } = this.#parts
    if (!this.isSaturated || store.isRemote) {
      this.#saturatedSince = null
      return false
    }
    const now = clock.now()
    this.#saturatedSince ??= now
    return Math.abs(now - this.#saturatedSince) < HOLD_BACK_MS
  }

  #startWriter(): void {
    const writer = this.#writeAll().finally(() => {
      this.#writers.delete(writer)
      // What came after its last batch and before its end.
      if (!this.#isScheduled && this.#mayWrite) this.#schedule()
    })
    this.#writers.add(writer)
  }

  async #writeAll(): Promise<void> {
    const { store, clock, settings } = this.#parts
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, settings.batchMax)
      if (!this.#isScheduled && this.#mayWrite) this.#schedule()
      await this.#settleBatch(batch)
      // What was held back is written between polls.
      if (this.#waiting.length > 0 && this.isSaturated && !store.isRemote) {
        await new Promise<void>(resolve => clock.soon(resolve))
      }
    }
  }

  /** Writes everything now. */
  async flush(): Promise<void> {
    while (this.isBusy) {
      if (this.#writers.size === 0) this.#startWriter()
      await Promise.all(this.#writers)
    }
  }

  /** The process is as good as dead: what was not written is not written any more. */
  abandon(): void {
    this.#isAbandoned = true
    for (const attempt of this.#waiting) attempt.phase = 'gone'
    this.#waiting = []
  }

  async #settleBatch(batch: readonly ActiveAttempt[]): Promise<void> {
    let left = batch.filter(attempt => attempt.phase !== 'gone')
    let delay = RETRY_FIRST_MS
    for (let round = 0; left.length > 0 && round < ROUNDS_MAX; round++) {
      try {
        left = await this.#round(left)
        if (this.#unwritten.size > 0) this.#wrote(batch)
      } catch (error) {
        this.#failed(left, error)
        // What was told of already is not told again.
        left = left.filter(attempt => attempt.phase !== 'gone' && !this.#hasLapsed(attempt))
        await new Promise<void>(resolve => this.#parts.clock.after(delay, resolve))
        delay = Math.min(delay * 2, RETRY_MAX_MS)
        // Whether the commit happened is not known: the next round reads before it writes.
        for (const attempt of left) attempt.isStale = true
        round--
      }
    }
    if (this.#unwritten.size > 0) this.#wrote(batch)
    for (const attempt of left) this.#lost.lose(attempt, 'contended')
    const soonest = this.#soonestDue
    this.#soonestDue = Infinity
    this.#room.measure(this.#parts.clock.now())
    this.#parts.wake.by(soonest)
    this.#parts.wake.slotsFreed()
  }

  #failed(left: readonly ActiveAttempt[], error: unknown): void {
    // A store that cannot write any outcome; one outcome that cannot be written is another matter.
    if (error instanceof SchedulerError && error.code.startsWith('STORE_')) {
      for (const attempt of left) this.#unwritten.add(attempt)
      this.#parts.troubles.raise(outcomesTrouble(error))
    }
    this.#parts.events.emit('error', { kind: errorKindOf(error), error, during: 'settle' })
  }

  #wrote(batch: readonly ActiveAttempt[]): void {
    for (const attempt of batch) this.#unwritten.delete(attempt)
    if (this.#unwritten.size === 0) this.#parts.troubles.clear(OUTCOMES_TROUBLE)
  }

  #hasLapsed(attempt: ActiveAttempt): boolean {
    if (this.#parts.clock.now() < attempt.job.lease!.until) return false
    this.#lost.lose(attempt, 'the store could not be reached until the lease ended')
    return true
  }

  /** One pass over the batch; returns those whose row was changed and must be decided again. */
  async #round(batch: readonly ActiveAttempt[]): Promise<ActiveAttempt[]> {
    const { clock, settings, events } = this.#parts
    const fresh = batch.some(attempt => attempt.isStale) ? await this.#lost.readAgain(batch) : batch
    if (fresh.length === 0) return []
    await sendReports(this.#parts, fresh)
    const now = clock.now()
    const changes = fresh.map(attempt => this.#decide(attempt, now))
    const options = { now, waitingMax: settings.waitingMax }
    const results = await commit(this.#parts, changes.map(storedChange), options)
    const again: ActiveAttempt[] = []
    const done: Change[] = []
    for (let i = 0; i < fresh.length; i++) {
      const attempt = fresh[i]!
      const change = changes[i]!
      if (results[i] === 'committed') {
        attempt.phase = 'gone'
        done.push(change)
        if (change.job.hold !== null) this.#holds.addFrom(attempt, change.job)
        this.#noteDue(change.job)
        for (const made of change.inserts) this.#noteDue(made)
      } else if (results[i] === 'missing') this.#lost.lose(attempt, 'the job was removed')
      else {
        attempt.isStale = true
        again.push(attempt)
      }
    }
    if (done.some(({ records }) => records.length > 0)) noteOutcomes(events, done)
    if (done.length > 0 && events.isHeard('settled')) {
      events.emit('settled', { settled: done.map(settledOf) })
    }
    return again
  }

  /** One job that cannot be understood is set aside; the others of the batch are written. */
  #decide(attempt: ActiveAttempt, now: Instant): Change {
    const { outcome, startedAt, measures } = attempt
    const { holdMs } = this.#parts.settings
    const finish = {
      outcome: outcome!,
      startedAt,
      measures,
      holdMs: outlives(attempt) ? holdMs : null,
      waitsFor: attempt.lacks,
    }
    try {
      return settle(attempt.job, finish, now)
    } catch (error) {
      const during = `settle of ${shortId(attempt.job.id)}`
      this.#parts.events.emit('error', { kind: 'cron', error, during })
      return failInvalid(attempt.job, error, now, finish)
    }
  }

  #noteDue({ dueAt }: Job): void {
    if (dueAt !== null && dueAt < this.#soonestDue) this.#soonestDue = dueAt
  }
}

/** Those who are told of it still hear of the attempt of a job that keeps none. */
function storedChange(change: Change): Change {
  return change.job.spec.retention.attempts > 0 ? change : kept(change)
}

/** Its handler was told to stop and has not. A node that stops takes its handlers with it. */
function outlives({ isInHandler, abortReason }: ActiveAttempt): boolean {
  return isInHandler && abortReason !== 'shutdown'
}
