// What is wrong with this node right now, in one place: /readyz, /attention and the log read it.
// Whoever finds a problem raises it under a code; raising it again is silent until it is cleared.

import type { Trouble, TroubleReport } from '../core/alerts/trouble.ts'
import type { Millis } from '../core/time.ts'
import type { Clock } from './clock.ts'
import type { Events } from './events.ts'

export class Troubles {
  readonly #clock: Pick<Clock, 'now'>
  readonly #events: Events
  readonly #byCode = new Map<string, Trouble>()

  constructor(clock: Pick<Clock, 'now'>, events: Events) {
    this.#clock = clock
    this.#events = events
  }

  /** Oldest first. */
  get list(): readonly Trouble[] {
    return [...this.#byCode.values()]
  }

  get isBlocked(): boolean {
    return this.list.some(trouble => trouble.isBlocking)
  }

  has(code: string): boolean {
    return this.#byCode.has(code)
  }

  /** Begins an episode, or replaces the report of the one under way without telling it again. */
  raise(report: TroubleReport): void {
    const open = this.#byCode.get(report.code)
    const trouble: Trouble = { ...report, since: open?.since ?? this.#clock.now() }
    this.#byCode.set(report.code, trouble)
    if (!open) this.#events.emit('troubled', { trouble })
  }

  /** Ends the episode, if there is one. */
  clear(code: string): void {
    const trouble = this.#byCode.get(code)
    if (!trouble) return
    this.#byCode.delete(code)
    const afterMs: Millis = Math.max(0, this.#clock.now() - trouble.since)
    this.#events.emit('troubleOver', { trouble, afterMs })
  }
}
