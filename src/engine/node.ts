// One running node: the loop, its helpers, and an orderly end.

import type { Job } from '../core/job.ts'
import type { Instant, Millis } from '../core/time.ts'
import { Claiming } from './claiming.ts'
import { ClockWatch, findStepAtStart } from './clock-epochs.ts'
import { Direct, type Errand } from './direct.ts'
import type { NodeState } from './events.ts'
import { reapGone } from './gone-owners.ts'
import { checkEveryMs, Heartbeat } from './heartbeat.ts'
import { abort, type ActiveAttempt } from './active-attempt.ts'
import { Holds } from './holds.ts'
import { Intake } from './intake.ts'
import { announce, pruneAll, retire } from './pruner.ts'
import { restart, type Parts } from './parts.ts'
import { reap } from './reaper.ts'
import { Repeat } from './repeat.ts'
import { Outage } from './outage.ts'
import { Runner, type RunnerHost } from './runner.ts'
import { SeriesFold } from './series-fold.ts'
import { Settler } from './settler.ts'
import { QueueDirectory } from './queue-directory.ts'
import { Ticking } from './ticking.ts'

type Work = () => Promise<boolean | void>

export interface StopResult {
  /** Every handler ended by itself. */
  readonly clean: boolean
  /** Jobs whose handlers had to be aborted, or still ran after an abort; they are due again at once. */
  readonly aborted: readonly string[]
}

export class Node {
  readonly #parts: Parts
  readonly #intake: Intake
  readonly #direct: Direct
  readonly #runner: Runner
  readonly #settling: Settler
  readonly #heartbeat: Heartbeat
  readonly #holds: Holds
  readonly #directory: QueueDirectory
  readonly #ticking: Ticking
  readonly #outage: Outage
  readonly #seriesFold: SeriesFold
  readonly #looks: Repeat
  readonly #fences: Repeat
  readonly #reaps: Repeat
  readonly #repeats: Repeat[]
  #state: NodeState = 'stopped'
  #starting: Promise<void> | null = null
  #loop: Promise<void> | null = null
  #startedAt: Instant = 0
  #stopping: Promise<StopResult> | null = null
  #idle: (() => void) | null = null
  #isCrashed = false
  readonly #clockWatch: ClockWatch

