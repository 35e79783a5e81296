// Work done in other processes, in whatever language: what they are given, and what they tell. The
// lease is theirs; here nothing is remembered of it, so any node of the service may be told.

import type { Attempt, Outcome } from '../core/attempt.ts'
import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import type { Json } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import { liftHold } from '../core/run/hold.ts'
import { settle, type Finish } from '../core/run/settle.ts'
import { shortId } from '../core/short-id.ts'
import type { Instant, Millis } from '../core/time.ts'
import { commit } from '../engine/commit.ts'
import type { Clock } from '../runtime/clock.ts'
import { noteOutcomes, settledOf, type Events } from '../runtime/events.ts'
import type { Wake } from '../runtime/wake.ts'
import type { Store } from '../store/port.ts'

/** Rounds against other writers of the row, such as renewals and pauses. */
const ROUNDS_MAX = 20

export interface RemoteParts {
  readonly store: Store
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly events: Events
  readonly wake: Pick<Wake, 'notify'>
}

/** What a worker shows to prove that it holds a task. */
export interface WorkerLease {
  readonly jobId: string
  readonly token: string
  readonly attemptId: string
}

/** The attempt is part of it, so that a word said twice is recognised when the lease is gone. */
export function leaseText(job: Job): string {
  return `${job.lease!.attemptId}.${job.lease!.token}`
}

export function parseLease(jobId: string, text: string): WorkerLease {
  const dot = text.indexOf('.')
  return { jobId, attemptId: text.slice(0, Math.max(0, dot)), token: text.slice(dot + 1) }
}

export interface WorkerReport {
  readonly progress?: { readonly fraction: number; readonly note: string | null }
  readonly checkpoint?: Json
  readonly leaseMs: Millis
}

/** Throws when there is no such job for the caller. */
export type CheckJob = (job: Job) => void

export class RemoteWorkers {
  readonly #parts: RemoteParts

  constructor(parts: RemoteParts) {
    this.#parts = parts
  }

  /** Renews the lease and keeps what was told; answers with its new end. */
  async heartbeat(holding: WorkerLease, told: WorkerReport, check: CheckJob): Promise<Instant> {
    const { store, clock } = this.#parts
    const job = await this.#held(holding, check)
    await this.#assertInTime(job, holding, check)
    const { token, attemptId, jobId } = holding
    const { fence } = job.counters
    const { progress, checkpoint, leaseMs } = told
    const now = clock.now()
    if (progress || checkpoint !== undefined) {
      const given = { ...(progress ? { progress } : {}), checkpoint }
      const report = { jobId, token, fence, attemptId, ...withoutUndefined(given) }
      const [isKept] = await store.report([report], now)
      if (!isKept) throw lost(jobId)
    }
    const until = now + leaseMs
    const [renewed] = await store.renew({ leases: [{ id: jobId, token, fence }], until })
    if (!renewed!.isHeld) throw lost(jobId)
    return until
  }

  /** The end of the attempt; said again by the same holder it is answered the same. */
  async finish(
    holding: WorkerLease,
    finish: Omit<Finish, 'startedAt'>,
    check: CheckJob,
  ): Promise<{ readonly attempt: Attempt | null; readonly job: Job }> {
    const { store, clock, events, wake } = this.#parts
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const [job] = await store.get([holding.jobId])
      if (!job) throw missing(holding.jobId)
      check(job)
      const now = clock.now()
      if (!holds(job, holding)) {
        // The worker's handler has ended: the next start need not wait for it any longer.
        const lift = job.lease === null ? liftHold(job, holding.attemptId, now) : null
        if (lift !== null) await store.commit([lift], { now })
        if (lift !== null) wake.notify()
        return this.#saidBefore(job, holding, finish.outcome)
      }
      const change = settle(job, { ...finish, startedAt: job.lease!.claimedAt }, now)
      const [result] = await commit(this.#parts, [change], { now })
      if (result !== 'committed') continue
      if (events.isHeard('settled')) events.emit('settled', { settled: [settledOf(change)] })
      if (finish.outcome.kind === 'succeeded' && finish.outcome.resultOmitted !== undefined) {
        events.emit('resultOmitted', { job, why: finish.outcome.resultOmitted })
      }
      noteOutcomes(events, [change])
      wake.notify()
      return { attempt: change.attempt, job: change.job }
    }
    throw new SchedulerError(
      'REVISION_CONFLICT',
      `task ${shortId(holding.jobId)} is changed too often`,
    )
  }

  async #held(holding: WorkerLease, check: CheckJob): Promise<Job> {
    const [job] = await this.#parts.store.get([holding.jobId])
    if (!job) throw missing(holding.jobId)
    check(job)
    if (!holds(job, holding)) throw lost(job.id)
    return job
  }

  /** Nobody here can abort it: the one who asks for more time after its end is told so. */
  async #assertInTime(job: Job, holding: WorkerLease, check: CheckJob): Promise<void> {
    const { timeoutMs } = job.spec
    if (timeoutMs === null || this.#parts.clock.now() - job.lease!.claimedAt <= timeoutMs) return
    const message = `timed out after ${timeoutMs} ms`
    const error = { name: 'TimeoutError', message, stack: null }
    const { holdMs } = limits
    await this.finish(holding, { outcome: { kind: 'timedOut', error }, holdMs }, check)
    throw new SchedulerError('LEASE_LOST', `task ${shortId(job.id)} ${message}`)
  }

  async #saidBefore(job: Job, holding: WorkerLease, outcome: Outcome) {
    const filter = { jobId: job.id, id: holding.attemptId }
    const { items } = await this.#parts.store.attempts(filter, { limit: 1 })
    if (items[0]?.outcome !== outcome.kind) throw lost(job.id)
    return { attempt: items[0], job }
  }
}

function holds({ lease }: Job, { token, attemptId }: WorkerLease): boolean {
  return lease !== null && lease.token === token && lease.attemptId === attemptId
}

function lost(id: string): SchedulerError {
  return new SchedulerError('LEASE_LOST', `task ${shortId(id)} is no longer held under this lease`)
}

function missing(id: string): SchedulerError {
  return new SchedulerError('JOB_NOT_FOUND', `there is no task ${shortId(id)}`, { details: { id } })
}

function withoutUndefined<T extends { checkpoint?: Json | undefined }>(given: T) {
  const { checkpoint, ...rest } = given
  return checkpoint === undefined ? rest : { ...rest, checkpoint }
}
