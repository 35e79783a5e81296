// What of a node each tenant holds. While two or more tenants have work, one gets no more than its
// share of the slots, so that the others find some free.

import type { Job } from '../core/job.ts'
import { tenantOfLane, type TenantShares } from '../core/lane.ts'
import { HOUR, type Instant, type Millis } from '../core/time.ts'
import type { Store } from '../store/port.ts'
import type { ActiveAttempt } from './active-attempt.ts'
import type { HeldAttempts } from './heartbeat.ts'
import type { EngineSettings } from './settings.ts'

/** A tenant whose last work is no older is expected to come back. */
const EXPECTED_MS: Millis = HOUR
/** Tenants that are looked at, each time, to see whether there are two with work. */
const LOOKED_AT_MAX = 1_000
const PAGE_MAX = 100
const live = ['waiting', 'running', 'paused'] as const

type Settings = Pick<EngineSettings, 'slots' | 'tenantSlotsPercent'>

export class TenantSlots {
  readonly #settings: Settings
  /** Whether a tenant may be held back for others. */
  areSeveral = false
  /** Of the job claimed last: while it stays the same, there is nothing to tell `claimed`. */
  lastLane: string | null = null
  /** Handlers by tenant; null while there is only one tenant, and nothing is counted. */
  #running: Map<string, number> | null = null
  readonly #seenAt = new Map<string, Instant>()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Whether one more of the tenant of this job may start beside what is running. */
  hasSlot({ spec }: Job, running: ReadonlySet<ActiveAttempt>): boolean {
    const count = this.#counted(running).get(tenantOfLane(spec.lane)) ?? 0
    return count < this.#shareOf(this.#settings.slots)
  }

  /** What a claim may give each tenant, beside what waits here for a slot; undefined for all. */
  shares(
    limit: number,
    ahead: number,
    { buffered, running }: Pick<HeldAttempts, 'buffered' | 'running'>,
  ): TenantShares | undefined {
    const held = new Map(this.#counted(running))
    for (const { job } of buffered) add(held, tenantOfLane(job.spec.lane), 1)
    const most = this.#shareOf(this.#settings.slots + ahead)
    const isNear = limit > most - Math.max(0, ...held.values())
    return isNear ? { most, held: Object.fromEntries(held) } : undefined
  }

  #counted(running: ReadonlySet<ActiveAttempt>): Map<string, number> {
    if (this.#running === null) {
      this.#running = new Map()
      for (const { job } of running) this.started(job)
    }
    return this.#running
  }

  #shareOf(slots: number): number {
    return Math.max(1, Math.floor((slots * this.#settings.tenantSlotsPercent) / 100))
  }

  claimed(attempts: readonly ActiveAttempt[], now: Instant): void {
    if (!this.#isOn) return
    for (const { job } of attempts) this.#seenAt.set(tenantOfLane(job.spec.lane), now)
    this.lastLane = attempts.at(-1)!.job.spec.lane
    this.#notice()
  }

  started({ spec }: Job): void {
    if (this.#running !== null) add(this.#running, tenantOfLane(spec.lane), 1)
  }

  finished({ spec }: Job): void {
    if (this.#running !== null) add(this.#running, tenantOfLane(spec.lane), -1)
  }

  /** Who has work in the store. */
  async survey(store: Pick<Store, 'tenants'>, now: Instant): Promise<void> {
    for (const [tenant, at] of this.#seenAt) {
      const isGone = Math.abs(now - at) > EXPECTED_MS && this.#running?.has(tenant) !== true
      if (isGone) this.#seenAt.delete(tenant)
    }
    this.lastLane = null
    if (!this.#isOn) return
    let seen = 0
    let cursor: string | null = null
    do {
      const page = await store.tenants({ limit: PAGE_MAX, cursor })
      for (const { tenant, counts } of page.items) {
        if (live.some(state => (counts[state] ?? 0) > 0)) this.#seenAt.set(tenant, now)
      }
      seen += page.items.length
      cursor = page.cursor
    } while (cursor !== null && seen < LOOKED_AT_MAX && this.#seenAt.size < 2)
    this.#notice()
  }

  /** Work of one tenant alone is not counted. */
  #notice(): void {
    this.areSeveral = this.#seenAt.size > 1
    if (!this.areSeveral) this.#running = null
  }

  get #isOn(): boolean {
    return this.#settings.tenantSlotsPercent < 100
  }
}

function add(counts: Map<string, number>, tenant: string, count: number): void {
  const sum = (counts.get(tenant) ?? 0) + count
  if (sum > 0) counts.set(tenant, sum)
  else counts.delete(tenant)
}
