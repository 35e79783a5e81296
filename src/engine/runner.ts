// Slots and the small local buffer: starts handlers, watches their time, collects their outcomes.

import type { Outcome } from '../core/attempt.ts'
import { upcomingFiring } from '../core/advance.ts'
import { errorInfo } from '../core/errors.ts'
import type { Job, Lease } from '../core/job.ts'
import type { TenantShares } from '../core/lane.ts'
import { SECOND, type Instant, type Millis } from '../core/time.ts'
import { Context, type Reporter } from './context.ts'
import { Deadlines } from './deadlines.ts'
import { Heartbeat, type HeldAttempts } from './heartbeat.ts'
import type { Holds } from './holds.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { LogLine } from '../store/store.ts'
import { abort, type AbortReason, type ActiveAttempt } from './active-attempt.ts'
import type { Parts } from './parts.ts'
import type { Room } from './room.ts'
import type { Settler } from './settler.ts'
import type { TenantSlots } from './tenant-slots.ts'
import { outcomeOfReturned, outcomeOfThrown } from './verdicts.ts'

/** How soon a suspect that had to give way is tried again. */
const SUSPECT_WAIT_MS: Millis = SECOND

export interface RunnerParts {
  readonly room: Room
  readonly tenants: TenantSlots
  readonly settler: Settler
  readonly holds: Holds
  readonly lifecycle: Lifecycle
}

export class Runner implements Reporter, HeldAttempts {
  /** Renews the leases of what is held here, for as long as anything is. */
  readonly heartbeat: Heartbeat
  readonly #parts: Parts
  readonly #room: Room
  readonly #tenants: TenantSlots
  readonly #settler: Settler
  readonly #deadlines: Deadlines
  readonly #buffers = new Map<string, ActiveAttempt[]>()
  readonly #running = new Set<ActiveAttempt>()
  /** Handlers that ignored their signal and have not returned yet. */
  readonly #strays = new Set<ActiveAttempt>()
  #fresh: ActiveAttempt[] = []
  #unwatchBuffers: (() => void) | null = null
  #isPumping = false
  #onIdle: (() => void) | null = null
  /** Jobs running here whose last attempts crashed. */
  #suspects = 0

  constructor(parts: Parts, { room, tenants, settler, holds, lifecycle }: RunnerParts) {
    this.#parts = parts
    this.#deadlines = new Deadlines(parts.clock)
    this.#room = room
    this.#tenants = tenants
    this.#settler = settler
    this.heartbeat = new Heartbeat(parts, { runner: this, settler, holds, lifecycle })
  }

  get running(): ReadonlySet<ActiveAttempt> {
    return this.#running
  }

  get strays(): ReadonlySet<ActiveAttempt> {
    return this.#strays
  }

  get buffered(): ActiveAttempt[] {
    return [...this.#buffers.values()].flat()
  }

  /** What the next claim may give each tenant. */
  shares(queue: string, limit: number): TenantShares | undefined {
    if (!this.#tenants.areSeveral) return undefined
    return this.#tenants.shares(limit, this.#room.ahead(queue), this)
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
    const buffer = this.#buffers.get(queue) ?? []
    this.#buffers.set(queue, buffer)
    buffer.push(...attempts)
    const { lastLane } = this.#tenants
    if (attempts.some(({ job }) => job.spec.lane !== lastLane)) {
      this.#tenants.claimed(attempts, this.#parts.clock.now())
    }
    this.pump()
    if (buffer.length > 0 && this.#unwatchBuffers === null) this.#watchBuffers()
    if (!this.heartbeat.isBeating) this.heartbeat.start()
  }

  /** What finds no slot in time goes back: another node may have one, or a job that goes first. */
  #watchBuffers(): void {
    const { clock, settings } = this.#parts
    let oldest = Infinity
    for (const buffer of this.#buffers.values()) {
      for (const held of buffer) oldest = Math.min(oldest, held.job.lease!.claimedAt)
    }
    if (oldest === Infinity) return
    const age = Math.max(0, clock.now() - oldest)
    this.#unwatchBuffers = clock.after(settings.claimWaitMs - age, () => {
      this.#unwatchBuffers = null
      for (const queue of this.#buffers.keys()) this.#returnLate(queue)
      this.#watchBuffers()
    })
  }

  #returnLate(queue: string): void {
    const { clock, settings } = this.#parts
    const now = clock.now()
    const late: ActiveAttempt[] = []
    const young: ActiveAttempt[] = []
    for (const held of this.#buffers.get(queue)!) {
      // A clock that was set back makes a claim no younger.
      const isLate = Math.abs(now - held.job.lease!.claimedAt) >= settings.claimWaitMs
      ;(isLate ? late : young).push(held)
    }
    if (late.length === 0) return
    this.#buffers.set(queue, young)
    this.#room.returned(queue, late.length, now)
    this.#settler.release(late)
  }

