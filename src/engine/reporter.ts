// Where the contexts of running handlers report to: listeners hear of it at once.

import type { Instant } from '../core/time.ts'
import type { LogLine } from '../store/port.ts'
import type { ActiveAttempt } from './active-attempt.ts'
import type { Reporter } from './context.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Parts } from './parts.ts'

export class AttemptReporter implements Reporter {
  readonly #parts: Parts
  readonly #heartbeat: Heartbeat

  constructor(parts: Parts, heartbeat: Heartbeat) {
    this.#parts = parts
    this.#heartbeat = heartbeat
  }

  now(): Instant {
    return this.#parts.clock.now()
  }

  beat(attempt: ActiveAttempt): Promise<boolean> {
    return this.#heartbeat.beatOne(attempt)
  }

  logged(attempt: ActiveAttempt, line: LogLine): void {
    const { events } = this.#parts
    if (events.isHeard('logged')) events.emit('logged', { job: attempt.job, line })
  }

  progressed({ job, pending }: ActiveAttempt): void {
    this.#parts.events.emit('progressed', { job, ...pending!.progress! })
  }
}
