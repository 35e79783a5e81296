// The real scheduler on a virtual clock: time moves when the test says so, and everything due in
// between has happened when `advance` returns.

import { openStore } from '../compose.ts'
import { refuse } from '../core/errors.ts'
import { emptyRows } from '../store/memory/rows.ts'
import { MemoryStore } from '../store/memory/store.ts'
import type { Store } from '../store/port.ts'
import { createScheduler, type SchedulerOptions } from '../library/create.ts'
import type { AnyDefinition } from '../library/options.ts'
import { schedulerProblems } from '../library/scheduler-checks.ts'
import { Scheduler, type AnyJob } from '../library/scheduler.ts'
import { toInstant, toMs, type Duration, type Moment } from '../library/time-input.ts'
import { upcoming, type Occurrence } from '../library/when.ts'
import { declaredRows } from '../library/rows.ts'
import { HandlerWatch } from './handlers.ts'
import { CountedIds } from './ids.ts'
import { Recorder, type TestRun } from './recorder.ts'
import { trackedStore, type TrackedStore } from './tracked.ts'
import { VirtualClock } from './virtual-clock.ts'

export type { TestRun }

export interface TestOptions<J extends readonly AnyJob[]> extends Omit<
  SchedulerOptions<J>,
  'clock' | 'ids' | 'store' | 'shutdown'
> {
  /** When the test begins. Default 2026-01-01T00:00:00Z. */
  readonly now?: Moment
  /** Default memory; `sqlite:<path>` tests on the real file. */
  readonly store?: 'memory:' | `sqlite:${string}`
  /** Other options for some of the jobs, by name. */
  readonly override?: Readonly<Record<string, Partial<AnyDefinition['options']>>>
  /**
   * How long, in real time, `advance` waits for a handler that does real work before it rejects and
   * names it. Default 5 s; 0 moves time without waiting.
   */
  readonly handlerWaitMs?: number
}

interface Shared {
  readonly clock: VirtualClock
  readonly watch: HandlerWatch
  readonly ids: CountedIds
  readonly recorder: Recorder
  readonly failures: Map<string, { times: number; error: unknown }>
  readonly connect: () => Promise<Store>
  readonly options: SchedulerOptions<readonly AnyJob[]>
  /** The nodes that run, so that each learns at once what the others hold. */
  readonly running: Set<Scheduler<readonly AnyJob[]>>
}

const PRINT_NOTHING = () => {}

/** What only serves other processes or the disk need not interrupt the passing of time. */
const QUIET = {
  checkIntervalMs: 3_600_000,
  metricsMs: 3_600_000,
  pruneMs: 3_600_000,
  idleReapMs: 3_600_000,
  // All nodes of a test declare the same jobs: none is ever undeclared.
  orphanGraceMs: 36_000_000,
}
const HANDLER_WAIT_MS = 5_000

export async function createTestScheduler<const J extends readonly AnyJob[]>(
  options: TestOptions<J>,
): Promise<TestScheduler<J>> {
  const { now = '2026-01-01T00:00:00Z', store = 'memory:', override = {}, ...given } = options ?? {}
  const { handlerWaitMs = HANDLER_WAIT_MS, ...rest } = given
  refuse('SETTINGS_INVALID', 'the test scheduler cannot be made', schedulerProblems(rest))
  const watch = new HandlerWatch(handlerWaitMs)
  const pending = () => watch.pending()
  const clock = new VirtualClock(toInstant(now, 'now'), { pending, isSelfDriven: true })
  const failures: Shared['failures'] = new Map()
  const recorder = new Recorder(clock)
  const rows = emptyRows()
  const jobs = rest.jobs.map(one => wrapped(one, override[one.name] ?? {}, { failures, watch }))
  const shared: Shared = {
    clock,
    watch,
    ids: new CountedIds(),
    recorder,
    failures,
    connect: async () => {
      const read = { now: () => clock.now(), listens: false }
      if (store !== 'memory:') return openStore(store, read)
      const memory = new MemoryStore(read.now, rows)
      await memory.open()
      return memory
    },
    running: new Set(),
    options: {
      print: PRINT_NOTHING,
      logger: false,
      ...rest,
      // An opened store does not say where it is; tables of sources go beside it.
      ...(rest.sources ? { sources: { database: store, ...rest.sources } } : {}),
      jobs,
      settings: { ...QUIET, ...rest.settings },
    },
  }
  const scheduler = new TestScheduler<J>(shared, 'node-1')
  await scheduler.begin()
  return scheduler
}

/** The definition with its overrides, failing as often as the test asked for. */
function wrapped(
  given: AnyDefinition,
  override: Partial<AnyDefinition['options']>,
  { failures, watch }: Pick<Shared, 'failures' | 'watch'>,
): AnyDefinition {
  const options = { ...given.options, ...override }
  const run: typeof options.run = (input, context) => {
    const failure = failures.get(given.name)
    if (failure && failure.times > 0) {
      failure.times--
      throw failure.error
    }
    return watch.call(given.name, context, seen => options.run(input, seen))
  }
  return { name: given.name, options: { ...options, run } }
}

