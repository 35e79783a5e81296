// What a node knows of the store at large: which queues there are, and whether anyone holds a job.

import { LANE_KIND } from '../core/lane.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Parts } from './parts.ts'
import type { TenantSlots } from './tenant-slots.ts'

export class Survey {
  readonly #parts: Pick<Parts, 'store' | 'clock' | 'settings'>
  #queues: readonly string[] = []
  readonly #tenants: TenantSlots
  readonly #onHeld: () => void
  #isAnyHeld = true
  #takenAt: Instant = -Infinity
  #isRuled = false
  #rulesReadAt: Instant = -Infinity
  #turn = 0

  /** `onHeld` hears when somebody holds something, where it was not known before. */
  constructor(
    parts: Pick<Parts, 'store' | 'clock' | 'settings'>,
    tenants: TenantSlots,
    onHeld: () => void,
  ) {
    this.#parts = parts
    this.#tenants = tenants
    this.#onHeld = onHeld
  }

  get queues(): readonly string[] {
    return this.#queues
  }

  /** Whether lanes have rules; those set elsewhere are found within a check interval. */
  get isRuled(): boolean {
    return this.#isRuled
  }

  /** Rules were set in this process. */
  expectRules(): void {
    this.#isRuled = true
  }

  /** No queue is always first. */
  inTurn(): readonly string[] {
    const queues = this.#queues
    if (queues.length < 2) return queues
    const at = this.#turn++ % queues.length
    return [...queues.slice(at), ...queues.slice(0, at)]
  }

  untilReap(): Millis {
    const { reapMs, idleReapMs } = this.#parts.settings
    return this.#isAnyHeld ? reapMs : Math.max(reapMs, idleReapMs)
  }

  get isOld(): boolean {
    const { clock, settings } = this.#parts
    return Math.abs(clock.now() - this.#takenAt) >= settings.checkIntervalMs
  }

  async take(): Promise<void> {
    const { settings, store, clock } = this.#parts
    const counts = await store.counts()
    this.#takenAt = clock.now()
    const isAnyHeld = counts.some(
      ({ state, count }) => count > 0 && (state === 'running' || state === 'paused'),
    )
    if (isAnyHeld) this.held()
    else this.#isAnyHeld = false
    await this.#readRules()
    const found = settings.queues ? Object.keys(settings.queues) : counts.map(one => one.queue)
    this.#queues = [...new Set(found)].sort()
  }

  /** Less often than queues, which every hint puts in doubt. */
  async #readRules(): Promise<void> {
    const { settings, store, clock } = this.#parts
    const now = clock.now()
    if (Math.abs(now - this.#rulesReadAt) < settings.checkIntervalMs) return
    this.#rulesReadAt = now
    this.#isRuled = (await store.listRecords(LANE_KIND, { limit: 1 }, now)).items.length > 0
    await this.#tenants.survey(store, now)
  }

  /** Something is held, or may be by now. Only news is told: under load it would never end. */
  held(): void {
    if (this.#isAnyHeld) return
    this.#isAnyHeld = true
    this.#onHeld()
  }

  /** Someone wrote to the store: nothing known of it is sure any more. */
  doubt(): void {
    this.#takenAt = -Infinity
  }

  /** Jobs came into these queues. */
  add(queues: readonly string[]): void {
    if (this.#parts.settings.queues !== null) return
    const unknown = queues.filter(queue => !this.#queues.includes(queue))
    if (unknown.length > 0) this.#queues = [...new Set([...this.#queues, ...unknown])].sort()
  }
}
