// What of a node each tenant holds. While two or more tenants have work, one gets no more than its
// share of the slots, so that the others find some free.

import type { Job } from '../job.ts'
import { tenantOfLane, type TenantShares } from './lane.ts'
import { HOUR, type Instant, type Millis } from '../time.ts'

/** A tenant whose last work is no older is expected to come back. */
const EXPECTED_MS: Millis = HOUR

export interface TenantSlotSettings {
  /** Handlers running at once in the node. */
  readonly slots: number
  /** Of the slots, what one tenant holds at most while two or more have work. */
  readonly tenantSlotsPercent: number
}

/** Whatever holds a job. */
interface Holding {
  readonly job: Job
}

export class TenantSlots {
  readonly #settings: TenantSlotSettings
  /** Whether a tenant may be held back for others. */
  areSeveral = false
  /** Of the job claimed last: while it stays the same, there is nothing to tell `claimed`. */
  lastLane: string | null = null
  /** Handlers by tenant; null while there is only one tenant, and nothing is counted. */
  #running: Map<string, number> | null = null
  readonly #seenAt = new Map<string, Instant>()

  constructor(settings: TenantSlotSettings) {
    this.#settings = settings
  }

  /** Whether tenants are held back for others at all. */
  get isOn(): boolean {
    return this.#settings.tenantSlotsPercent < 100
  }

  /** Whether one more of the tenant of this job may start beside what is running. */
  hasSlot({ spec }: Job, running: ReadonlySet<Holding>): boolean {
    const count = this.#counted(running).get(tenantOfLane(spec.lane)) ?? 0
    return count < this.#shareOf(this.#settings.slots)
  }

  /** What a claim may give each tenant, beside what waits here for a slot; undefined for all. */
  shares(
    limit: number,
    ahead: number,
    held: { readonly buffered: readonly Holding[]; readonly running: ReadonlySet<Holding> },
  ): TenantShares | undefined {
    const counts = new Map(this.#counted(held.running))
    for (const { job } of held.buffered) add(counts, tenantOfLane(job.spec.lane), 1)
    const most = this.#shareOf(this.#settings.slots + ahead)
    const isNear = limit > most - Math.max(0, ...counts.values())
    return isNear ? { most, held: Object.fromEntries(counts) } : undefined
  }

  #counted(running: ReadonlySet<Holding>): Map<string, number> {
    if (this.#running === null) {
      this.#running = new Map()
      for (const { job } of running) this.started(job)
    }
    return this.#running
  }

  #shareOf(slots: number): number {
    return Math.max(1, Math.floor((slots * this.#settings.tenantSlotsPercent) / 100))
  }

  claimed(attempts: readonly Holding[], now: Instant): void {
    if (!this.isOn) return
    const tenants = new Set<string>()
    for (const { job } of attempts) tenants.add(tenantOfLane(job.spec.lane))
    this.saw(tenants, now)
    this.lastLane = attempts.at(-1)!.job.spec.lane
  }

  started({ spec }: Job): void {
    if (this.#running !== null) add(this.#running, tenantOfLane(spec.lane), 1)
  }

  finished({ spec }: Job): void {
    if (this.#running !== null) add(this.#running, tenantOfLane(spec.lane), -1)
  }

  /** Before the store is asked who has work; returns those known to have some. */
  expected(now: Instant): Set<string> {
    for (const [tenant, at] of this.#seenAt) {
      const isGone = Math.abs(now - at) > EXPECTED_MS && this.#running?.has(tenant) !== true
      if (isGone) this.#seenAt.delete(tenant)
    }
    this.lastLane = null
    return new Set(this.#seenAt.keys())
  }

  /** Tenants that have work. What a tenant alone holds is not counted. */
  saw(tenants: Iterable<string>, now: Instant): void {
    for (const tenant of tenants) this.#seenAt.set(tenant, now)
    this.areSeveral = this.#seenAt.size > 1
    if (!this.areSeveral) this.#running = null
  }
}

function add(counts: Map<string, number>, tenant: string, count: number): void {
  const sum = (counts.get(tenant) ?? 0) + count
  if (sum > 0) counts.set(tenant, sum)
  else counts.delete(tenant)
}
