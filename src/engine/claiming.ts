// From due to held: claims, lets the core decide what each claim means, writes what must be
// written first, and hands the rest to the runner.

import { begin, type Begin } from '../core/begin.ts'
import type { Change } from '../core/change.ts'
import { failInvalid } from '../core/invalid.ts'
import type { Job } from '../core/job.ts'
import type { TenantShares } from '../core/lane.ts'
import { currentRunOf } from '../core/current-run.ts'
import { settle } from '../core/settle.ts'
import type { Instant } from '../core/time.ts'
import { shortId } from '../core/short-id.ts'
import type { ClaimRequest } from '../store/store.ts'
import { ClaimWatch } from './claim-watch.ts'
import { commit } from './commit.ts'
import { settledOf } from './events.ts'
import { activeAttempt, type ActiveAttempt } from './active-attempt.ts'
import type { Parts } from './parts.ts'
import { noteOutcomes } from './series-fold.ts'

const BEGIN_ROUNDS_MAX = 5

/** Claimed, not yet begun. */
export interface Taken {
  readonly queue: string
  readonly jobs: readonly Job[]
  readonly at: Instant
  /** The answer took so long that the lease could not be renewed in time: nothing of it starts. */
  readonly isLate: boolean
}

/** What a claim of this node must keep to. */
export interface ClaimLimits {
  isRuled(): boolean
  shares(queue: string, limit: number): TenantShares | undefined
}

const noLimits: ClaimLimits = { isRuled: () => false, shares: () => undefined }

export class Claiming {
  readonly #parts: Parts
  readonly #giveBack: (held: readonly ActiveAttempt[]) => void
  readonly #limits: ClaimLimits

  /** `giveBack` takes what was claimed but could not begin, and releases it in its own time. */
  constructor(
    parts: Parts,
    giveBack: (held: readonly ActiveAttempt[]) => void,
    limits: ClaimLimits = noLimits,
  ) {
    this.#parts = parts
    this.#giveBack = giveBack
    this.#limits = limits
  }

  /** What the store gives; nothing of it is begun yet. */
  async ask(queue: string, limit: number): Promise<Taken> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const watch = new ClaimWatch(this.#parts)
    try {
      const jobs = await store.claim(this.request(queue, limit, now))
      return { ...this.taken(queue, jobs, now), isLate: watch.isLate() }
    } finally {
      watch.stop()
    }
  }

  request(queue: string, limit: number, now: Instant): ClaimRequest {
    const { ids, settings, handlers, owner } = this.#parts
    const shares = this.#limits.shares(queue, limit)
    return {
      queue,
      handlers: handlers.names,
      now,
      limit,
      owner: owner.id,
      leaseMs: settings.leaseMs,
      token: ids.token(),
      attemptIds: Array.from({ length: limit }, () => ids.next(now)),
      isRuled: this.#limits.isRuled(),
      ...(shares === undefined ? {} : { shares }),
    }
  }

  /** What such a request gave. */
  taken(queue: string, jobs: readonly Job[], at: Instant): Taken {
    const { events } = this.#parts
    if (jobs.length > 0 && events.isHeard('claimed')) events.emit('claimed', { jobs, queue })
    return { queue, jobs, at, isLate: false }
  }

  async begin({ jobs, at, isLate }: Taken): Promise<ActiveAttempt[]> {
    if (isLate) {
      this.#giveBack(jobs.map(job => activeAttempt(job, currentRunOf(job))))
      return []
    }
    try {
      return await this.#hold(jobs, at)
    } catch (error) {
      // What was written is not known: each is read again before it is given back.
      const unbegun = jobs.map(job => activeAttempt(job, currentRunOf(job)))
      for (const held of unbegun) held.isStale = true
      this.#giveBack(unbegun)
      throw error
    }
  }

  async #hold(jobs: readonly Job[], now: Instant): Promise<ActiveAttempt[]> {
    const ready = await this.#beginAll(jobs, now)
    const held = ready.map(job => activeAttempt(job, currentRunOf(job)))
    await this.#loadCheckpoints(held)
    return held
  }

  /** Plain firings pass straight through; the others are written before anything starts. */
  async #beginAll(jobs: readonly Job[], now: Instant): Promise<Job[]> {
    const ready: Job[] = []
    let open = jobs
    for (let round = 0; open.length > 0 && round < BEGIN_ROUNDS_MAX; round++) {
      const writes: { change: Change; runs: boolean }[] = []
      for (const job of open) {
        const step = this.#begin(job, now)
        if (step.change !== null) writes.push({ change: step.change, runs: step.kind === 'run' })
        else if (step.kind === 'run') ready.push(step.job)
      }
      open = writes.length === 0 ? [] : await this.#write(writes, ready, now)
    }
    return ready
  }

  /** One job that cannot be understood is set aside; the others go on. */
  #begin(job: Job, now: Instant): Begin {
    try {
      return begin(job, now)
    } catch (error) {
      this.#parts.events.emit('error', {
        kind: 'cron',
        error,
        during: `begin of ${shortId(job.id)}`,
      })
      return { kind: 'nothing', change: failInvalid(job, error, now) }
    }
  }

  /** Returns the jobs that were changed meanwhile but are still ours: they begin again. */
  async #write(
    writes: readonly { change: Change; runs: boolean }[],
    ready: Job[],
    now: Instant,
  ): Promise<Job[]> {
    const { store, settings, events, wake } = this.#parts
    const changes = writes.map(write => write.change)
    const { waitingMax } = settings
    const results = await commit(this.#parts, changes, { now, waitingMax })
    const again: string[] = []
    const done: Change[] = []
    for (const [i, { change, runs }] of writes.entries()) {
      if (results[i] === 'committed') {
        if (runs) ready.push(change.job)
        done.push(change)
      } else if (results[i] === 'conflict') again.push(change.job.id)
      else if (results[i] === 'full') await this.#putOff(change, now)
    }
    if (events.isHeard('settled')) events.emit('settled', { settled: done.map(settledOf) })
    noteOutcomes(events, done)
    // Tasks that were made are due, perhaps for workers that wait and not for this node.
    if (done.some(({ inserts }) => inserts.length > 0)) wake.notify()
    const tokens = new Map(changes.map(change => [change.job.id, change.token]))
    const jobs = again.length === 0 ? [] : await store.get(again)
    return jobs.filter(job => job.lease !== null && job.lease.token === tokens.get(job.id))
  }

  /** The queue had no room for the tasks of a firing: the schedule stays as it was and comes back. */
  async #putOff(change: Change, now: Instant): Promise<void> {
    const { store, settings, events } = this.#parts
    events.emit('error', {
      kind: 'push',
      error: null,
      during: `firing of ${shortId(change.job.id)}`,
    })
    const [job] = await store.get([change.job.id])
    if (!job?.lease || job.lease.token !== change.token) return
    const until = now + settings.checkIntervalMs
    const outcome = { kind: 'deferred', until, reason: 'queue full', worked: false } as const
    await store.commit([settle(job, { outcome, startedAt: now }, now)], { now })
  }

  /** Only a run that was tried before can have left something. */
  async #loadCheckpoints(held: readonly ActiveAttempt[]): Promise<void> {
    for (const one of held) {
      if (one.current.run.attempt === 0) continue
      const progress = await this.#parts.store.progress(one.job.id)
      one.checkpoint = progress?.checkpoint
    }
  }
}
