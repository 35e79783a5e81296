// Goes through an operation in bounded batches, tells how far it is, and gives way in between.

import type { Engine } from '../../../create-engine.ts'
import { problemOf } from '../call/refusal.ts'
import type { BulkBody } from './body.ts'
import { FAILURES_KEPT, load, save, type Failure, type Operation } from './operation.ts'
import { act, endsAll, type Doer } from './targets.ts'

const BATCH = 25
/** Operations of one tenant that this process works on at the same time. */
const AT_ONCE_MAX = 4

export interface Work {
  readonly operation: Operation
  readonly ids: readonly string[]
  readonly body: BulkBody
  readonly doer: Doer
}

export class BulkWorker {
  readonly #engine: Engine
  readonly #running = new Map<Promise<void>, string>()
  #isClosing = false

  constructor(engine: Engine) {
    this.#engine = engine
  }

  hasRoom(tenant: string): boolean {
    const own = [...this.#running.values()].filter(one => one === tenant)
    return own.length < AT_ONCE_MAX && !this.#isClosing
  }

  /** Nobody waits for it: what becomes of it is in its record. */
  start(work: Work): void {
    const running = this.#go(work)
      .catch((error: unknown) => {
        this.#engine.events.emit('error', { kind: 'store', error, during: 'bulk operation' })
      })
      .finally(() => this.#running.delete(running))
    this.#running.set(running, work.operation.tenant)
  }

  /** Batches under way are finished, the rest is left. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#running.keys())
  }

  async #go({ operation, ids, body, doer }: Work): Promise<void> {
    const { clock } = this.#engine
    const failures: Failure[] = []
    let failed = 0
    let state: Operation['state'] = 'running'
    let next = 0
    while (state === 'running') {
      const batch = ids.slice(next, next + BATCH)
      for (const id of batch) {
        next++
        try {
          await act(doer, body, id)
        } catch (error) {
          failed++
          if (failures.length < FAILURES_KEPT) failures.push(failureOf(id, error))
          if (!endsAll(error)) continue
          state = 'interrupted'
          break
        }
      }
      if (state === 'running' && next >= ids.length) state = 'done'
      if (state === 'running' && this.#isClosing) state = 'interrupted'
      state = await this.#tell({ ...operation, state, done: next, failed, failures })
      await new Promise<void>(resolve => clock.soon(resolve))
    }
  }

  /** A wish to stop was written by someone else, so it is found when ours is refused. */
  async #tell(now: Operation): Promise<Operation['state']> {
    const { clock } = this.#engine
    for (;;) {
      const held = await load(this.#engine, now.id)
      if (held === null) return 'stopped'
      const isStopped = held.operation.isStopAsked && now.state === 'running'
      const state = isStopped ? 'stopped' : now.state
      const at = clock.now()
      const told: Operation = {
        ...now,
        state,
        isStopAsked: held.operation.isStopAsked,
        updatedAt: at,
        finishedAt: state === 'running' ? null : at,
      }
      if (await save(this.#engine, told, held.version)) return state
    }
  }
}

function failureOf(id: string, error: unknown): Failure {
  const { slug, message } = problemOf(error, 'native')
  return { id, type: `/problems/${slug}`, detail: message }
}
