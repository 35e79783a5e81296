// Claims for workers in other processes: assigned users first, others when those have nothing, and
// whoever finds nothing waits in line until something may be due. Nobody looks in between.

import { createHash } from 'node:crypto'
import { isActionName } from '../core/action-name.ts'
import { laneOf, spanOfLane, spansOfTenant } from '../core/lane.ts'
import { settle } from '../core/settle.ts'
import type { Job } from '../core/job.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Within } from '../store/store.ts'
import { activeAttempt, type ActiveAttempt } from './active-attempt.ts'
import { beginBatch } from './begin-batch.ts'
import type { Parts } from './parts.ts'

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
/** How soon those who wait look again while a rule may be holding something back. */
const HELD_BACK_MS: Millis = 1_000

interface Waiter {
  readonly ask: RemoteClaimRequest
  readonly resolve: (held: readonly ActiveAttempt[]) => void
  readonly reject: (error: unknown) => void
}

/** Those who ask for the same: what one of them does not find, the others do not either. */
interface Group {
  readonly key: string
  readonly waiters: Waiter[]
  isServing: boolean
  isCalled: boolean
  cancelTimer: (() => void) | null
}

export class RemoteClaims {
  readonly #parts: Parts
  readonly #isRuled: () => boolean
  readonly #groups = new Map<string, Group>()
  #round = 0
  #stopListening: (() => void) | null = null
  #isStopped = false

