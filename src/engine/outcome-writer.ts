// Outcomes become stored facts: decided by the core, committed in batches, decided again when the row
// was changed meanwhile, dropped when the lease is gone.

import { errorKindOf, OUTCOMES_TROUBLE, outcomesTrouble } from '../core/alerts/store-trouble.ts'
import type { Change } from '../core/change.ts'
import { errorInfo, SchedulerError } from '../core/errors.ts'
import type { Room } from '../core/fairness/room.ts'
import { kept } from '../core/history/kept.ts'
import type { Job } from '../core/job.ts'
import { failInvalid } from '../core/run/invalid.ts'
import { settle } from '../core/run/settle.ts'
import { shortId } from '../core/short-id.ts'
import type { Instant, Millis } from '../core/time.ts'
import { noteOutcomes, settledOf } from '../runtime/events.ts'
import type { ActiveAttempt } from './active-attempt.ts'
import { commit } from './commit.ts'
import type { Holds } from './holds.ts'
import { LostOutcomes } from './lost-outcomes.ts'
import type { Parts } from './parts.ts'
import { sendReports } from './reports.ts'

/** Rounds of "read again and decide again" before an outcome is given up as contended. */
const ROUNDS_MAX = 20
/** Rounds of one outcome by itself that a working store refuses, before a failure is stored instead. */
const ROUNDS_ALONE = 3
const RETRY_FIRST_MS: Millis = 50
const RETRY_MAX_MS: Millis = 2_000

export interface OutcomeWriterParts {
  readonly room: Room
  readonly holds: Holds
}

export class OutcomeWriter {
  readonly #parts: Parts
  readonly #room: Room
  readonly #holds: Holds
  readonly #lost: LostOutcomes
  readonly #unwritten = new Set<ActiveAttempt>()
  /** Of the jobs written since the loop was last told. */
  #soonestDue: Instant = Infinity

  constructor(parts: Parts, { room, holds }: OutcomeWriterParts) {
    this.#parts = parts
    this.#room = room
    this.#holds = holds
    this.#lost = new LostOutcomes(parts, holds)
  }

  /** Outcomes whose last write failed. */
  get unwritten(): ReadonlySet<ActiveAttempt> {
    return this.#unwritten
  }

  /** Until each is stored or lost, however often the store fails meanwhile. */
  async write(batch: readonly ActiveAttempt[]): Promise<void> {
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
        if (isOfStore(error)) round--
        else if (left.length > 1) left = await this.#writeApart(left)
        else if (round + 1 >= ROUNDS_ALONE) left = await this.#writeReplaced(left, error)
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

  /** One of them cannot be written, which must not keep the others from it. */
  async #writeApart(batch: readonly ActiveAttempt[]): Promise<ActiveAttempt[]> {
    const middle = batch.length >> 1
    await Promise.all([this.write(batch.slice(0, middle)), this.write(batch.slice(middle))])
    return []
  }

  /** Whoever cannot store anything stays as it is: only a failure that is stored takes its place. */
  async #writeReplaced(left: ActiveAttempt[], error: unknown): Promise<ActiveAttempt[]> {
    const before = left.map(({ outcome, measures, pending }) => ({ outcome, measures, pending }))
    for (const attempt of left) replaceOutcome(attempt, error)
    try {
      return await this.#round(left)
    } catch {
      for (const [i, attempt] of left.entries())
        Object.assign(attempt, before[i], { isStale: true })
      return left
    }
  }

  #failed(left: readonly ActiveAttempt[], error: unknown): void {
    // A store that cannot write any outcome; one outcome that cannot be written is another matter.
    if (isOfStore(error)) {
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
    if (fresh.some(({ pending }) => pending !== null)) await sendReports(this.#parts, fresh)
    const now = clock.now()
    const changes = fresh.map(attempt => this.#decide(attempt, now))
    // Those who are told of it still hear of the attempt of a job that keeps none.
    const stored = changes.map(change =>
      change.job.spec.retention.attempts > 0 ? change : kept(change),
    )
    const options = { now, waitingMax: settings.waitingMax }
    const results = await commit(this.#parts, stored, options)
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
    const { outcome, startedAt, measures, isInHandler, abortReason } = attempt
    // Told to stop, and has not. A node that stops takes its handlers with it.
    const outlives = isInHandler && abortReason !== 'shutdown'
    const finish = {
      outcome: outcome!,
      startedAt,
      measures,
      holdMs: outlives ? this.#parts.settings.holdMs : null,
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

function isOfStore(error: unknown): boolean {
  return error instanceof SchedulerError && error.code.startsWith('STORE_')
}

/** What it came to cannot be stored, alone and repeatedly: that is what is stored instead. */
function replaceOutcome(attempt: ActiveAttempt, cause: unknown): void {
  if (attempt.outcome!.kind === 'released') return
  const error = new Error(`its outcome cannot be stored: ${errorInfo(cause).message}`)
  attempt.outcome = { kind: 'failed', error: errorInfo(error), final: false, retryAfterMs: null }
  attempt.measures = null
  attempt.pending = null
}
