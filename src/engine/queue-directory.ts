// What a node knows of the store at large: which queues there are, and whether anyone holds a job.

import { LANE_KIND } from '../core/lane.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Parts } from './parts.ts'
import type { TenantSlots } from './tenant-slots.ts'

export class QueueDirectory {
  readonly #parts: Pick<Parts, 'store' | 'clock' | 'settings'>
  #queues: readonly string[] = []
  readonly #tenants: TenantSlots
  #onBusy = () => {}
  #isBusy = true
  #refreshedAt: Instant = -Infinity
  #hasLimits = false
  #limitsReadAt: Instant = -Infinity
  #turn = 0

  constructor(parts: Pick<Parts, 'store' | 'clock' | 'settings'>, tenants: TenantSlots) {
    this.#parts = parts
    this.#tenants = tenants
  }

  /** Called when somebody holds a job, where none was known to be held. */
  onBusy(listener: () => void): void {
    this.#onBusy = listener
  }

  get queues(): readonly string[] {
    return this.#queues
  }

  /** Whether lanes have limits; those set elsewhere are found within a check interval. */
  get hasLimits(): boolean {
    return this.#hasLimits
  }

  /** Limits were set in this process. */
  expectLimits(): void {
    this.#hasLimits = true
  }

  /** No queue is always first. */
  inTurn(): readonly string[] {
    const queues = this.#queues
    if (queues.length < 2) return queues
    const at = this.#turn++ % queues.length
    return [...queues.slice(at), ...queues.slice(0, at)]
  }

  untilReapMs(): Millis {
    const { reapMs, idleReapMs } = this.#parts.settings
    return this.#isBusy ? reapMs : Math.max(reapMs, idleReapMs)
  }

  get isStale(): boolean {
    const { clock, settings } = this.#parts
    return Math.abs(clock.now() - this.#refreshedAt) >= settings.checkIntervalMs
  }

  async refresh(): Promise<void> {
    const { settings, store, clock } = this.#parts
    const counts = await store.counts()
    this.#refreshedAt = clock.now()
    const isBusy = counts.some(
      ({ state, count }) => count > 0 && (state === 'running' || state === 'paused'),
    )
    if (isBusy) this.markBusy()
    else this.#isBusy = false
    await this.#readLimits()
    const found = settings.queues ? Object.keys(settings.queues) : counts.map(one => one.queue)
    this.#queues = [...new Set(found)].sort()
  }

  /** Less often than the queues, which every write of another process invalidates. */
  async #readLimits(): Promise<void> {
    const { settings, store, clock } = this.#parts
    const now = clock.now()
    if (Math.abs(now - this.#limitsReadAt) < settings.checkIntervalMs) return
    this.#limitsReadAt = now
    this.#hasLimits = (await store.listRecords(LANE_KIND, { limit: 1 }, now)).items.length > 0
    await this.#tenants.survey(store, now)
  }

  /** Somebody holds a job, or may by now. Only news is reported: under load it would never end. */
  markBusy(): void {
    if (this.#isBusy) return
    this.#isBusy = true
    this.#onBusy()
  }

  /** Another process wrote to the store: the queues are read again. */
  invalidate(): void {
    this.#refreshedAt = -Infinity
  }

  /** Jobs were created in these queues. */
  add(queues: readonly string[]): void {
    if (this.#parts.settings.queues !== null) return
    const unknown = queues.filter(queue => !this.#queues.includes(queue))
    if (unknown.length > 0) this.#queues = [...new Set([...this.#queues, ...unknown])].sort()
  }
}