  /** Gives back what has not started; the caller releases it. */
  takeBuffered(): ActiveAttempt[] {
    const taken = this.buffered
    for (const [queue, buffer] of this.#buffers) {
      this.#room.buffered(queue, -buffer.length)
      buffer.length = 0
    }
    return taken
  }

  dropBuffered(held: ActiveAttempt): void {
    const { queue } = held.job.spec
    const buffer = this.#buffers.get(queue)
    const at = buffer?.indexOf(held) ?? -1
    if (at < 0) return
    buffer!.splice(at, 1)
    this.#room.buffered(queue, -1)
  }

  /** Starts what the slots hold. Handlers that end at once are taken in the same sweep. */
  pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    const started: Job[] = []
    this.#room.begin(this.#parts.clock.now())
    for (const [queue, buffer] of this.#buffers) {
      let next = 0
      /** Of tenants that have their share of the slots. */
      const keptBack: ActiveAttempt[] = []
      while (next < buffer.length && this.#room.hasSlot(queue)) {
        const held = buffer[next++]!
        // Handlers that do not yield may take long: every start asks for the time anew.
        const now = this.#parts.clock.now()
        if (now >= held.job.lease!.until) {
          this.#giveBack(queue, held)
          continue
        }
        if (this.#tenants.areSeveral && !this.#tenants.hasSlot(held.job, this.#running)) {
          keptBack.push(held)
          continue
        }
        if (held.isSuspect && this.#suspects > 0) {
          this.#putOff(queue, held, now + SUSPECT_WAIT_MS)
          continue
        }
        if (!this.#takePermit(held)) {
          this.#giveBack(queue, held)
          continue
        }
        this.#room.started(queue)
        if (this.#tenants.areSeveral) this.#tenants.started(held.job)
        started.push(held.job)
        this.#start(held, now)
      }
      if (next > 0) buffer.splice(0, next, ...keptBack)
    }
    this.#isPumping = false
    if (started.length > 0 && this.#parts.events.isHeard('started')) {
      this.#parts.events.emit('started', { jobs: started })
    }
  }

