// Waits for runs to end, many at a time. What this process settles wakes whoever waits for that job;
// for runs of other processes one timer reads the jobs that are waited for and compares versions.

import type { Engine } from '../create-engine.ts'
import type { Millis } from '../core/time.ts'

/** How often runs of other processes are read while somebody waits for them. */
const POLL_MS: Millis = 250
/** Jobs read at each poll; more are read in turns. */
const POLL_MAX = 1_000

export interface RunWait {
  /** Resolves when the job may have changed since this call. */
  next(): Promise<void>
  end(): void
}

interface Waiter {
  readonly jobId: string
  /** As it was read last; null before that. */
  version: number | null
  wake: () => void
}

const watches = new WeakMap<Engine, RunWatch>()

export class RunWatch {
  readonly #engine: Engine
  readonly #waiters = new Map<string, Set<Waiter>>()
  /** Those that are read next come first. */
  readonly #queue = new Set<Waiter>()
  #stopListening: (() => void)[] = []
  #cancelPoll: (() => void) | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** One for each engine, however many wait. */
  static of(engine: Engine): RunWatch {
    const known = watches.get(engine)
    if (known !== undefined) return known
    const made = new RunWatch(engine)
    watches.set(engine, made)
    return made
  }

  wait(jobId: string, signal?: AbortSignal): RunWait {
    const waiter: Waiter = { jobId, version: null, wake: () => {} }
    this.#add(waiter)
    const onAbort = () => waiter.wake()
    signal?.addEventListener('abort', onAbort, { once: true })
    return {
      next: () => new Promise<void>(resolve => (waiter.wake = resolve)),
      end: () => {
        signal?.removeEventListener('abort', onAbort)
        this.#remove(waiter)
      },
    }
  }

  #add(waiter: Waiter): void {
    const others = this.#waiters.get(waiter.jobId)
    if (others) others.add(waiter)
    else this.#waiters.set(waiter.jobId, new Set([waiter]))
    this.#queue.add(waiter)
    if (this.#queue.size === 1) this.#listen()
  }

  #remove(waiter: Waiter): void {
    const others = this.#waiters.get(waiter.jobId)
    others?.delete(waiter)
    if (others?.size === 0) this.#waiters.delete(waiter.jobId)
    this.#queue.delete(waiter)
    if (this.#queue.size > 0) return
    for (const stop of this.#stopListening) stop()
    this.#stopListening = []
    this.#cancelPoll?.()
    this.#cancelPoll = null
  }

  #listen(): void {
    const { events } = this.#engine
    this.#stopListening = [
      events.on('settled', ({ settled }) => {
        for (const { job } of settled) this.#wake(job.id)
      }),
      events.on('stateChanged', ({ to }) => {
        if (to === 'stopped') for (const jobId of this.#waiters.keys()) this.#wake(jobId)
      }),
    ]
    this.#schedulePoll()
  }

  #schedulePoll(): void {
    this.#cancelPoll = this.#engine.clock.after(POLL_MS, () => void this.#poll())
  }

  #wake(jobId: string): void {
    for (const waiter of this.#waiters.get(jobId) ?? []) waiter.wake()
  }

  async #poll(): Promise<void> {
    const polled = [...this.#queue].slice(0, POLL_MAX)
    try {
      const ids = [...new Set(polled.map(({ jobId }) => jobId))]
      const jobs = await this.#engine.store.get(ids)
      const versions = new Map(jobs.map(({ id, version }) => [id, version]))
      for (const waiter of polled) {
        const version = versions.get(waiter.jobId) ?? null
        // Removed jobs have no version: who waits for one finds that out by looking.
        if (version === null || version !== waiter.version) waiter.wake()
        waiter.version = version
      }
    } catch {
      // Whoever waits looks again and hears of it in words of its own.
      for (const { wake } of polled) wake()
    }
    for (const waiter of polled) {
      if (!this.#queue.delete(waiter)) continue
      this.#queue.add(waiter)
    }
    if (this.#queue.size > 0 && this.#cancelPoll !== null) this.#schedulePoll()
  }
}
