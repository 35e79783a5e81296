// Slots and the small local buffer: starts handlers, watches their time, collects their outcomes.

import type { Outcome } from '../core/attempt.ts'
import { upcomingFiring } from '../core/advance.ts'
import { errorInfo } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import { Context, type ContextHost } from './context.ts'
import { Deadlines } from './deadlines.ts'
import { abort, type AbortReason, type Held } from './held.ts'
import type { Parts } from './parts.ts'
import { Room } from './room.ts'
import type { Settling } from './settling.ts'
import { outcomeOfReturned, outcomeOfThrown } from './verdicts.ts'

export interface RunnerHost extends ContextHost {
  /** No handler runs any more. */
  idle(): void
}

export class Runner {
  readonly room: Room
  readonly #parts: Parts
  readonly #host: RunnerHost
  readonly #deadlines: Deadlines
  readonly #buffers = new Map<string, Held[]>()
  readonly #running = new Set<Held>()
  #fresh: Held[] = []
  #settling: Settling | null = null
  #isPumping = false

  constructor(parts: Parts, host: RunnerHost) {
    this.#parts = parts
    this.#host = host
    this.#deadlines = new Deadlines(parts.clock)
    this.room = new Room(parts.settings)
  }

  use(settling: Settling): void {
    this.#settling = settling
  }

  get running(): ReadonlySet<Held> {
    return this.#running
  }

  get buffered(): Held[] {
    return [...this.#buffers.values()].flat()
  }

  accept(queue: string, jobs: readonly Held[]): void {
    const buffer = this.#buffers.get(queue) ?? []
    this.#buffers.set(queue, buffer)
    buffer.push(...jobs)
    this.room.buffered(queue, jobs.length)
    this.pump()
  }

  /** Gives back what has not started; the caller releases it. */
  takeBuffered(): Held[] {
    const taken = this.buffered
    for (const [queue, buffer] of this.#buffers) {
      this.room.buffered(queue, -buffer.length)
      buffer.length = 0
    }
    return taken
  }

  dropBuffered(held: Held): void {
    const { queue } = held.job.spec
    const buffer = this.#buffers.get(queue)
    const at = buffer?.indexOf(held) ?? -1
    if (at < 0) return
    buffer!.splice(at, 1)
    this.room.buffered(queue, -1)
  }

  /** Starts what the slots hold. Handlers that end at once are taken in the same sweep. */
  pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    const started: Job[] = []
    const now = this.#parts.clock.now()
    this.room.begin(now)
    for (const [queue, buffer] of this.#buffers) {
      let next = 0
      while (next < buffer.length && this.room.hasSlot(queue)) {
        const held = buffer[next++]!
        if (now >= held.job.lease!.until) {
          this.#giveBack(queue, held)
          continue
        }
        this.room.started(queue)
        started.push(held.job)
        this.#start(held)
      }
      if (next > 0) buffer.splice(0, next)
    }
    this.#isPumping = false
    if (started.length > 0 && this.#parts.events.isHeard('started')) {
      this.#parts.events.emit('started', { jobs: started })
    }
  }

  /** The claim's answer took longer than its lease: by now the job may be somebody else's. */
  #giveBack(queue: string, held: Held): void {
    this.room.buffered(queue, -1)
    held.outcome = { kind: 'released' }
    this.#settling!.add(held)
  }

  #start(held: Held): void {
    held.phase = 'running'
    held.startedAt = this.#parts.clock.now()
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
    try {
      returned = handler(new Context(held, this.#host))
    } catch (error) {
      this.#done(held, outcomeOfThrown(error))
      return
    }
    if (!isThenable(returned)) {
      this.#done(held, outcomeOfReturned(returned, held.measures))
      return
    }
    this.#watchLater(held)
    returned.then(
      value => this.#done(held, outcomeOfReturned(value, held.measures)),
      (error: unknown) => this.#done(held, outcomeOfThrown(error)),
    )
  }

  /** Most handlers end before their time could be watched; only the others cost a deadline. */
  #watchLater(held: Held): void {
    this.#fresh.push(held)
    if (this.#fresh.length > 1) return
    this.#parts.clock.soon(() => {
      const fresh = this.#fresh
      this.#fresh = []
      for (const one of fresh) if (!one.isDone) this.#watch(one)
    })
  }

  #watch(held: Held): void {
    const { timeoutMs } = held.job.spec
    if (timeoutMs !== null) {
      this.#deadlines.add(held.startedAt + timeoutMs, () => this.#stopFor(held, 'timeout'))
    }
    const firing = supersededAt(held)
    if (firing !== null) this.#deadlines.add(firing, () => this.#stopFor(held, 'superseded'))
  }

  #stopFor(held: Held, reason: AbortReason): void {
    if (held.isDone || held.phase !== 'running') return
    this.abort(held, reason)
  }

  /** Tells the handler to stop; one that does not listen is left behind after a grace. */
  abort(held: Held, reason: AbortReason): void {
    abort(held, reason)
    const { clock, settings, events } = this.#parts
    this.#deadlines.add(clock.now() + settings.abortGraceMs, () => {
      if (held.isDone) return
      events.emit('stray', { job: held.job })
      this.#done(held, { kind: 'interrupted' })
    })
  }

  #done(held: Held, ended: Outcome): void {
    if (held.isDone) return
    held.isDone = true
    this.#running.delete(held)
    this.room.finished(held.job.spec.queue)
    if (held.phase === 'running') {
      held.outcome = heard(held, ended)
      this.#settling!.add(held)
    }
    if (!this.#isPumping) this.pump()
    if (this.#running.size === 0) this.#host.idle()
  }

  stop(): void {
    this.#deadlines.clear()
  }
}

/** Why a handler was stopped says more than what it threw on the way out. */
function heard(held: Held, ended: Outcome): Outcome {
  switch (held.abortReason) {
    case 'timeout': {
      const ms = held.job.spec.timeoutMs
      const error = errorInfo(new Error(`ran longer than its timeout of ${ms} ms`))
      return { kind: 'timedOut', error: { ...error, stack: null } }
    }
    case 'superseded':
      return ended.kind === 'succeeded' ? ended : { kind: 'cancelled', reason: 'superseded' }
    case 'shutdown':
    // Stopped in time: whether the lease held until now is for the store to say.
    case 'lease-lost':
      return ended.kind === 'succeeded' ? ended : { kind: 'interrupted' }
    case 'cancelled':
    case null:
      return ended
  }
}

/** With overlap replace, the next firing ends this run. */
function supersededAt(held: Held): Instant | null {
  const { job, service } = held
  if (job.spec.overlap.policy !== 'replace' || service.request) return null
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
