// What a handler is given. Parts that most handlers never touch are only made when asked for.

import { storedCheckpoint } from '../core/checkpoint.ts'
import { textOf, type Problem } from '../core/errors.ts'
import { LogBuffer } from '../core/history/log-buffer.ts'
import type { Job } from '../core/job.ts'
import { runId } from '../core/job.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { copyJson, toJson } from '../core/json/json-copy.ts'
import { limits } from '../core/limits.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { LogLine } from '../store/port.ts'
import { abortError, type ActiveAttempt, type PendingReport } from './active-attempt.ts'

/** Where a context reports to. */
export interface Reporter {
  now(): Instant
  /** Sends what is pending now and renews the lease; false when it is lost. */
  beat(active: ActiveAttempt): Promise<boolean>
  logged(active: ActiveAttempt, line: LogLine): void
  progressed(active: ActiveAttempt): void
}

type Log = (message: string, fields?: JsonObject) => void
export interface ContextLog {
  readonly debug: Log
  readonly info: Log
  readonly warn: Log
  readonly error: Log
}

/** The log as code of our own has it, which may have more to say than lines. */
export interface CountedLog extends ContextLog {
  /** So many lines came before the next one, too many at once to be looked at. */
  readonly leaveOut: (lines: number) => void
  /** A line that listeners do not hear of: kept if it is among the last. */
  readonly keep: (level: LogLine['level'], message: string, fields: JsonObject) => void
  /** Whether lines were left out. */
  readonly isCut: () => boolean
}

/** A log that was made elsewhere counts nothing. */
export function countedLog(log: ContextLog): CountedLog {
  return 'leaveOut' in log
    ? (log as CountedLog)
    : {
        ...log,
        leaveOut: () => {},
        keep: (level, message, fields) => log[level](message, fields),
        isCut: () => false,
      }
}

/** A piece of an attempt's work under a name of its own, such as a step of a workflow. */
export interface Part {
  readonly name: string
  readonly payload: Json
  readonly signal: AbortSignal
  readonly checkpoint: Json | undefined
  /** Added to every line it logs. */
  readonly fields: JsonObject
  /** Stores what it leaves for the next attempt; rejects when the lease is lost. */
  keep(checkpoint: Json): Promise<void>
  progressed(fraction: number, note: string | null): void
}

export class Context {
  readonly #active: ActiveAttempt
  readonly #reporter: Reporter
  readonly #part: Part | null
  #payload: Json | undefined
  #checkpoint: Json | undefined
  #log: CountedLog | null = null

  constructor(active: ActiveAttempt, reporter: Reporter, part: Part | null = null) {
    this.#active = active
    this.#reporter = reporter
    this.#part = part
  }

