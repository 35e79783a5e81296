// The slots of a node: starts handlers, watches their time, collects their outcomes.

import type { AbortReason, Outcome } from '../core/attempt.ts'
import type { Room } from '../core/fairness/room.ts'
import type { TenantSlots } from '../core/fairness/tenant-slots.ts'
import type { Job, Lease } from '../core/job.ts'
import { outcomeAfterAbort, outcomeOfReturned, outcomeOfThrown } from '../core/run/outcome.ts'
import { SECOND, type Instant, type Millis } from '../core/time.ts'
import { abort, type ActiveAttempt } from './active-attempt.ts'
import { Buffers } from './buffers.ts'
import { Context } from './context.ts'
import { Heartbeat, type HeldAttempts } from './heartbeat.ts'
import type { Holds } from './holds.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Parts } from './parts.ts'
import { AttemptReporter } from './reporter.ts'
import type { Settler } from './settler.ts'
import { TimeLimits } from './time-limits.ts'

/** How soon a suspect that had to give way is tried again. */
const SUSPECT_WAIT_MS: Millis = SECOND

export interface RunnerParts {
  readonly room: Room
  readonly tenants: TenantSlots
  readonly settler: Settler
  readonly holds: Holds
  readonly lifecycle: Lifecycle
}

export class Runner implements HeldAttempts {
  /** Renews the leases of what is held here, for as long as anything is. */
  readonly heartbeat: Heartbeat
  readonly #parts: Parts
  readonly #room: Room
  readonly #tenants: TenantSlots
  readonly #settler: Settler
  readonly #timeLimits: TimeLimits
  readonly #buffers: Buffers
  readonly #reporter: AttemptReporter
  readonly #running = new Set<ActiveAttempt>()
  /** Handlers that ignored their signal and have not returned yet. */
  readonly #strays = new Set<ActiveAttempt>()
  #isPumping = false
  #onIdle: (() => void) | null = null
  /** Jobs running here whose last attempts crashed. */
  #suspects = 0

  constructor(parts: Parts, { room, tenants, settler, holds, lifecycle }: RunnerParts) {
    this.#parts = parts
    this.#timeLimits = new TimeLimits(parts.clock, this)
    this.#room = room
    this.#tenants = tenants
    this.#settler = settler
    this.#buffers = new Buffers(parts, { room, settler })
    this.heartbeat = new Heartbeat(parts, { runner: this, settler, holds, lifecycle })
    this.#reporter = new AttemptReporter(parts, this.heartbeat)
  }

  get running(): ReadonlySet<ActiveAttempt> {
    return this.#running
  }

  get strays(): ReadonlySet<ActiveAttempt> {
    return this.#strays
  }

  get buffered(): ActiveAttempt[] {
    return this.#buffers.all
  }

  /** Whether a handler runs here under this lease, and its outcome is still ours to settle. */
  holds(lease: Lease | null): boolean {
    for (const { phase, job } of this.#running) {
      if (phase === 'running' && job.lease!.attemptId === lease?.attemptId) return true
    }
    return false
  }

  /** Their room is taken already. */
  accept(queue: string, attempts: readonly ActiveAttempt[]): void {
    const buffer = this.#buffers.add(queue, attempts)
    const { lastLane } = this.#tenants
    if (attempts.some(({ job }) => job.spec.lane !== lastLane)) {
      this.#tenants.claimed(attempts, this.#parts.clock.now())
    }
    this.pump()
    if (buffer.length > 0) this.#buffers.watch()
    if (!this.heartbeat.isBeating) this.heartbeat.start()
  }

  /** Gives back what has not started; the caller releases it. */
  takeBuffered(): ActiveAttempt[] {
    return this.#buffers.takeAll()
  }

  dropBuffered(attempt: ActiveAttempt): void {
    this.#buffers.drop(attempt)
  }

  /** Starts what the slots hold. Handlers that end at once are taken in the same sweep. */
  pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    const started: Job[] = []
    this.#room.begin(this.#parts.clock.now())
    for (const [queue, buffer] of this.#buffers.byQueue) {
      if (buffer.length === 0) continue
      let next = 0
      /** Of tenants that have their share of the slots. */
      const keptBack: ActiveAttempt[] = []
      while (next < buffer.length && this.#room.hasSlot(queue)) {
        const attempt = buffer[next++]!
        // Handlers that do not yield may take long: every start asks for the time anew.
        const now = this.#parts.clock.now()
        if (now >= attempt.job.lease!.until) {
          this.#giveBack(queue, attempt)
          continue
        }
        if (this.#tenants.areSeveral && !this.#tenants.hasSlot(attempt.job, this.#running)) {
          keptBack.push(attempt)
          continue
        }
        if (attempt.isSuspect && this.#suspects > 0) {
          this.#putOff(queue, attempt, now + SUSPECT_WAIT_MS)
          continue
        }
        if (!this.#takePermit(attempt)) {
          this.#giveBack(queue, attempt)
          continue
        }
        this.#room.started(queue)
        if (this.#tenants.areSeveral) this.#tenants.started(attempt.job)
        started.push(attempt.job)
        this.#start(attempt, now)
      }
      // The usual case while handlers end one by one; splice would move the whole buffer.
      if (next === 1 && keptBack.length === 0) buffer.shift()
      else if (next > 0) buffer.splice(0, next, ...keptBack)
    }
    this.#isPumping = false
    if (started.length > 0 && this.#parts.events.isHeard('started')) {
      this.#parts.events.emit('started', { jobs: started })
    }
  }

