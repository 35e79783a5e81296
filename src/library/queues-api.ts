// `scheduler.queues`: hold a whole queue back, and see what is in each.

import { refuse } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import { limits } from '../core/limits.ts'
import type { Engine } from '../create-engine.ts'
import type { Count } from '../store/port.ts'

export class QueuesApi {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Nothing of the queue is started any more, on any node; what runs goes on. */
  pause(queue: string): Promise<void> {
    return this.#set(queue, true)
  }

  resume(queue: string): Promise<void> {
    return this.#set(queue, false)
  }

  paused(): Promise<string[]> {
    return this.#engine.store.pausedQueues()
  }

  /** How many jobs of each queue, handler, kind and state there are. */
  counts(): Promise<Count[]> {
    return this.#engine.store.counts()
  }

  async #set(queue: string, isPaused: boolean): Promise<void> {
    const found = new Findings()
    found.text('queue', queue, limits.nameLength)
    refuse('SPEC_INVALID', 'the queue is not valid', found.problems)
    await this.#engine.store.setQueuePaused(queue, isPaused)
    this.#engine.node.onChanged([queue])
  }
}