  /** `isRuled`: whether a task may be held back by a rule, which gives no hint when it is free. */
  constructor(parts: Parts, isRuled: () => boolean) {
    this.#parts = parts
    this.#isRuled = isRuled
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
      if (waiters[0]?.ask.tenant === tenant) count += waiters.length
    }
    return count
  }

  /** What is there now, or comes within the time to wait; nodes alone perform built-in actions. */
  claim(given: RemoteClaimRequest, wait: RemoteWait): Promise<readonly ActiveAttempt[]> {
    const ask = { ...given, handlers: given.handlers.filter(name => !isActionName(name)) }
    if (this.#isStopped || ask.handlers.length === 0) return Promise.resolve([])
    if (wait.ms <= 0) return this.#take(ask)
    this.#stopListening ??= this.#parts.wake.listen(() => this.#callAll())
    return new Promise((resolve, reject) => {
      const group = this.#groupOf(ask)
      let isAnswered = false
      const leave = (): void => {
        isAnswered = true
        const at = group.waiters.indexOf(waiter)
        if (at >= 0) group.waiters.splice(at, 1)
        cancelTimer()
        wait.signal.removeEventListener('abort', giveUp)
      }
      const waiter: Waiter = {
        ask,
        resolve: held => {
          // A claim that was under way when the wait ended comes too late for this worker.
          if (isAnswered || wait.signal.aborted) void this.#returnLate(held)
          leave()
          resolve(held)
        },
        reject: error => {
          leave()
          reject(error)
        },
      }
      const giveUp = (): void => waiter.resolve([])
      const cancelTimer = this.#parts.clock.after(wait.ms, giveUp)
      wait.signal.addEventListener('abort', giveUp)
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
  async giveBack(held: readonly ActiveAttempt[]): Promise<void> {
    const { store, clock, wake } = this.#parts
    if (held.length === 0) return
    const now = clock.now()
    const jobs = await store.get(held.map(({ job }) => job.id))
    const tokens = new Map(held.map(({ job }) => [job.id, job.lease!.token]))
    const ours = jobs.filter(job => job.lease?.token === tokens.get(job.id))
    const changes = ours.map(job =>
      settle(job, { outcome: { kind: 'released' }, startedAt: now }, now),
    )
    // One that changed in between is found by its lease: it ends by itself.
    await store.commit(changes, { now })
    wake.notify()
  }

  /** Where the store does not answer, the leases end by themselves. */
  async #returnLate(held: readonly ActiveAttempt[]): Promise<void> {
    await this.giveBack(held).catch((error: unknown) => {
      this.#parts.events.emit('error', { kind: 'store', error, during: 'claim' })
    })
  }

  #groupOf(ask: RemoteClaimRequest): Group {
    const { worker: _, limit: __, leaseMs: ___, ...same } = ask
    const key = JSON.stringify(same)
    const held = this.#groups.get(key)
    if (held) return held
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
    const pause = await this.#pauseOf(group.waiters[0]!.ask)
    if (this.#isStopped || group.isServing) return
    group.cancelTimer = this.#parts.clock.after(pause, () => this.#call(group))
  }

  async #serveInLine(group: Group): Promise<void> {
    for (;;) {
      const [first] = group.waiters
      if (!first) return
      try {
        const held = await this.#take(first.ask)
        if (held.length === 0) return
        first.resolve(held)
      } catch (error) {
        first.reject(error)
      }
    }
  }

  async #pauseOf({ queues, handlers }: RemoteClaimRequest): Promise<Millis> {
    const { store, clock, settings } = this.#parts
    const now = clock.now()
    const lines = queues.flatMap(queue => handlers.map(handler => ({ queue, handler })))
    const due = await store.nextDueAt(lines, now).catch(() => null)
    const first = this.#isRuled() ? await store.nextDueAt(lines).catch(() => null) : due
    const isHeldBack = first !== null && first !== due
    const longest = isHeldBack ? HELD_BACK_MS : settings.checkIntervalMs
    return due === null ? longest : Math.min(Math.max(1, due - now), longest)
  }

  /** Assigned users first; the others only for what those leave open. */
  async #take(ask: RemoteClaimRequest): Promise<ActiveAttempt[]> {
    const { users, steal, limit } = ask
    const held = await this.#takeOf(ask, users, limit)
    if (steal.length === 0 || held.length === limit) return held
    return [...held, ...(await this.#takeOf(ask, steal, limit - held.length))]
  }

  async #takeOf(
    ask: RemoteClaimRequest,
    users: readonly string[],
    limit: number,
  ): Promise<ActiveAttempt[]> {
    const queues = inTurn(ask.queues, this.#round++)
    const held: ActiveAttempt[] = []
    for (const queue of queues) {
      for (let round = 0; held.length < limit && round < ROUNDS_MAX; round++) {
        const claimed = await this.#claimFrom(queue, { ask, users, limit: limit - held.length })
        held.push(...claimed.held)
        if (claimed.count === 0 || claimed.held.length > 0) break
      }
    }
    return held
  }

  async #claimFrom(
    queue: string,
    { ask, users, limit }: Part,
  ): Promise<{ count: number; held: ActiveAttempt[] }> {
    const { store, clock, ids, events } = this.#parts
    const now = clock.now()
    const jobs = await store.claim({
      queue,
      handlers: ask.handlers,
      now,
      limit,
      owner: ask.worker,
      leaseMs: ask.leaseMs,
      token: ids.token(),
      attemptIds: Array.from({ length: limit }, () => ids.next(now)),
      isRuled: true,
      within: scopeOf(ask, users),
    })
    if (jobs.length === 0) return { count: 0, held: [] }
    if (events.isHeard('claimed')) events.emit('claimed', { jobs, queue })
    const held = await this.#begin(jobs, now)
    if (events.isHeard('started')) events.emit('started', { jobs: held.map(({ job }) => job) })
    return { count: jobs.length, held: await this.#ownOf(ask, held) }
  }

  async #begin(jobs: readonly Job[], claimedAt: Instant): Promise<ActiveAttempt[]> {
    try {
      return await beginBatch(this.#parts, jobs, claimedAt)
    } catch (error) {
      await this.#returnLate(jobs.map(job => activeAttempt(job)))
      throw error
    }
  }

  /** A name with a slash may look like a user of another tenant: its jobs are not given away. */
  async #ownOf({ tenant }: RemoteClaimRequest, held: ActiveAttempt[]): Promise<ActiveAttempt[]> {
    if (tenant === null) return held
    const foreign = held.filter(({ job }) => job.spec.tenant !== tenant)
    await this.giveBack(foreign)
    return foreign.length === 0 ? held : held.filter(one => !foreign.includes(one))
  }
}

interface Part {
  readonly ask: RemoteClaimRequest
  readonly users: readonly string[]
  readonly limit: number
}

function inTurn(queues: readonly string[], round: number): readonly string[] {
  const at = round % Math.max(1, queues.length)
  return [...queues.slice(at), ...queues.slice(0, at)]
}

/** Whoever serves every tenant has one turn among them; names of tenants cannot be `*`. */
const EVERY_TENANT_SCOPE = '*'

function scopeOf({ tenant }: RemoteClaimRequest, users: readonly string[]): Within {
  if (tenant === null) return { scope: EVERY_TENANT_SCOPE, lanes: null }
  if (users.length === 0) return { scope: tenant, lanes: { tenant, spans: spansOfTenant(tenant) } }
  const lanes = [...new Set(users)].sort().map(user => laneOf(tenant, user))
  const digest = createHash('sha256').update(JSON.stringify(lanes)).digest('hex').slice(0, 32)
  return { scope: `${tenant}\n${digest}`, lanes: { tenant, spans: lanes.map(spanOfLane) } }
}
