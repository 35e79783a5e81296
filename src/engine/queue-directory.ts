// What a node knows of the store at large: which queues there are, and whether anyone holds a job.

import { LANE_KIND } from '../core/fairness/lane.ts'
import type { TenantSlots } from '../core/fairness/tenant-slots.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Count, Page, TenantCount } from '../store/port.ts'
import type { Parts } from './parts.ts'

/** While every write of others brings jobs of known queues, queues are read this often. */
const REFRESH_MIN_MS: Millis = 50

/** Tenants read, each time, to see whether there are two with work. */
const TENANTS_MAX = 1_000
const TENANTS_PAGE = 100

export class QueueDirectory {
  readonly #parts: Pick<Parts, 'store' | 'clock' | 'settings'>
  #queues: readonly string[] = []
  readonly #tenants: TenantSlots
  #onBusy = () => {}
  #isBusy = true
  #refreshedAt: Instant = -Infinity
  #isInvalid = false
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

  get isOld(): boolean {
    return this.#ageMs() >= this.#parts.settings.checkIntervalMs
  }

  #ageMs(): Millis {
    return Math.abs(this.#parts.clock.now() - this.#refreshedAt)
  }

  /**
   * When to read the queues again after others wrote: at once, unless the poll that was woken claimed
   * something, which explains the write. Infinity when nobody wrote.
   */
  untilRefreshMs(claimed: number): Millis {
    if (!this.#isInvalid) return Infinity
    return claimed === 0 ? 0 : REFRESH_MIN_MS - this.#ageMs()
  }

  /** Says whether there are queues that were not known. */
  async refresh(): Promise<boolean> {
    const { settings, clock } = this.#parts
    // A write that comes while they are read invalidates them again.
    this.#isInvalid = false
    const counts = await this.#readCounts()
    this.#refreshedAt = clock.now()
    const isBusy = counts.some(
      ({ state, count }) => count > 0 && (state === 'running' || state === 'paused'),
    )
    if (isBusy) this.markBusy()
    else this.#isBusy = false
    await this.#readLimits()
    const found = settings.queues ? Object.keys(settings.queues) : counts.map(one => one.queue)
    const known = new Set(this.#queues)
    this.#queues = [...new Set(found)].sort()
    return this.#queues.some(queue => !known.has(queue))
  }

  async #readCounts(): Promise<readonly Count[]> {
    try {
      return await this.#parts.store.counts()
    } catch (error) {
      this.#isInvalid = true
      throw error
    }
  }

  /** Less often than the queues, which every write of another process invalidates. */
  async #readLimits(): Promise<void> {
    const { settings, store, clock } = this.#parts
    const now = clock.now()
    if (Math.abs(now - this.#limitsReadAt) < settings.checkIntervalMs) return
    this.#limitsReadAt = now
    this.#hasLimits = (await store.listRecords(LANE_KIND, { limit: 1 }, now)).items.length > 0
    await this.#findTenants(now)
  }

  /** Who has work in the store, until there are two. */
  async #findTenants(now: Instant): Promise<void> {
    const expected = this.#tenants.expected(now)
    if (!this.#tenants.isOn) return
    const found = new Set<string>()
    let seen = 0
    let cursor: string | null = null
    do {
      const page: Page<TenantCount> = await this.#parts.store.tenants({
        limit: TENANTS_PAGE,
        cursor,
      })
      for (const one of page.items) if (hasWork(one)) found.add(one.tenant)
      seen += page.items.length
      cursor = page.cursor
    } while (cursor !== null && seen < TENANTS_MAX && new Set([...expected, ...found]).size < 2)
    this.#tenants.saw(found, now)
  }

  /** Somebody holds a job, or may by now. Only news is reported: under load it would never end. */
  markBusy(): void {
    if (this.#isBusy) return
    this.#isBusy = true
    this.#onBusy()
  }

  /** Another process wrote to the store: the queues are read again. */
  invalidate(): void {
    this.#isInvalid = true
  }

  /** Jobs were created in these queues. */
  add(queues: readonly string[]): void {
    if (this.#parts.settings.queues !== null) return
    const unknown = queues.filter(queue => !this.#queues.includes(queue))
    if (unknown.length > 0) this.#queues = [...new Set([...this.#queues, ...unknown])].sort()
  }
}

function hasWork({ counts }: TenantCount): boolean {
  return (['waiting', 'running', 'paused'] as const).some(state => (counts[state] ?? 0) > 0)
}