  /** What its attempt needs beside a slot; without it the job waits in the store. */
  #takePermit(attempt: ActiveAttempt): boolean {
    const resource = this.#parts.handlers.resourceOf(attempt.job)
    if (resource === null) return true
    attempt.permit = resource.tryTake(attempt.job.id)
    if (attempt.permit === null) attempt.lacks = resource
    return attempt.permit !== null
  }

  #giveBack(queue: string, attempt: ActiveAttempt): void {
    this.#room.buffered(queue, -1)
    this.#settler.release([attempt])
  }

  /** Another suspect runs here: if one of them kills the process, it must not take the other along. */
  #putOff(queue: string, attempt: ActiveAttempt, until: Instant): void {
    this.#room.buffered(queue, -1)
    attempt.outcome = { kind: 'deferred', until, reason: 'another suspect runs', worked: false }
    this.#settler.add(attempt)
  }

  #start(attempt: ActiveAttempt, now: Instant): void {
    if (attempt.isSuspect) this.#suspects++
    attempt.phase = 'running'
    attempt.startedAt = now
    this.#running.add(attempt)
    const handler = this.#parts.handlers.get(attempt.job.spec.handler)
    if (!handler) {
      const missing = new Error(`no handler ${attempt.job.spec.handler} in this node`)
      return this.#done(attempt, outcomeOfThrown(missing))
    }
    let returned: unknown
    let isLater: boolean
    attempt.isInHandler = true
    try {
      returned = handler(new Context(attempt, this.#reporter))
      isLater = isThenable(returned)
    } catch (error) {
      return this.#returned(attempt, outcomeOfThrown(error))
    }
    if (!isLater) {
      return this.#returned(attempt, outcomeOfReturned(returned, attempt.measures))
    }
    this.#timeLimits.watch(attempt)
    // A thenable of another kind may throw where a promise rejects.
    Promise.resolve(returned).then(
      value => this.#returned(attempt, outcomeOfReturned(value, attempt.measures)),
      (error: unknown) => this.#returned(attempt, outcomeOfThrown(error)),
    )
  }

  #returned(attempt: ActiveAttempt, ended: Outcome): void {
    attempt.isInHandler = false
    attempt.permit?.release()
    this.#done(attempt, ended)
    attempt.onReturn?.()
    attempt.onMeasured?.()
  }

  /** Tells the handler to stop; one that does not listen is left behind after a grace. */
  abort(attempt: ActiveAttempt, reason: AbortReason): void {
    abort(attempt, reason)
    const { settings, events } = this.#parts
    this.#timeLimits.after(settings.abortGraceMs, () => {
      if (attempt.isDone) return
      this.#strays.add(attempt)
      events.emit('stray', { job: attempt.job })
      this.#done(attempt, { kind: 'interrupted' })
    })
  }

  #done(attempt: ActiveAttempt, ended: Outcome): void {
    if (attempt.isDone) {
      this.#strays.delete(attempt)
      this.#parts.events.emit('lateResult', { job: attempt.job, reason: attempt.abortReason! })
      return
    }
    attempt.isDone = true
    this.#running.delete(attempt)
    if (attempt.isSuspect) this.#suspects--
    this.#room.finished(attempt.job.spec.queue)
    if (this.#tenants.areSeveral) this.#tenants.finished(attempt.job)
    if (attempt.phase === 'running') {
      attempt.outcome = outcomeAfterAbort(attempt, ended)
      this.#warnOmitted(attempt, attempt.outcome)
      this.#settler.add(attempt)
    }
    if (!this.#isPumping) this.pump()
    if (this.#running.size > 0) return
    this.#parts.wake.slotsFreed()
    this.#onIdle?.()
  }

  #warnOmitted(attempt: ActiveAttempt, outcome: Outcome): void {
    if (outcome.kind !== 'succeeded' || outcome.resultOmitted === undefined) return
    const why = outcome.resultOmitted
    new Context(attempt, this.#reporter).log.warn(`result omitted: ${why}`)
    this.#parts.events.emit('resultOmitted', { job: attempt.job, why })
  }

  /** Resolves when no handler runs any more, or after the given time. */
  async untilIdle(ms: Millis): Promise<void> {
    if (this.#running.size === 0) return
    await new Promise<void>(resolve => {
      const cancel = this.#parts.clock.after(ms, resolve)
      this.#onIdle = () => {
        cancel()
        resolve()
      }
    })
    this.#onIdle = null
  }

  stop(): void {
    this.#buffers.stop()
    this.#timeLimits.clear()
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
