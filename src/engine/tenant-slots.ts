// What of a node each tenant holds. While two or more tenants have work, one gets no more than its
// share of the slots, so that the others find some free.

import type { Job } from '../core/job.ts'
import { tenantOfLane, type TenantShares } from '../core/lane.ts'
import { HOUR, type Instant, type Millis } from '../core/time.ts'
import type { Store } from '../store/store.ts'
import type { ActiveAttempt } from './active-attempt.ts'
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
  readonly #running = new Map<string, number>()
  readonly #seenAt = new Map<string, Instant>()
  #areSeveral = false

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Whether a tenant may be held back for others. */
  get areSeveral(): boolean {
    return this.#areSeveral
  }

  /** Whether one more of the tenant of this job may start. */
  hasSlot({ spec }: Job): boolean {
    if (!this.#areSeveral) return true
    return (this.#running.get(tenantOfLane(spec.lane)) ?? 0) < this.#shareOf(this.#settings.slots)
  }

  /** What a claim may give each tenant, beside what waits here for a slot; undefined for all. */
  shares(
    limit: number,
    ahead: number,
    waiting: readonly ActiveAttempt[],
  ): TenantShares | undefined {
    if (!this.#areSeveral) return undefined
    const held = new Map(this.#running)
    for (const { job } of waiting) add(held, tenantOfLane(job.spec.lane), 1)
    const most = this.#shareOf(this.#settings.slots + ahead)
    const isNear = limit > most - Math.max(0, ...held.values())
    return isNear ? { most, held: Object.fromEntries(held) } : undefined
  }

  #shareOf(slots: number): number {
    return Math.max(1, Math.floor((slots * this.#settings.tenantSlotsPercent) / 100))
  }

  claimed(attempts: readonly ActiveAttempt[], now: Instant): void {
    if (!this.#isOn) return
    for (const { job } of attempts) this.#seenAt.set(tenantOfLane(job.spec.lane), now)
    this.#areSeveral ||= this.#seenAt.size > 1
  }

  started({ spec }: Job): void {
    add(this.#running, tenantOfLane(spec.lane), 1)
  }

  finished({ spec }: Job): void {
    add(this.#running, tenantOfLane(spec.lane), -1)
  }

  /** Who has work in the store. */
  async survey(store: Pick<Store, 'tenants'>, now: Instant): Promise<void> {
    for (const [tenant, at] of this.#seenAt) {
      const isGone = Math.abs(now - at) > EXPECTED_MS && !this.#running.has(tenant)
      if (isGone) this.#seenAt.delete(tenant)
    }
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
    this.#areSeveral = this.#seenAt.size > 1
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