  /** A context for a piece of the work: with its own payload, signal, key and checkpoint. */
  part(part: Part): Context {
    return new Context(this.#active, this.#reporter, part)
  }

  get job(): Job {
    return this.#active.job
  }
  /** A copy of this attempt alone: stores hand one object to all jobs with the same spec. */
  get payload(): Json {
    this.#payload ??= copyJson(
      this.#part === null ? this.#active.current.payload : this.#part.payload,
    )
    return this.#payload
  }
  /** Aborts with a reason: cancelled, timeout, shutdown, lease-lost or superseded. */
  get signal(): AbortSignal {
    if (this.#part !== null) return this.#part.signal
    const active = this.#active
    if (active.controller === null) {
      active.controller = new AbortController()
      if (active.abortReason !== null) active.controller.abort(abortError(active.abortReason))
    }
    return active.controller.signal
  }
  /** For a part the run's id and its name: what one part did says nothing about another. */
  get runId(): string {
    const id = runId(this.#active.job.id, this.#active.current.run.run)
    return this.#part === null ? id : `${id}/${this.#part.name}`
  }
  /** The same for every attempt of one run: give it to whatever must not happen twice. */
  get idempotencyKey(): string {
    return this.runId
  }
  get attemptId(): string {
    return this.#active.job.lease!.attemptId
  }
  get run(): number {
    return this.#active.current.run.run
  }
  /** 1-based within the run. */
  get attempt(): number {
    return this.#active.current.run.attempt + 1
  }
  /** Grows with every claim of the job: a store that remembers the highest can refuse the rest. */
  get fence(): number {
    return this.#active.job.counters.fence
  }
  /** Whether it holds a permit of what its job needs; a part asks for its own. */
  get hasPermit(): boolean {
    return this.#part === null && this.#active.permit !== null
  }
  get origin() {
    const { origin, missed } = this.#active.current
    return origin === 'schedule' && missed > 0 ? ('catch-up' as const) : origin
  }
  get scheduledFor(): Date {
    return new Date(this.#active.current.occurrence)
  }
  get startedAt(): Date {
    return new Date(this.#active.startedAt)
  }
  get lateMs(): Millis {
    return Math.max(0, this.#active.startedAt - this.#active.current.occurrence)
  }
  /** Firings folded into this run. */
  get missed(): number {
    return this.#active.current.missed
  }
  /** What the last heartbeat of an earlier attempt of this run left. */
  get checkpoint(): Json | undefined {
    const left = this.#part === null ? this.#active.checkpoint : this.#part.checkpoint
    if (left !== undefined) this.#checkpoint ??= copyJson(left)
    return this.#checkpoint
  }

  get log(): CountedLog {
    const line = (level: LogLine['level']) => (message: string, fields?: JsonObject) =>
      this.#write(level, message, fields ?? null)
    this.#log ??= {
      debug: line('debug'),
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      keep: (level, message, fields) => this.#keep(level, message, fields),
      leaveOut: lines => this.#logBuffer.leaveOut(lines),
      isCut: () => this.#logBuffer.isCut,
    }
    return this.#log
  }

  get #logBuffer(): LogBuffer {
    this.#active.log ??= new LogBuffer()
    return this.#active.log
  }

  #write(level: LogLine['level'], message: string, fields: JsonObject | null): void {
    this.#reporter.logged(this.#active, this.#keep(level, message, fields))
  }

  #keep(level: LogLine['level'], message: string, fields: JsonObject | null): LogLine {
    const text = textOf(message).slice(0, limits.logMessageLength)
    const given = this.#part === null ? fields : { ...fields, ...this.#part.fields }
    // A copy: what the handler does to its object later is no part of this line.
    const all = given === null ? null : copiedFields(given)
    const line: LogLine = { at: this.#reporter.now(), level, message: text, fields: all }
    const kept = this.#logBuffer.add(line)
    if (kept !== null) this.#pending().lines.push(kept)
    return line
  }

  // Handlers may take these three apart from their context: each brings it along.

  /** Kept at most about once a second; never throws. */
  get progress(): (fraction: number, note?: string | null) => void {
    return (fraction, note = null) => this.#progressed(fraction, note)
  }

  /** A number kept with the attempt, such as items done; or a little more of its detail. */
  get measure(): (name: string, value: Json) => void {
    return (name, value) => this.#measured(name, value)
  }

  /** What could not be stored would keep the outcome of the whole attempt from being stored. */
  #measured(name: string, value: unknown): void {
    const problems: Problem[] = []
    const kept = toJson(value, `measure ${name}`, problems, 'null')
    const [problem] = problems
    if (problem !== undefined) {
      this.log.warn(`${problem.field} is left out: ${problem.rule}`)
      return
    }
    const measures = (this.#active.measures ??= {})
    const key = this.#part === null ? name : `${this.#part.name}.${name}`
    if (!Object.hasOwn(measures, key) && !this.#hasRoomFor(key)) return
    measures[key] = kept
  }

  #hasRoomFor(measure: string): boolean {
    const count = ++this.#active.measured
    if (count === limits.measuresMax + 1) {
      this.log.warn(
        `measure ${measure} and further ones are left out: ${limits.measuresMax} are kept`,
      )
    }
    return count <= limits.measuresMax
  }

  /** Renews the lease and stores the checkpoint; rejects when the lease is lost. */
  get heartbeat(): (checkpoint?: Json) => Promise<void> {
    return checkpoint => this.#beat(checkpoint)
  }

  #progressed(fraction: number, note: string | null): void {
    const bounded = Math.min(1, Math.max(0, Number.isFinite(fraction) ? fraction : 0))
    if (this.#part !== null) {
      this.#part.progressed(bounded, note)
      return
    }
    this.#pending().progress = {
      fraction: bounded,
      note: note === null ? null : textOf(note).slice(0, limits.noteLength),
    }
    this.#reporter.progressed(this.#active)
  }

  async #beat(given?: Json): Promise<void> {
    const checkpoint = given === undefined ? undefined : storedCheckpoint(given)
    if (this.#part !== null && checkpoint !== undefined) return this.#part.keep(checkpoint)
    if (checkpoint !== undefined) this.#pending().checkpoint = checkpoint
    const isHeld = await this.#reporter.beat(this.#active)
    if (!isHeld) throw abortError(this.#active.abortReason ?? 'lease-lost')
  }

  #pending(): PendingReport {
    this.#active.pending ??= { lines: [] }
    return this.#active.pending
  }
}

function copiedFields(fields: JsonObject): JsonObject {
  const problems: Problem[] = []
  const copy = toJson(fields, 'fields', problems, 'null')
  return problems.length === 0 ? (copy as JsonObject) : { fields_left_out: 'they are no JSON' }
}