  constructor(parts: Parts) {
    this.#parts = parts
    this.#clockWatch = new ClockWatch(parts)
    this.#runner = new Runner(parts, this.#runnerHost())
    this.#directory = new QueueDirectory(parts, this.#runner.tenants, () => this.#reaps.rearm())
    this.#outage = new Outage(parts)
    this.#seriesFold = new SeriesFold(parts)
    this.#holds = new Holds(parts)
    const { room } = this.#runner
    const claiming = new Claiming(parts, held => this.#giveBack(held), {
      isRuled: () => this.#directory.hasLimits,
      shares: (queue, limit) => this.#runner.shares(queue, limit),
    })
    const accept = (queue: string, held: readonly ActiveAttempt[]) => this.#accept(queue, held)
    const unwritten = () => (this.#settling.unwritten.size > 0 ? Infinity : this.#settling.size)
    const asked = { store: parts.store, clock: parts.clock, room, claiming }
    this.#intake = new Intake({ ...asked, unwritten, accept })
    this.#direct = new Direct({
      parts,
      room,
      claiming,
      isAtRest: queue => this.#isAtRest(queue),
      accept,
      fail: error => this.#fail(error, 'begin'),
    })
    this.#ticking = new Ticking({
      parts,
      directory: this.#directory,
      intake: this.#intake,
      mayHoldBack: () => this.#directory.hasLimits || this.#runner.tenants.areSeveral,
      isCrashed: () => this.#isCrashed,
    })
    this.#settling = new Settler(parts, {
      onSettled: soonestDue => {
        this.#runner.room.measure(parts.clock.now())
        this.#ticking.settled(soonestDue)
      },
      isPressed: () => this.#state === 'running' && this.#ticking.isPressed,
      holds: this.#holds,
    })
    this.#runner.use(this.#settling)
    this.#heartbeat = new Heartbeat(parts, this.#runner, this.#settling, this.#holds)
    const { clock, settings, declarations } = parts
    const repeat = (pause: Millis | (() => Millis), during: string, work: Work) =>
      new Repeat(
        clock,
        typeof pause === 'number' ? () => pause : pause,
        this.#guarded(during, work),
      )
    // Looking costs nothing while nothing is held: it starts with the first claim.
    this.#looks = repeat(checkEveryMs(settings), 'renew', () => this.#heartbeat.beat())
    this.#fences = repeat(checkEveryMs(settings), 'fence', async () => this.#heartbeat.fence())
    const untilReap = () => this.#directory.untilReapMs()
    this.#reaps = repeat(untilReap, 'reap', () => this.#reap())
    this.#repeats = [
      this.#reaps,
      repeat(settings.pruneMs, 'prune', () => this.#prune()),
      repeat(settings.metricsMs, 'announce', () => this.#announce()),
      repeat(declarations.pauseMs, 'declarations', () => declarations.check()),
    ]
  }

  #runnerHost(): RunnerHost {
    const { clock, events } = this.#parts
    return {
      now: () => clock.now(),
      beat: held => this.#heartbeat.beatOne(held),
      logged: (held, line) => {
        if (events.isHeard('logged')) events.emit('logged', { job: held.job, line })
      },
      progressed: held => events.emit('progressed', { job: held.job, ...held.pending!.progress! }),
      idle: () => {
        this.#ticking.freed()
        this.#idle?.()
      },
    }
  }

  get state(): NodeState {
    return this.#state
  }

  get lastTickAt(): Instant | null {
    return this.#ticking.lastAt
  }

  get running(): number {
    return this.#runner.room.running
  }

  /** Whether lanes have rules, as far as this node knows. */
  get hasLimits(): boolean {
    return this.#directory.hasLimits
  }

  #become(to: NodeState): void {
    const from = this.#state
    if (from === to) return
    this.#state = to
    this.#parts.events.emit('stateChanged', { from, to })
  }

  /** Starting twice is harmless; the store answered before it is called running. */
  start(): Promise<void> {
    if (this.#state !== 'stopped') return this.#starting ?? Promise.resolve()
    this.#starting = this.#begin().finally(() => {
      this.#starting = null
    })
    return this.#starting
  }

  async #begin(): Promise<void> {
    this.#become('starting')
    restart(this.#parts)
    try {
      await this.#clockWatch.measure()
      this.#startedAt = this.#parts.clock.now()
      await this.#directory.refresh()
      await findStepAtStart(this.#parts)
      await this.#announce()
      await this.#parts.owner.beat(this.#parts.store)
      await reapGone(this.#parts)
      await reap(this.#parts)
      await this.#seriesFold.sweep(0)
    } catch (error) {
      await retire(this.#parts).catch(() => {})
      this.#become('stopped')
      throw error
    }
    if (this.#isCrashed) return
    this.#become('running')
    this.#seriesFold.start()
    this.#parts.episodes.start()
    for (const repeat of this.#repeats) repeat.start()
    this.#loop = this.#run()
  }

  async #run(): Promise<void> {
    while (this.#state === 'running' || this.#state === 'error') {
      const pause = await this.#tickSafely()
      await this.#parts.wake.sleep(pause)
      await this.#ticking.gather()
    }
    await this.#intake.collect().catch(error => this.#fail(error, 'tick'))
  }

  /** A failing store slows the loop down, never stops it. */
  async #tickSafely(): Promise<Millis> {
    try {
      if (!this.#parts.clock.isSteady) await this.#clockWatch.measure()
      const pause = await this.#ticking.tick()
      this.#recover()
      return pause
    } catch (error) {
      this.#fail(error, 'tick')
      // Claims under way would lie about until the next tick, unstarted.
      if (!this.#isCrashed) await this.#intake.collect().catch(() => {})
      return this.#outage.backoff()
    }
  }

  #fail(error: unknown, during: string): void {
    if (this.#state === 'running') this.#become('error')
    this.#outage.note(error, during)
  }

  #recover(): void {
    if (this.#state === 'error') this.#become('running')
    this.#outage.end('tick')
  }

  async #accept(queue: string, held: readonly ActiveAttempt[]): Promise<void> {
    if (held.length === 0 || this.#isCrashed) return
    if (this.#isEnding()) return this.#release(held)
    this.#runner.accept(queue, held)
    this.#looks.start()
    this.#fences.start()
    this.#directory.markBusy()
  }

  #isEnding(): boolean {
    return this.#state === 'stopping' || this.#state === 'stopped'
  }

  #guarded(during: string, work: Work): () => Promise<boolean> {
    return async () => {
      try {
        return (await work()) ?? true
      } catch (error) {
        this.#fail(error, during)
        return true
      }
    }
  }

  async #reap(): Promise<void> {
    await reapGone(this.#parts)
    await reap({ ...this.#parts, isHeld: ({ lease }) => this.#runner.holds(lease) })
    await this.#clockWatch.measure()
    await this.#directory.refresh()
  }

  async #prune(): Promise<void> {
    await pruneAll(this.#parts)
    await this.#seriesFold.sweep()
  }

  /** What to claim together with new jobs, where this node would claim them next anyway. */
  claimOnInsert(jobs: readonly Job[]): Errand | null {
    return this.#direct.errandFor(jobs)
  }

  #isAtRest(queue: string): boolean {
    if (this.#state !== 'running' || !this.#parts.wake.isAsleep) return false
    if (this.#settling.unwritten.size > 0) return false
    return !this.#directory.hasLimits && this.#directory.queues.includes(queue)
  }

  /** Another process wrote to the store: its jobs may be in queues this node has not seen. */
  onExternalWrite(): void {
    this.#directory.invalidate()
    this.#parts.wake.notify()
  }

  /** Jobs came into queues that may be new. Whoever takes one of them begins a lease then. */
  onCreated(queues: readonly string[]): void {
    this.#directory.add(queues)
    this.#parts.wake.notify()
  }

  /** The same, or something else asks for a look right now; it may end a lease or a pause. */
  onChanged(queues: readonly string[] = []): void {
    this.#directory.markBusy()
    this.onCreated(queues)
  }

  /** Lanes were given rules in this process. */
  onLimitsSet(): void {
    this.#directory.expectLimits()
    this.#parts.wake.notify()
  }

  /** A control action was taken in this process: runs it concerns learn of it at once. */
  checkCancellations(): void {
    if (this.#runner.running.size > 0) void this.#looks.now()
  }

  async #announce(): Promise<void> {
    const { clock, settings, handlers } = this.#parts
    const facts = {
      startedAt: this.#startedAt,
      state: this.#state,
      handlers: handlers.names,
      queues: [...this.#directory.queues],
      slots: settings.slots,
      running: this.#runner.room.running,
      lastTickAt: this.#ticking.lastAt,
      offsetMs: clock.offsetMs,
    }
    await announce(this.#parts, facts, clock.now() + settings.metricsMs * 3)
  }

  /** Stop claiming, let handlers finish, abort the rest, release: no attempt is spent. */
  stop(drainMs: Millis = this.#parts.settings.drainMs): Promise<StopResult> {
    if (this.#state === 'stopped') return Promise.resolve({ clean: true, aborted: [] })
    this.#stopping ??= this.#end(drainMs).finally(() => {
      this.#stopping = null
    })
    return this.#stopping
  }

  async #end(drainMs: Millis): Promise<StopResult> {
    // A start under way would go on behind the stop: it ends first, well or not.
    if (this.#starting) await this.#starting.catch(() => {})
    if (this.#isEnding()) return { clean: true, aborted: [] }
    this.#become('stopping')
    this.#parts.wake.notify()
    await this.#loop
    await this.#direct.settled()
    await this.#release(this.#runner.takeBuffered())
    await this.#holds.release()
    await Promise.all(this.#repeats.map(repeat => repeat.stop()))
    await this.#untilIdle(drainMs)
    const left = [...this.#runner.running, ...this.#runner.strays]
    for (const held of left) if (held.phase === 'running') this.#runner.abort(held, 'shutdown')
    if (this.#runner.running.size > 0) await this.#untilIdle(this.#parts.settings.abortGraceMs + 1)
    await this.#settling.flush()
    await this.#holds.stop()
    await this.#seriesFold.stop()
    await this.#parts.episodes.stop()
    await this.#looks.stop()
    await this.#fences.stop()
    this.#runner.stop()
    await retire(this.#parts).catch(error => this.#fail(error, 'retire'))
    this.#become('stopped')
    return { clean: left.length === 0, aborted: [...new Set(left.map(held => held.job.id))] }
  }

  async #release(held: readonly ActiveAttempt[]): Promise<void> {
    this.#giveBack(held)
    await this.#settling.flush()
  }

  #giveBack(held: readonly ActiveAttempt[]): void {
    if (this.#isCrashed) return
    for (const one of held) {
      one.outcome = { kind: 'released' }
      this.#settling.add(one)
    }
  }

  /** Resolves when no handler runs any more, or after the given time. */
  #untilIdle(ms: Millis): Promise<void> {
    if (this.#runner.running.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      const cancel = this.#parts.clock.after(ms, () => finish())
      const finish = () => {
        cancel()
        this.#idle = null
        resolve()
      }
      this.#idle = finish
    })
  }

  /** As if the process had died: nothing is settled, released or renewed any more. */
  crash(): void {
    this.#isCrashed = true
    this.#become('stopped')
    this.#parts.wake.notify()
    for (const repeat of [this.#looks, this.#fences, ...this.#repeats]) void repeat.stop()
    this.#runner.stop()
    this.#settling.abandon()
    this.#holds.abandon()
    this.#seriesFold.abandon()
    this.#parts.episodes.abandon()
    for (const held of [...this.#runner.running, ...this.#runner.takeBuffered()]) {
      held.phase = 'gone'
      abort(held, 'lease-lost')
    }
  }
}
