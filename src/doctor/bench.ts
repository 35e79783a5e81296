// A short load on a store of its own: how fast it takes and runs jobs, how soon a single one
// starts, and how late a thousand are that are due at once.

import type { Instant } from '../core/time.ts'
import { SECOND } from '../core/time.ts'
import { completeSpec, type SpecInput } from '../core/spec.ts'
import type { NewJob } from '../core/job.ts'
import type { Engine } from '../create-engine.ts'

export interface BenchOptions {
  readonly engine: Engine
  /** Jobs of the load. */
  readonly jobs: number
  readonly atOnce: number
  readonly singles: number
  readonly signal: AbortSignal
  readonly onStep: (step: string) => void
}

export interface Spread {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export interface BenchReport {
  readonly jobs: number
  readonly inserted_per_second: number
  readonly runs_per_second: number
  readonly start_latency_ms: Spread
  readonly lateness_ms: Spread
  readonly at_once: number
  /** Runs beyond one for each job, and jobs without any. */
  readonly doubled: number
  readonly lost: number
}

const HANDLER = 'bench'
const LEAD_MS = 2 * SECOND
const WAIT_MS = 120 * SECOND
const BATCH = 1_000

export async function bench(options: BenchOptions): Promise<BenchReport> {
  const { engine, jobs, atOnce, singles, onStep } = options
  const starts = new Starts(engine, options.signal)
  engine.handlers.set(HANDLER, async ({ job }) => starts.note(job.id, engine.clock.now()))
  onStep(`inserting ${jobs.toLocaleString('en')} jobs`)
  const inserting = await load(options)
  onStep('running them')
  const begun = engine.clock.now()
  await engine.node.start()
  try {
    await starts.until(jobs)
    const running = engine.clock.now() - begun
    onStep('starting single jobs')
    const latency = await singleStarts(options, starts)
    onStep(`${atOnce.toLocaleString('en')} due at once`)
    const lateness = await herd(options, starts)
    const all = jobs + singles + atOnce
    return {
      jobs,
      inserted_per_second: perSecond(jobs, inserting),
      runs_per_second: perSecond(jobs, running),
      start_latency_ms: spreadOf(latency),
      lateness_ms: spreadOf(lateness),
      at_once: atOnce,
      doubled: starts.count - starts.distinct,
      lost: all - starts.distinct,
    }
  } finally {
    await engine.node.stop()
  }
}

/** Which jobs ran, and when each began. */
class Starts {
  readonly #engine: Engine
  readonly #signal: AbortSignal
  readonly #at = new Map<string, Instant>()
  #waiting: { readonly count: number; readonly done: () => void } | null = null
  count = 0

  constructor(engine: Engine, signal: AbortSignal) {
    this.#engine = engine
    this.#signal = signal
  }

  get distinct(): number {
    return this.#at.size
  }

  note(id: string, now: Instant): void {
    this.count++
    if (!this.#at.has(id)) this.#at.set(id, now)
    if (this.#waiting !== null && this.#at.size >= this.#waiting.count) this.#waiting.done()
  }

  startOf(id: string): Instant {
    return this.#at.get(id)!
  }

  /** Throws when it takes longer than anything here should. */
  until(count: number): Promise<void> {
    this.#signal.throwIfAborted()
    if (this.#at.size >= count) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const end = (work: () => void) => {
        cancel()
        this.#signal.removeEventListener('abort', stop)
        this.#waiting = null
        work()
      }
      const stop = () => end(() => reject(this.#signal.reason as Error))
      const late = () => {
        const missing = count - this.#at.size
        end(() => reject(new Error(`${missing} jobs did not start within ${WAIT_MS / SECOND} s`)))
      }
      const cancel = this.#engine.clock.after(WAIT_MS, late)
      this.#signal.addEventListener('abort', stop)
      this.#waiting = { count, done: () => end(resolve) }
    })
  }
}

function made(id: string, at: Instant): NewJob {
  const input: SpecInput = { handler: HANDLER, name: id, trigger: { kind: 'once', at } }
  return { id, kind: 'task', spec: completeSpec(input) }
}

async function load({ engine, jobs, signal }: BenchOptions): Promise<number> {
  const from = engine.clock.now()
  for (let at = 0; at < jobs; at += BATCH) {
    signal.throwIfAborted()
    const size = Math.min(BATCH, jobs - at)
    await engine.client.create(Array.from({ length: size }, (_, i) => made(`load-${at + i}`, from)))
  }
  return engine.clock.now() - from
}

async function singleStarts(
  { engine, singles, jobs }: BenchOptions,
  starts: Starts,
): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < singles; i++) {
    const now = engine.clock.now()
    await engine.client.create([made(`single-${i}`, now)])
    await starts.until(jobs + i + 1)
    found.push(starts.startOf(`single-${i}`) - now)
  }
  return found
}

async function herd(
  { engine, atOnce, jobs, singles }: BenchOptions,
  starts: Starts,
): Promise<number[]> {
  const due = engine.clock.now() + LEAD_MS
  const ids = Array.from({ length: atOnce }, (_, i) => `herd-${i}`)
  await engine.client.create(ids.map(id => made(id, due)))
  await starts.until(jobs + singles + atOnce)
  return ids.map(id => Math.max(0, starts.startOf(id) - due))
}

function perSecond(count: number, ms: number): number {
  return Math.round((count * SECOND) / Math.max(1, ms))
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}
