// A worker: takes tasks of a service, as many at once as it may, keeps their leases, tells how they
// ended. An outage of the service slows it down and never ends it.

import type { Ambient } from './ambient.ts'
import {
  Refused,
  Unavailable,
  type Calls,
  type ClaimRequest,
  type Json,
  type Task,
} from './calls.ts'

export interface TaskContext {
  readonly task: Task
  /** Aborted when the task is no longer ours, or the worker was told to stop and waited enough. */
  readonly signal: AbortSignal
  /** Says how far it is, and leaves something for the next attempt. */
  readonly progress: (fraction: number, note?: string) => void
  readonly checkpoint: (value: Json) => void
}

export type RunTask = (payload: Json, context: TaskContext) => unknown

/** Thrown by a task: not worth another try. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp'
}

/** Thrown by a task: try again, but not before so many seconds. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater'
  readonly seconds: number

  constructor(seconds: number, message = `asked to be tried again in ${seconds} s`) {
    super(message)
    this.seconds = seconds
  }
}

export interface WorkerParts {
  readonly calls: Calls
  readonly ambient: Ambient
  readonly run: RunTask
  readonly asks: Omit<ClaimRequest, 'limit'>
  readonly concurrency: number
  readonly onError: (error: unknown, task: Task | null) => void
}

const BACKOFF_FIRST_MS = 500
const BACKOFF_MAX_MS = 30_000

interface Live {
  readonly task: Task
  readonly abort: AbortController
  readonly done: Promise<void>
  pending: { progress?: object; checkpoint?: Json }
}

export class Worker {
  readonly #parts: WorkerParts
  readonly #live = new Set<Live>()
  readonly #stop = new AbortController()
  #loop: Promise<void> | null = null
  #backoffMs = 0

  constructor(parts: WorkerParts) {
    this.#parts = parts
  }

  get running(): number {
    return this.#live.size
  }

  /** Starting twice is harmless. */
  start(): this {
    this.#loop ??= this.#run()
    // Told by `onError` already; whoever awaits `finished` hears it too.
    this.#loop.catch(() => {})
    return this
  }

  /**
   * Takes nothing more, waits for what runs, then aborts the rest and gives it back. True when
   * everything ended by itself.
   */
  async stop({ graceMs = 30_000 }: { graceMs?: number } = {}): Promise<boolean> {
    this.#stop.abort()
    await this.#loop?.catch(() => {})
    const all = Promise.all([...this.#live].map(({ done }) => done))
    const late = new AbortController()
    await Promise.race([all, this.#parts.ambient.sleep(graceMs, late.signal)])
    late.abort()
    const left = [...this.#live]
    for (const { abort } of left) abort.abort(new Error('the worker stops'))
    await Promise.all(left.map(({ task }) => this.#giveBack(task)))
    return left.length === 0
  }

  /** Resolves when the worker has stopped; rejects when the service refused it. */
  get finished(): Promise<void> {
    return this.#loop ?? Promise.resolve()
  }

  async #run(): Promise<void> {
    const { calls, concurrency, asks } = this.#parts
    while (!this.#stop.signal.aborted) {
      const limit = concurrency - this.#live.size
      if (limit <= 0) {
        await Promise.race([...[...this.#live].map(({ done }) => done), this.#stopped()])
        continue
      }
      try {
        const tasks = await calls.claim({ ...asks, limit }, this.#stop.signal)
        this.#backoffMs = 0
        for (const task of tasks) this.#begin(task)
      } catch (error) {
        if (!this.#stop.signal.aborted) await this.#endure(error)
      }
    }
  }

  #stopped(): Promise<void> {
    const { signal } = this.#stop
    if (signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /** Longer after every failure, spread so that workers do not come back all at once. */
  async #endure(error: unknown): Promise<void> {
    const { onError, ambient } = this.#parts
    onError(error, null)
    if (error instanceof Refused) throw error
    this.#backoffMs = Math.min(Math.max(BACKOFF_FIRST_MS, this.#backoffMs * 2), BACKOFF_MAX_MS)
    const told = error instanceof Unavailable ? error.retryAfterMs : null
    await ambient.sleep(told ?? this.#backoffMs * (0.5 + ambient.chance() / 2), this.#stop.signal)
  }

  #begin(task: Task): void {
    const live: Live = {
      task,
      abort: new AbortController(),
      pending: {},
      done: Promise.resolve().then(() => this.#perform(live)),
    }
    this.#live.add(live)
  }

  async #perform(live: Live): Promise<void> {
    const { ambient, asks, onError } = this.#parts
    const beatMs = (asks.lease_seconds * 1_000) / 3
    const stopBeating = ambient.every(beatMs, () => void this.#beat(live))
    try {
      const tell = await this.#outcomeOf(live)
      if (!live.abort.signal.aborted) await this.#insist(tell)
      // It is refused, but says that the work has ended: the next run need not wait for it.
      else await tell().catch(() => {})
    } catch (error) {
      onError(error, live.task)
    } finally {
      stopBeating()
      this.#live.delete(live)
    }
  }

  async #outcomeOf(live: Live): Promise<() => Promise<unknown>> {
    const { calls, run } = this.#parts
    const { task, abort } = live
    const context: TaskContext = {
      task,
      signal: abort.signal,
      progress: (fraction, note) => {
        live.pending = { ...live.pending, progress: { fraction, note: note ?? null } }
      },
      checkpoint: checkpoint => {
        live.pending = { ...live.pending, checkpoint }
      },
    }
    try {
      const result = await run(task.payload, context)
      return () => calls.complete(task, result)
    } catch (thrown) {
      const failure = failureOf(thrown)
      return () => calls.fail(task, failure)
    }
  }

  /** A lease that is gone ends the work; an outage does not, while the lease may still hold. */
  async #beat(live: Live): Promise<void> {
    const { calls, asks } = this.#parts
    const { pending } = live
    live.pending = {}
    try {
      await calls.heartbeat(live.task, { ...pending, lease_seconds: asks.lease_seconds })
    } catch (error) {
      live.pending = { ...pending, ...live.pending }
      if (error instanceof Refused) live.abort.abort(error)
    }
  }

  /** An answer may be lost: saying it again is harmless, until the lease can no longer be ours. */
  async #insist(tell: () => Promise<unknown>): Promise<void> {
    const { ambient, asks } = this.#parts
    const until = ambient.now() + asks.lease_seconds * 1_000
    for (let pause = BACKOFF_FIRST_MS; ; pause = Math.min(pause * 2, BACKOFF_MAX_MS)) {
      try {
        await tell()
        return
      } catch (error) {
        if (error instanceof Refused || ambient.now() + pause >= until) throw error
        await ambient.sleep(pause)
      }
    }
  }

  async #giveBack(task: Task): Promise<void> {
    const { calls, onError } = this.#parts
    // Another worker has it when the lease ends, at the latest.
    await calls.release(task).catch((error: unknown) => onError(error, task))
  }
}

const MESSAGE_MAX = 4_096
const STACK_MAX = 8_192

function failureOf(thrown: unknown): object {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { name, message, stack } = error
  return {
    error: {
      name: name.slice(0, 200),
      message: message.slice(0, MESSAGE_MAX),
      stack: stack?.slice(0, STACK_MAX) ?? null,
    },
    final: thrown instanceof GiveUp,
    ...(thrown instanceof RetryLater ? { retry_after_seconds: thrown.seconds } : {}),
  }
}