  /** What its attempt needs beside a slot; without it the job waits in the store. */
  #takePermit(held: ActiveAttempt): boolean {
    const resource = this.#parts.handlers.resourceOf(held.job)
    if (resource === null) return true
    held.permit = resource.tryTake(held.job.id)
    if (held.permit === null) held.lacks = resource
    return held.permit !== null
  }

  #giveBack(queue: string, held: ActiveAttempt): void {
    this.#room.buffered(queue, -1)
    this.#settler.release([held])
  }

  /** Another suspect runs here: if one of them kills the process, it must not take the other along. */
  #putOff(queue: string, held: ActiveAttempt, until: Instant): void {
    this.#room.buffered(queue, -1)
    held.outcome = { kind: 'deferred', until, reason: 'another suspect runs', worked: false }
    this.#settler.add(held)
  }

  #start(held: ActiveAttempt, now: Instant): void {
    if (held.isSuspect) this.#suspects++
    held.phase = 'running'
    held.startedAt = now
    this.#running.add(held)
    const handler = this.#parts.handlers.get(held.job.spec.handler)
    if (!handler) {
      this.#done(
        held,
        outcomeOfThrown(new Error(`no handler ${held.job.spec.handler} in this node`)),
      )
      return
    }
    let returned: unknown
    held.isInHandler = true
    try {
      returned = handler(new Context(held, this))
    } catch (error) {
      this.#returned(held, outcomeOfThrown(error))
      return
    }
    if (!isThenable(returned)) {
      this.#returned(held, outcomeOfReturned(returned, held.measures))
      return
    }
    this.#watchLater(held)
    returned.then(
      value => this.#returned(held, outcomeOfReturned(value, held.measures)),
      (error: unknown) => this.#returned(held, outcomeOfThrown(error)),
    )
  }

  #returned(held: ActiveAttempt, ended: Outcome): void {
    held.isInHandler = false
    held.permit?.release()
    this.#done(held, ended)
    held.onReturn?.()
    held.onMeasured?.()
  }

  /** Most handlers end before their time could be watched; only the others cost a deadline. */
  #watchLater(held: ActiveAttempt): void {
    this.#fresh.push(held)
    if (this.#fresh.length > 1) return
    this.#parts.clock.soon(() => {
      const fresh = this.#fresh
      this.#fresh = []
      for (const one of fresh) if (!one.isDone) this.#watch(one)
    })
  }

  #watch(held: ActiveAttempt): void {
    const { timeoutMs } = held.job.spec
    if (timeoutMs !== null) {
      this.#deadlines.add(held.startedAt + timeoutMs, () => this.#stopFor(held, 'timeout'))
    }
    const firing = supersededAt(held)
    if (firing !== null) this.#deadlines.add(firing, () => this.#stopFor(held, 'superseded'))
  }

  #stopFor(held: ActiveAttempt, reason: AbortReason): void {
    if (held.isDone || held.phase !== 'running') return
    this.abort(held, reason)
  }

  /** Tells the handler to stop; one that does not listen is left behind after a grace. */
  abort(held: ActiveAttempt, reason: AbortReason): void {
    abort(held, reason)
    const { clock, settings, events } = this.#parts
    this.#deadlines.add(clock.now() + settings.abortGraceMs, () => {
      if (held.isDone) return
      this.#strays.add(held)
      events.emit('stray', { job: held.job })
      this.#done(held, { kind: 'interrupted' })
    })
  }

  #done(held: ActiveAttempt, ended: Outcome): void {
    if (held.isDone) {
      this.#strays.delete(held)
      this.#parts.events.emit('lateResult', { job: held.job, reason: held.abortReason! })
      return
    }
    held.isDone = true
    this.#running.delete(held)
    if (held.isSuspect) this.#suspects--
    this.#room.finished(held.job.spec.queue)
    if (this.#tenants.areSeveral) this.#tenants.finished(held.job)
    if (held.phase === 'running') {
      held.outcome = outcomeAfterAbort(held, ended)
      this.#warnOmitted(held, held.outcome)
      this.#settler.add(held)
    }
    if (!this.#isPumping) this.pump()
    if (this.#running.size > 0) return
    this.#parts.wake.slotsFreed()
    this.#onIdle?.()
  }

  #warnOmitted(held: ActiveAttempt, outcome: Outcome): void {
    if (outcome.kind !== 'succeeded' || outcome.resultOmitted === undefined) return
    const why = outcome.resultOmitted
    new Context(held, this).log.warn(`result omitted: ${why}`)
    this.#parts.events.emit('resultOmitted', { job: held.job, why })
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

  now(): Instant {
    return this.#parts.clock.now()
  }

  beat(held: ActiveAttempt): Promise<boolean> {
    return this.heartbeat.beatOne(held)
  }

  logged(held: ActiveAttempt, line: LogLine): void {
    const { events } = this.#parts
    if (events.isHeard('logged')) events.emit('logged', { job: held.job, line })
  }

  progressed({ job, pending }: ActiveAttempt): void {
    this.#parts.events.emit('progressed', { job, ...pending!.progress! })
  }

  stop(): void {
    this.#unwatchBuffers?.()
    this.#deadlines.clear()
  }
}

/** Why a handler was stopped says more than what it threw on the way out. */
function outcomeAfterAbort(held: ActiveAttempt, ended: Outcome): Outcome {
  switch (held.abortReason) {
    case 'timeout': {
      const ms = held.job.spec.timeoutMs
      const error = errorInfo(new Error(`ran longer than its timeout of ${ms} ms`))
      return { kind: 'timedOut', error: { ...error, stack: null } }
    }
    case 'superseded':
      return ended.kind === 'succeeded' ? ended : { kind: 'cancelled', reason: 'superseded' }
    case 'shutdown':
      return ended.kind === 'succeeded' ? ended : { kind: 'interrupted' }
    // Stopped in time: whether the lease held until now is for the store to say.
    case 'lease-lost':
      if (ended.kind === 'succeeded') return ended
      return held.isStalled ? { kind: 'abandoned' } : { kind: 'interrupted', reason: 'lease_lost' }
    case 'cancelled':
    case null:
      return ended
  }
}

/** With overlap replace, the next firing ends this run. */
function supersededAt(held: ActiveAttempt): Instant | null {
  const { job, current } = held
  if (job.spec.overlap.policy !== 'replace' || current.request) return null
  const { trigger } = job.spec
  if (trigger.kind === 'interval' && trigger.from === 'start') {
    return held.startedAt + trigger.everyMs
  }
  return upcomingFiring(job)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