export class TestScheduler<J extends readonly AnyJob[]> {
  readonly #shared: Shared
  readonly #nodeId: string
  readonly #forks: TestScheduler<J>[] = []
  #scheduler: Scheduler<J> | null = null
  #tracked: TrackedStore | null = null
  #stopRecording: (() => void) | null = null
  #lives = 0
  #forget: (() => void) | null = null

  constructor(shared: Shared, nodeId: string) {
    this.#shared = shared
    this.#nodeId = nodeId
  }

  /** Everything the scheduler itself offers: trigger, schedule, jobs, runs, why, events. */
  get scheduler(): Scheduler<J> {
    this.#shared.watch.usesKit()
    if (this.#scheduler) return this.#scheduler
    throw new Error('the scheduler crashed or stopped: call restart() first')
  }

  get now(): Date {
    return new Date(this.#shared.clock.now())
  }

  /** Starts this node; createTestScheduler, fork and restart call it. */
  async begin(): Promise<void> {
    const { clock, ids, connect, options, recorder } = this.#shared
    this.#tracked = trackedStore(await connect(), clock)
    const nodeId = `${this.#nodeId}.${++this.#lives}`
    const store = this.#tracked.store
    const scheduler = createScheduler({
      ...options,
      clock,
      ids,
      store,
      nodeId,
      listen: events => {
        this.#stopRecording = recorder.listen(nodeId, events)
        events.on('claimed', () => this.#tellOthers())
        options.listen?.(events)
      },
    })
    await this.during(scheduler.start())
    this.#scheduler = scheduler as unknown as Scheduler<J>
    this.#shared.running.add(scheduler)
    this.#forget = () => this.#shared.running.delete(scheduler)
  }

  /** Awaits work that may need the clock's help to go on. */
  async during<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const over = work.finally(() => {
      isOver = true
    })
    over.catch(() => {})
    for (let i = 0; !isOver && i < 1_000; i++) await this.#shared.clock.settle()
    return over
  }

  /**
   * Fires everything due on the way, in order, and waits for it. Time stands still, and real time
   * passes, while a handler does real work.
   */
  async advance(duration: Duration): Promise<void> {
    await this.#shared.clock.advance(toMs(duration, 'advance'))
    await this.#shared.clock.settle()
  }

  async advanceTo(moment: Moment): Promise<void> {
    await this.#shared.clock.advanceTo(toInstant(moment, 'advanceTo'))
    await this.#shared.clock.settle()
  }

  /** A virtual sleep for handlers under test. */
  sleep(duration: Duration): Promise<void> {
    const { clock, watch } = this.#shared
    return watch.asleep(clock.sleep(toMs(duration, 'sleep')))
  }

  /** The process dies: nothing is settled or given back. The store stays. */
  async crash(): Promise<void> {
    const { engine } = this.scheduler
    engine.node.crash()
    await this.#shared.clock.settle()
    this.#leave()
    await engine.store.close()
  }

  /** What a hint of the store does between processes. */
  #tellOthers(): void {
    for (const other of this.#shared.running) {
      if ((other as unknown) !== this.#scheduler) other.engine.node.onExternalWrite()
    }
  }

  #leave(): void {
    this.#stopRecording?.()
    this.#forget?.()
    this.#scheduler = null
  }

  /** After a crash: a new process over the same store. */
  async restart(): Promise<void> {
    if (this.#scheduler) await this.stop()
    await this.begin()
  }

  /** A second node on the same store. */
  async fork(): Promise<TestScheduler<J>> {
    const fork = new TestScheduler<J>(this.#shared, `${this.#nodeId}-fork${this.#forks.length + 1}`)
    await fork.begin()
    this.#forks.push(fork)
    return fork
  }

  /** Takes the store away from this node, or gives it back. */
  partition(isLost = true): void {
    if (this.#tracked) this.#tracked.isLost = isLost
  }

  /** The next so many runs of the job throw instead of running. */
  fail(job: AnyDefinition, options: { times: number; error?: unknown }): void {
    const { times, error = new Error('failed by the test') } = options
    this.#shared.failures.set(job.name, { times, error })
  }

  /** Every attempt so far, oldest first. */
  runs(job: AnyDefinition): readonly TestRun[] {
    return this.#shared.recorder.runs(job.name)
  }

  /** When the job's schedule would fire next. */
  upcoming(job: AnyDefinition, n: number): Occurrence[] {
    const found = this.#shared.options.jobs.find(one => one.name === job.name) ?? job
    const [row] = declaredRows(found, {})
    return row ? upcoming(row.spec.trigger, this.#shared.clock.now(), n) : []
  }

  /** Everything that happened, one line each; the same for the same test. */
  trace(): readonly string[] {
    return this.#shared.recorder.trace()
  }

  async stop(): Promise<{ clean: boolean; aborted: readonly string[] }> {
    for (const fork of this.#forks) await fork.stop()
    const scheduler = this.#scheduler
    if (!scheduler) return { clean: true, aborted: [] }
    const { clock, watch } = this.#shared
    const stopped = this.during(scheduler.stop({ grace: 0 }))
    const { abortGraceMs } = scheduler.engine.settings
    await clock.settle()
    await watch.without(() => clock.advance(abortGraceMs + 1))
    const result = await stopped
    this.#leave()
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
