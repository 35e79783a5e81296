// Claims for workers in other processes: assigned users first, others when those have nothing, and
// whoever finds nothing waits in line until something may be due. Nobody looks in between.

import { createHash } from 'node:crypto'
import { laneOf, spanOfLane, spansOfTenant } from '../core/fairness/lane.ts'
import type { Job } from '../core/job.ts'
import { settle } from '../core/run/settle.ts'
import { isActionName } from '../core/spec/action-name.ts'
import type { Instant, Millis } from '../core/time.ts'
import { activeAttempt, type ActiveAttempt } from '../engine/active-attempt.ts'
import { beginBatch } from '../engine/begin-batch.ts'
import type { Parts } from '../engine/parts.ts'
import type { LaneScope } from '../store/port.ts'

export interface RemoteClaimRequest {
  readonly worker: string
  /** Null for every tenant. */
  readonly tenant: string | null
  readonly queues: readonly string[]
  readonly handlers: readonly string[]
  /** Empty for every user of the tenant. */
  readonly users: readonly string[]
  readonly steal: readonly string[]
  readonly limit: number
  readonly leaseMs: Millis
}

export interface RemoteWait {
  readonly ms: Millis
  /** Aborted when the worker has gone. */
  readonly signal: AbortSignal
}

/** Rounds in which everything claimed turned out to be schedules that only made tasks. */
const ROUNDS_MAX = 10
/** How soon those who wait are served again while a limit may be holding something back. */
const HELD_BACK_MS: Millis = 1_000

/** A task may be held back by a limit of its lane, which gives no hint when it is free. */
export interface NodeLimits {
  readonly hasLimits: boolean
}

interface Waiter {
  readonly request: RemoteClaimRequest
  readonly resolve: (attempts: readonly ActiveAttempt[]) => void
  readonly reject: (error: unknown) => void
}

/** Workers with equal requests: what one of them does not find, the others do not either. */
interface Group {
  readonly key: string
  readonly waiters: Waiter[]
  isServing: boolean
  isCalled: boolean
  cancelTimer: (() => void) | null
}

export class RemoteClaims {
  readonly #parts: Parts
  readonly #node: NodeLimits
  readonly #groups = new Map<string, Group>()
  #round = 0
  #stopListening: (() => void) | null = null
  #isStopped = false

  constructor(parts: Parts, node: NodeLimits) {
    this.#parts = parts
    this.#node = node
  }

