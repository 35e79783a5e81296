// What every contender offers, Carillon included: the smallest set of verbs the comparisons need.

import type { MixedJob } from './mixed-jobs.ts'

export type StoreKind = 'sqlite' | 'postgres' | 'redis' | 'memory'

/** Settings that are best for one purpose are seldom best for the other. */
export type Purpose = 'throughput' | 'latency'

/** An empty place of its own: the URL of a file, a database or a server nobody else uses. */
export interface Place {
  readonly url: string
  readonly purpose: Purpose
}

export interface Contender {
  readonly name: string
  readonly store: StoreKind
  /** In words, for the page: what was set, and what a crash may lose. */
  readonly settings: string
  /** Whether a finished job leaves a row. */
  readonly keeps: 'history' | 'nothing'
  /** How exactly a schedule can name a moment; null where it has no schedules. */
  readonly gridMs: number | null
  open(place: Place): Promise<Session>
}

export interface Session {
  /** Absent where there is no call that takes many. `lane` is whose jobs they are. */
  insertMany?(count: number, lane?: string): Promise<void>
  /** `at` is in the payload: when it was asked for. */
  insertOne?(lane?: string, at?: number): Promise<unknown>
  /** Jobs that differ, with the bulk call where there is one. */
  insertMixed?(jobs: readonly MixedJob[]): Promise<void>
  /** Starts a worker for every handler; they do nothing but wait for `onStart`. */
  work(onStart: OnStart): Promise<void>
  /** Resolves when so many jobs are recorded as done since the worker started. */
  done?(count: number): Promise<void>
  /** Schedules that fall due together then, or next year when null. */
  createSchedules?(count: number, dueAt: number | null): Promise<void>
  /** Ends the worker and closes everything, without waiting for what is left. */
  close(): Promise<void>
}

/** `at` is that of the payload, where there is one. */
export type OnStart = (lane: string, at?: number) => void | Promise<void>

export const payload = {
  to: 'someone@example.org',
  template: 'welcome',
  values: { a: 1, b: 'x'.repeat(99) },
}

/** The moment as a cron expression in UTC, with seconds unless the grid is a minute. */
export function cronAt(at: number | null, gridMs: number): string {
  if (at === null) return gridMs < 60_000 ? '0 0 0 1 1 *' : '0 0 1 1 *'
  const t = new Date(at)
  const minute = `${t.getUTCMinutes()} ${t.getUTCHours()} ${t.getUTCDate()} ${t.getUTCMonth() + 1} *`
  return gridMs < 60_000 ? `${t.getUTCSeconds()} ${minute}` : minute
}

/** Calls for every number below `count`, so many at a time. */
export async function each(
  count: number,
  inFlight: number,
  call: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await call(next++)
  }
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, lane))
}

/** Calls with ranges of at most `size`. */
export async function chunks(
  count: number,
  size: number,
  call: (from: number, length: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < count; from += size) await call(from, Math.min(size, count - from))
}

/** Resolves once `reach(n)` has been called with enough. */
export class Tally {
  #seen = 0
  #waiting: { count: number; resolve: () => void } | null = null

  get seen(): number {
    return this.#seen
  }

  add(count = 1): void {
    this.#seen += count
    if (this.#waiting && this.#seen >= this.#waiting.count) {
      this.#waiting.resolve()
      this.#waiting = null
    }
  }

  reached(count: number): Promise<void> {
    if (this.#seen >= count) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting = { count, resolve }
    })
  }
}
