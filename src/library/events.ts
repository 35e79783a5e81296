// Engine events as one stream of small, typed facts, read at the caller's own pace.

import { runId, type Job } from '../core/job.ts'
import type { Attempt } from '../core/attempt.ts'
import type { JobAlert } from '../core/alerts/episode.ts'
import { currentRunOf } from '../core/run/current-run.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Events, Settled } from '../runtime/events.ts'

export type SchedulerEvent = {
  readonly at: Date
  readonly job: string
  readonly name: string
} & EventBody

export type EventBody =
  | { readonly type: 'run.started'; readonly run: string; readonly attempt: number }
  | {
      readonly type: 'run.retrying'
      readonly run: string
      readonly retryAt: Date
      readonly error: string | null
    }
  | {
      readonly type: 'run.finished'
      readonly run: string
      readonly status: 'completed' | 'failed' | 'cancelled' | 'timed_out' | 'lost' | 'skipped'
      readonly durationMs: number
      readonly error: string | null
    }
  | {
      readonly type: 'run.skipped'
      readonly from: Date
      readonly to: Date
      readonly count: number
      readonly reason: string
    }
  | {
      readonly type: 'run.progress'
      readonly run: string
      readonly fraction: number
      readonly note: string | null
    }
  | {
      readonly type: 'run.log'
      readonly run: string
      readonly level: string
      readonly message: string
      readonly fields: object | null
    }
  | { readonly type: 'job.changed'; readonly verb: string; readonly status: string }
  | { readonly type: 'job.ended'; readonly state: string; readonly reason: string }
  | { readonly type: 'job.removed' }
  | ({ readonly type: 'alert.raised' } & AlertBody)
  | ({ readonly type: 'alert.cleared' } & AlertBody)
  /** The reader was slower than the stream: so many events were left out. */
  | { readonly type: 'stream.lagged'; readonly dropped: number }

interface AlertBody {
  readonly condition: JobAlert['condition']
  /** The same for all alerts from the first failure to the recovery. */
  readonly episode: string
  readonly message: string
}

export interface EventFilter {
  /** A job's id or name. */
  readonly job?: string
  readonly types?: readonly SchedulerEvent['type'][]
}

const BUFFER_MAX = 10_000

/** Ends when the caller stops reading or `stop` is called. */
export class EventStream implements AsyncIterableIterator<SchedulerEvent> {
  readonly #buffer: SchedulerEvent[] = []
  readonly #stops: (() => void)[]
  readonly #filter: EventFilter
  readonly #clock: Clock
  #waiting: ((result: IteratorResult<SchedulerEvent>) => void) | null = null
  #dropped = 0
  #isOver = false

  constructor(events: Events, clock: Clock, filter: EventFilter) {
    this.#filter = filter
    this.#clock = clock
    this.#stops = [
      events.on('started', ({ jobs }) => jobs.forEach(job => this.#started(job))),
      events.on('settled', ({ settled }) => settled.forEach(one => this.#settled(one))),
      events.on('changed', ({ verb, jobs }) =>
        jobs.forEach(job => this.#push(job, { type: 'job.changed', verb, status: job.state })),
      ),
      events.on('removed', ({ ids }) =>
        ids.forEach(id => this.#put({ at: this.#now(), job: id, name: '', type: 'job.removed' })),
      ),
      events.on('alerted', ({ alert }) => this.#alerted(alert)),
      events.on('progressed', ({ job, fraction, note }) =>
        this.#push(job, { type: 'run.progress', run: currentRun(job), fraction, note }),
      ),
      events.on('logged', ({ job, line: { level, message, fields } }) =>
        this.#push(job, { type: 'run.log', run: currentRun(job), level, message, fields }),
      ),
    ]
  }

  #now(): Date {
    return new Date(this.#clock.now())
  }

  #started(job: Job): void {
    const attempt = currentRunOf(job).run.attempt + 1
    this.#push(job, { type: 'run.started', run: currentRun(job), attempt })
  }

  #settled({ job, attempt, skips }: Settled): void {
    for (const { from, to, count, reason } of skips) {
      const span = { from: new Date(from), to: new Date(to) }
      this.#push(job, { type: 'run.skipped', ...span, count, reason })
    }
    if (attempt) this.#finished(job, attempt)
    if (job.ended)
      this.#push(job, { type: 'job.ended', state: job.state, reason: job.ended.reason })
  }

  #finished(job: Job, attempt: Attempt): void {
    const run = runId(job.id, attempt.run)
    const error = attempt.error?.message ?? null
    const isRetrying = job.retryAt !== null && job.current.run === attempt.run
    if (isRetrying) {
      this.#push(job, { type: 'run.retrying', run, retryAt: new Date(job.retryAt), error })
      return
    }
    const durationMs = attempt.finishedAt - attempt.startedAt
    this.#push(job, { type: 'run.finished', run, status: statusOf(attempt), durationMs, error })
  }

  /** Of a definition, whose tasks have ids of their own, there is only the name. */
  #alerted({ type, condition, episode, message, subject }: JobAlert): void {
    const id = subject.kind === 'job' ? subject.id : ''
    this.#pushNamed(id, subject.name, { type, condition, episode, message })
  }

  #push({ id, spec }: Job, body: EventBody): void {
    this.#pushNamed(id, spec.name, body)
  }

  #pushNamed(id: string, name: string, body: EventBody): void {
    const wanted = this.#filter.job
    if (wanted !== undefined && wanted !== id && wanted !== name) return
    this.#put({ at: this.#now(), job: id, name, ...body })
  }

  #put(event: SchedulerEvent): void {
    if (this.#filter.types && !this.#filter.types.includes(event.type)) return
    if (this.#waiting) {
      const resolve = this.#waiting
      this.#waiting = null
      resolve({ value: event, done: false })
    } else if (this.#buffer.length < BUFFER_MAX) this.#buffer.push(event)
    else this.#dropped++
  }

  next(): Promise<IteratorResult<SchedulerEvent>> {
    const event = this.#buffer.shift()
    if (event) return Promise.resolve({ value: event, done: false })
    if (this.#dropped > 0) {
      const dropped = this.#dropped
      this.#dropped = 0
      const lagged = { at: this.#now(), job: '', name: '', type: 'stream.lagged', dropped } as const
      return Promise.resolve({ value: lagged, done: false })
    }
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true })
    return new Promise(resolve => {
      this.#waiting = resolve
    })
  }

  return(): Promise<IteratorResult<SchedulerEvent>> {
    this.stop()
    return Promise.resolve({ value: undefined, done: true })
  }

  stop(): void {
    this.#isOver = true
    for (const stop of this.#stops) stop()
    this.#waiting?.({ value: undefined, done: true })
    this.#waiting = null
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

function currentRun(job: Job): string {
  return runId(job.id, currentRunOf(job).run.run)
}

function statusOf(attempt: Attempt) {
  switch (attempt.outcome) {
    case 'succeeded':
      return 'completed'
    case 'timedOut':
      return 'timed_out'
    case 'abandoned':
      return 'lost'
    case 'skipped':
      return 'skipped'
    case 'cancelled':
    case 'interrupted':
      return 'cancelled'
    default:
      return 'failed'
  }
}