  get waiting(): number {
    let count = 0
    for (const { waiters } of this.#groups.values()) count += waiters.length
    return count
  }

  /** Of one tenant; null for those that serve every tenant. */
  waitingOf(tenant: string | null): number {
    let count = 0
    for (const { waiters } of this.#groups.values()) {
      if (waiters[0]?.request.tenant === tenant) count += waiters.length
    }
    return count
  }

  /** What is there now, or comes within the time to wait; nodes alone perform built-in actions. */
  claim(given: RemoteClaimRequest, wait: RemoteWait): Promise<readonly ActiveAttempt[]> {
    const request = { ...given, handlers: given.handlers.filter(name => !isActionName(name)) }
    if (this.#isStopped || request.handlers.length === 0) return Promise.resolve([])
    if (wait.ms <= 0) return this.#claimNow(request)
    this.#stopListening ??= this.#parts.wake.listen(() => this.#callAll())
    return new Promise((resolve, reject) => {
      const group = this.#groupOf(request)
      let isAnswered = false
      const leave = (): void => {
        isAnswered = true
        const at = group.waiters.indexOf(waiter)
        if (at >= 0) group.waiters.splice(at, 1)
        cancelTimer()
        wait.signal.removeEventListener('abort', stopWaiting)
      }
      const waiter: Waiter = {
        request,
        resolve: attempts => {
          // A claim that was under way when the wait ended comes too late for this worker.
          if (isAnswered || wait.signal.aborted) void this.#releaseSafely(attempts)
          leave()
          resolve(attempts)
        },
        reject: error => {
          leave()
          reject(error)
        },
      }
      const stopWaiting = (): void => waiter.resolve([])
      const cancelTimer = this.#parts.clock.after(wait.ms, stopWaiting)
      wait.signal.addEventListener('abort', stopWaiting)
      group.waiters.push(waiter)
      this.#call(group)
    })
  }

  /** Everyone who waits is answered with nothing. */
  stop(): void {
    this.#isStopped = true
    this.#stopListening?.()
    for (const group of this.#groups.values()) {
      group.cancelTimer?.()
      for (const waiter of group.waiters.slice()) waiter.resolve([])
    }
    this.#groups.clear()
  }

  /** Claimed for nobody: due again at once, and no attempt was made. */
  async release(attempts: readonly ActiveAttempt[]): Promise<void> {
    const { store, clock, wake } = this.#parts
    if (attempts.length === 0) return
    const now = clock.now()
    const jobs = await store.get(attempts.map(({ job }) => job.id))
    const tokens = new Map(attempts.map(({ job }) => [job.id, job.lease!.token]))
    const ours = jobs.filter(job => job.lease?.token === tokens.get(job.id))
    const changes = ours.map(job =>
      settle(job, { outcome: { kind: 'released' }, startedAt: now }, now),
    )
    // One that changed in between is found by its lease: it ends by itself.
    await store.commit(changes, { now })
    wake.notify()
  }

  /** Where the store does not answer, the leases end by themselves. */
  async #releaseSafely(attempts: readonly ActiveAttempt[]): Promise<void> {
    await this.release(attempts).catch((error: unknown) => {
      this.#parts.events.emit('error', { kind: 'store', error, during: 'claim' })
    })
  }

  #groupOf(request: RemoteClaimRequest): Group {
    const { worker: _, limit: __, leaseMs: ___, ...same } = request
    const key = JSON.stringify(same)
    const known = this.#groups.get(key)
    if (known) return known
    const group = { key, waiters: [], isServing: false, isCalled: false, cancelTimer: null }
    this.#groups.set(key, group)
    return group
  }

  #callAll(): void {
    for (const group of this.#groups.values()) this.#call(group)
  }

