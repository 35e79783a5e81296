// When a running handler is told to stop: at its timeout, or when the next firing replaces its run.

import type { AbortReason } from '../core/attempt.ts'
import { supersededAt } from '../core/schedule/overlap.ts'
import type { Millis } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import { Deadlines } from '../runtime/deadlines.ts'
import type { ActiveAttempt } from './active-attempt.ts'

/** Who stops a handler; the runner. */
export interface Aborting {
  abort(attempt: ActiveAttempt, reason: AbortReason): void
}

export class TimeLimits {
  readonly #clock: Clock
  readonly #runner: Aborting
  readonly #deadlines: Deadlines
  #fresh: ActiveAttempt[] = []

  constructor(clock: Clock, runner: Aborting) {
    this.#clock = clock
    this.#runner = runner
    this.#deadlines = new Deadlines(clock)
  }

  /** Most handlers end before their time could be watched; only the others cost a deadline. */
  watch(attempt: ActiveAttempt): void {
    this.#fresh.push(attempt)
    if (this.#fresh.length > 1) return
    this.#clock.soon(() => {
      const fresh = this.#fresh
      this.#fresh = []
      for (const one of fresh) if (!one.isDone) this.#add(one)
    })
  }

  #add(attempt: ActiveAttempt): void {
    const { job, current, startedAt } = attempt
    const { timeoutMs } = job.spec
    const stop = (reason: AbortReason): void => {
      if (!attempt.isDone && attempt.phase === 'running') this.#runner.abort(attempt, reason)
    }
    if (timeoutMs !== null) this.#deadlines.add(startedAt + timeoutMs, () => stop('timeout'))
    const firing = supersededAt(job, current, startedAt)
    if (firing !== null) this.#deadlines.add(firing, () => stop('superseded'))
  }

  /** Once, unless all is cleared before. */
  after(ms: Millis, callback: () => void): void {
    this.#deadlines.add(this.#clock.now() + ms, callback)
  }

  clear(): void {
    this.#deadlines.clear()
  }
}
