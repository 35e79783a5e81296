// One running node: its parts by name, start, stop, and what it is told from outside.

import { Room } from '../core/fairness/room.ts'
import { TenantSlots } from '../core/fairness/tenant-slots.ts'
import type { Job } from '../core/job.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { NodeState } from '../runtime/events.ts'
import { abort } from './active-attempt.ts'
import { ClaimsOnInsert, type ClaimOnInsert } from './claim-on-insert.ts'
import { Claimer } from './claimer.ts'
import { ClockWatch, findStepAtStart } from './clock-epochs.ts'
import { Duties } from './duties.ts'
import { Holds } from './holds.ts'
import { Lifecycle } from './lifecycle.ts'
import { Loop } from './loop.ts'
import { retire } from './node-record.ts'
import { OutcomeWriter } from './outcome-writer.ts'
import { restart, type Parts } from './parts.ts'
import { QueueDirectory } from './queue-directory.ts'
import { Runner } from './runner.ts'
import { Settler } from './settler.ts'

export interface StopResult {
  /** Every handler ended by itself. */
  readonly clean: boolean
  /** Jobs whose handlers had to be aborted, or still ran after an abort; they are due again at once. */
  readonly aborted: readonly string[]
}

export class Node {
  readonly #parts: Parts
  readonly #lifecycle: Lifecycle
  readonly #directory: QueueDirectory
  readonly #holds: Holds
  readonly #settler: Settler
  readonly #runner: Runner
  readonly #claimsOnInsert: ClaimsOnInsert
  readonly #clockWatch: ClockWatch
  readonly #loop: Loop
  readonly #duties: Duties
  #starting: Promise<void> | null = null
  #running: Promise<void> | null = null
  #stopping: Promise<StopResult> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    const lifecycle = new Lifecycle(parts)
    const room = new Room(parts.settings)
    const tenants = new TenantSlots(parts.settings)
    const directory = new QueueDirectory(parts, tenants)
    const holds = new Holds(parts)
    const settler = new Settler(parts, new OutcomeWriter(parts, { room, holds }))
    const runner = new Runner(parts, { room, tenants, settler, holds, lifecycle })
    const claimer = new Claimer(parts, { room, runner, settler, tenants, directory, lifecycle })
    const clockWatch = new ClockWatch(parts)
    this.#lifecycle = lifecycle
    this.#directory = directory
    this.#holds = holds
    this.#settler = settler
    this.#runner = runner
    this.#claimsOnInsert = new ClaimsOnInsert(parts, {
      claimer,
      room,
      settler,
      directory,
      lifecycle,
    })
    this.#clockWatch = clockWatch
    const loop = new Loop(parts, { claimer, settler, directory, tenants, lifecycle, clockWatch })
    this.#loop = loop
    this.#duties = new Duties(parts, { lifecycle, directory, runner, loop, clockWatch })
  }

  get state(): NodeState {
    return this.#lifecycle.state
  }

  get lastTickAt(): Instant | null {
    return this.#loop.lastPollAt
  }

  /** Handlers that run now. */
  get running(): number {
    return this.#runner.running.size
  }

  /** Whether lanes have limits, as far as this node knows. */
  get hasLimits(): boolean {
    return this.#directory.hasLimits
  }

  /** Starting twice is harmless; the store answered before it is called running. */
  start(): Promise<void> {
    if (this.state !== 'stopped') return this.#starting ?? Promise.resolve()
    this.#starting = this.#begin().finally(() => {
      this.#starting = null
    })
    return this.#starting
  }

  async #begin(): Promise<void> {
    this.#lifecycle.become('starting')
    restart(this.#parts)
    try {
      await this.#clockWatch.measure()
      const startedAt = this.#parts.clock.now()
      await this.#directory.refresh()
      await findStepAtStart(this.#parts)
      await this.#duties.first(startedAt)
    } catch (error) {
      await retire(this.#parts).catch(() => {})
      this.#lifecycle.become('stopped')
      throw error
    }
    if (this.#lifecycle.isCrashed) return
    this.#lifecycle.become('running')
    this.#parts.series.start()
    this.#parts.episodes.start()
    this.#duties.start()
    this.#running = this.#loop.run()
  }

  /** What to claim together with new jobs, where this node would claim them next anyway. */
  claimOnInsert(jobs: readonly Job[]): ClaimOnInsert | null {
    return this.#claimsOnInsert.claim(jobs)
  }

  /** Another process wrote to the store: its jobs may be in queues this node has not seen. */
  onExternalWrite(): void {
    this.#directory.invalidate()
    this.#parts.wake.notify()
  }

  /** New jobs, in queues that may be new too: nothing has to be polled before the first is due. */
  onCreated(jobs: readonly Job[]): void {
    this.#directory.add([...new Set(jobs.map(({ spec }) => spec.queue))])
    let soonestDue: Instant = Infinity
    for (const { dueAt } of jobs) if (dueAt !== null && dueAt < soonestDue) soonestDue = dueAt
    this.#parts.wake.by(soonestDue)
  }

  /** Something else may be due sooner in these queues, or end a lease or a pause. */
  onChanged(queues: readonly string[] = []): void {
    this.#directory.markBusy()
    this.#directory.add(queues)
    this.#parts.wake.notify()
  }

  /** Lanes were given limits in this process. */
  onLimitsSet(): void {
    this.#directory.expectLimits()
    this.#parts.wake.notify()
  }

  /** A control action was taken in this process: runs it concerns learn of it at once. */
  checkCancellations(): void {
    this.#runner.heartbeat.checkCancellations()
  }

  /** Stop claiming, let handlers finish, abort the rest, release: no attempt is spent. */
  stop(drainMs: Millis = this.#parts.settings.drainMs): Promise<StopResult> {
    if (this.state === 'stopped') return Promise.resolve({ clean: true, aborted: [] })
    this.#stopping ??= this.#end(drainMs).finally(() => {
      this.#stopping = null
    })
    return this.#stopping
  }

  async #end(drainMs: Millis): Promise<StopResult> {
    // A start under way would go on behind the stop: it ends first, well or not.
    if (this.#starting) await this.#starting.catch(() => {})
    if (this.state === 'stopped' || this.state === 'stopping') return { clean: true, aborted: [] }
    this.#lifecycle.become('stopping')
    this.#parts.wake.notify()
    await this.#running
    await this.#claimsOnInsert.settled()
    this.#settler.release(this.#runner.takeBuffered())
    await this.#settler.flush()
    await this.#holds.release()
    await this.#duties.stop()
    const left = await this.#endHandlers(drainMs)
    await this.#settler.flush()
    await this.#holds.stop()
    await this.#parts.series.stop()
    await this.#parts.episodes.stop()
    await this.#runner.heartbeat.stop()
    this.#runner.stop()
    await retire(this.#parts).catch(error => this.#lifecycle.fail(error, 'retire'))
    this.#lifecycle.become('stopped')
    return { clean: left.length === 0, aborted: left }
  }

  /** The jobs whose handlers had not ended in time. */
  async #endHandlers(drainMs: Millis): Promise<string[]> {
    const runner = this.#runner
    await runner.untilIdle(drainMs)
    const left = [...runner.running, ...runner.strays]
    for (const attempt of left) if (attempt.phase === 'running') runner.abort(attempt, 'shutdown')
    if (runner.running.size > 0) await runner.untilIdle(this.#parts.settings.abortGraceMs + 1)
    return [...new Set(left.map(({ job }) => job.id))]
  }

  /** As if the process had died: nothing is settled, released or renewed any more. */
  crash(): void {
    this.#lifecycle.isCrashed = true
    this.#lifecycle.become('stopped')
    this.#parts.wake.notify()
    void this.#duties.stop()
    void this.#runner.heartbeat.stop()
    this.#runner.stop()
    this.#settler.abandon()
    this.#holds.abandon()
    this.#parts.series.abandon()
    this.#parts.episodes.abandon()
    for (const attempt of [...this.#runner.running, ...this.#runner.takeBuffered()]) {
      attempt.phase = 'gone'
      abort(attempt, 'lease-lost')
    }
  }
}