  #call(group: Group): void {
    group.isCalled = true
    if (group.isServing) return
    group.isServing = true
    this.#parts.clock.soon(() => void this.#serve(group))
  }

  async #serve(group: Group): Promise<void> {
    group.cancelTimer?.()
    group.cancelTimer = null
    while (group.isCalled && group.waiters.length > 0) {
      group.isCalled = false
      await this.#serveInLine(group)
    }
    group.isServing = false
    group.isCalled = false
    if (group.waiters.length === 0) {
      if (this.#groups.get(group.key) === group) this.#groups.delete(group.key)
      return
    }
    const pause = await this.#pauseOf(group.waiters[0]!.request)
    if (this.#isStopped || group.isServing) return
    group.cancelTimer = this.#parts.clock.after(pause, () => this.#call(group))
  }

  async #serveInLine(group: Group): Promise<void> {
    for (;;) {
      const [first] = group.waiters
      if (!first) return
      try {
        const attempts = await this.#claimNow(first.request)
        if (attempts.length === 0) return
        first.resolve(attempts)
      } catch (error) {
        first.reject(error)
      }
    }
  }

  async #pauseOf({ queues, handlers }: RemoteClaimRequest): Promise<Millis> {
    const { store, clock, settings } = this.#parts
    const now = clock.now()
    const routes = queues.flatMap(queue => handlers.map(handler => ({ queue, handler })))
    const due = await store.nextDueAt(routes, now).catch(() => null)
    const first = this.#node.hasLimits ? await store.nextDueAt(routes).catch(() => null) : due
    const isHeldBack = first !== null && first !== due
    const longest = isHeldBack ? HELD_BACK_MS : settings.checkIntervalMs
    return due === null ? longest : Math.min(Math.max(1, due - now), longest)
  }

  /** Assigned users first; the others only for what those leave open. */
  async #claimNow(request: RemoteClaimRequest): Promise<ActiveAttempt[]> {
    const { users, steal, limit } = request
    const attempts = await this.#claimFor(request, users, limit)
    if (steal.length === 0 || attempts.length === limit) return attempts
    return [...attempts, ...(await this.#claimFor(request, steal, limit - attempts.length))]
  }

  async #claimFor(
    request: RemoteClaimRequest,
    users: readonly string[],
    limit: number,
  ): Promise<ActiveAttempt[]> {
    const queues = inTurn(request.queues, this.#round++)
    const attempts: ActiveAttempt[] = []
    for (const queue of queues) {
      for (let round = 0; attempts.length < limit && round < ROUNDS_MAX; round++) {
        const claimed = await this.#claimFrom(queue, {
          request,
          users,
          limit: limit - attempts.length,
        })
        attempts.push(...claimed.attempts)
        if (claimed.count === 0 || claimed.attempts.length > 0) break
      }
    }
    return attempts
  }

  async #claimFrom(
    queue: string,
    { request, users, limit }: Part,
  ): Promise<{ count: number; attempts: ActiveAttempt[] }> {
    const { store, clock, ids, events } = this.#parts
    const now = clock.now()
    const jobs = await store.claim({
      queue,
      handlers: request.handlers,
      now,
      limit,
      owner: request.worker,
      leaseMs: request.leaseMs,
      token: ids.token(),
      attemptIds: Array.from({ length: limit }, () => ids.next(now)),
      hasLimits: true,
      laneScope: scopeOf(request, users),
    })
    if (jobs.length === 0) return { count: 0, attempts: [] }
    if (events.isHeard('claimed')) events.emit('claimed', { jobs, queue })
    const attempts = await this.#begin(jobs, now)
    if (events.isHeard('started')) events.emit('started', { jobs: attempts.map(({ job }) => job) })
    return { count: jobs.length, attempts: await this.#ownOf(request, attempts) }
  }

  async #begin(jobs: readonly Job[], claimedAt: Instant): Promise<ActiveAttempt[]> {
    try {
      return await beginBatch(this.#parts, jobs, claimedAt)
    } catch (error) {
      await this.#releaseSafely(jobs.map(job => activeAttempt(job)))
      throw error
    }
  }

  /** A name with a slash may look like a user of another tenant: its jobs are not given away. */
  async #ownOf(
    { tenant }: RemoteClaimRequest,
    attempts: ActiveAttempt[],
  ): Promise<ActiveAttempt[]> {
    if (tenant === null) return attempts
    const foreign = attempts.filter(({ job }) => job.spec.tenant !== tenant)
    await this.release(foreign)
    return foreign.length === 0 ? attempts : attempts.filter(one => !foreign.includes(one))
  }
}

interface Part {
  readonly request: RemoteClaimRequest
  readonly users: readonly string[]
  readonly limit: number
}

function inTurn(queues: readonly string[], round: number): readonly string[] {
  const at = round % Math.max(1, queues.length)
  return [...queues.slice(at), ...queues.slice(0, at)]
}

/** Whoever serves every tenant has one turn among them; names of tenants cannot be `*`. */
const EVERY_TENANT_SCOPE = '*'

function scopeOf({ tenant }: RemoteClaimRequest, users: readonly string[]): LaneScope {
  if (tenant === null) return { scope: EVERY_TENANT_SCOPE, lanes: null }
  if (users.length === 0) return { scope: tenant, lanes: { tenant, spans: spansOfTenant(tenant) } }
  const lanes = [...new Set(users)].sort().map(user => laneOf(tenant, user))
  const digest = createHash('sha256').update(JSON.stringify(lanes)).digest('hex').slice(0, 32)
  return { scope: `${tenant}\n${digest}`, lanes: { tenant, spans: lanes.map(spanOfLane) } }
}
