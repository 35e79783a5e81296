// What a handler is given. Parts that most handlers never touch are only made when asked for.

import type { Json } from '../core/json.ts'
import type { Job } from '../core/job.ts'
import { runId } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { LogLine } from '../store/store.ts'
import { abortError, type Held, type PendingReport } from './held.ts'
import type { JsonObject } from '../core/json.ts'

export interface ContextHost {
  now(): Instant
  /** Sends what is pending now and renews the lease; false when it is lost. */
  beat(held: Held): Promise<boolean>
  logged(held: Held, line: LogLine): void
  progressed(held: Held): void
}

type Log = (message: string, fields?: JsonObject) => void
export interface ContextLog {
  readonly debug: Log
  readonly info: Log
  readonly warn: Log
  readonly error: Log
}

export class Context {
  readonly #held: Held
  readonly #host: ContextHost
  #log: ContextLog | null = null

  constructor(held: Held, host: ContextHost) {
    this.#held = held
    this.#host = host
  }

  get job(): Job {
    return this.#held.job
  }
  get payload(): Json {
    return this.#held.service.payload
  }
  /** Aborts with a reason: cancelled, timeout, shutdown, lease-lost or superseded. */
  get signal(): AbortSignal {
    const held = this.#held
    if (held.controller === null) {
      held.controller = new AbortController()
      if (held.abortReason !== null) held.controller.abort(abortError(held.abortReason))
    }
    return held.controller.signal
  }
  get runId(): string {
    return runId(this.#held.job.id, this.#held.service.run.run)
  }
  /** The same for every attempt of one run: give it to whatever must not happen twice. */
  get idempotencyKey(): string {
    return this.runId
  }
  get attemptId(): string {
    return this.#held.job.lease!.attemptId
  }
  get run(): number {
    return this.#held.service.run.run
  }
  /** 1-based within the run. */
  get attempt(): number {
    return this.#held.service.run.attempt + 1
  }
  /** Grows with every claim of the job: a store that remembers the highest can refuse the rest. */
  get fence(): number {
    return this.#held.job.counters.fence
  }
  get origin() {
    const { origin, missed } = this.#held.service
    return origin === 'schedule' && missed > 0 ? ('catch-up' as const) : origin
  }
  get scheduledFor(): Date {
    return new Date(this.#held.service.occurrence)
  }
  get startedAt(): Date {
    return new Date(this.#held.startedAt)
  }
  get lateMs(): Millis {
    return Math.max(0, this.#held.startedAt - this.#held.service.occurrence)
  }
  /** Firings folded into this run. */
  get missed(): number {
    return this.#held.service.missed
  }
  /** What the last heartbeat of an earlier attempt of this run left. */
  get checkpoint(): Json | undefined {
    return this.#held.checkpoint
  }

  get log(): ContextLog {
    const line = (level: LogLine['level']) => (message: string, fields?: JsonObject) =>
      this.#write(level, message, fields ?? null)
    this.#log ??= {
      debug: line('debug'),
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
    }
    return this.#log
  }

  #write(level: LogLine['level'], message: string, fields: JsonObject | null): void {
    const text = message.slice(0, limits.logMessageLength)
    const line: LogLine = { at: this.#host.now(), level, message: text, fields }
    const { lines } = this.#pending()
    if (lines.length < limits.logLinesPerAttempt) lines.push(line)
    this.#host.logged(this.#held, line)
  }

  /** Kept at most about once a second; never throws. */
  progress(fraction: number, note: string | null = null): void {
    const bounded = Math.min(1, Math.max(0, Number.isFinite(fraction) ? fraction : 0))
    this.#pending().progress = {
      fraction: bounded,
      note: note?.slice(0, limits.noteLength) ?? null,
    }
    this.#host.progressed(this.#held)
  }

  /** A number kept with the attempt, such as items done. */
  measure(name: string, value: number): void {
    this.#held.measures ??= {}
    this.#held.measures[name] = value
  }

  /** Renews the lease and stores the checkpoint; rejects when the lease is lost. */
  async heartbeat(checkpoint?: Json): Promise<void> {
    if (checkpoint !== undefined) this.#pending().checkpoint = checkpoint
    const isHeld = await this.#host.beat(this.#held)
    if (!isHeld) throw abortError(this.#held.abortReason ?? 'lease-lost')
  }

  #pending(): PendingReport {
    this.#held.pending ??= { lines: [] }
    return this.#held.pending
  }
}
