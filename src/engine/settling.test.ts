// Outcomes on their way to a store that falters: each is told of once, as what it became.

import { expect, test } from 'vitest'
import { systemIds } from '../compose.ts'
import type { Change } from '../core/change.ts'
import { SchedulerError } from '../core/errors.ts'
import type { NewJob } from '../core/job.ts'
import { completeSpec } from '../core/spec.ts'
import { MemoryStore } from '../store/memory/store.ts'
import type { AttemptFilter, InsertOptions, PageRequest } from '../store/store.ts'
import { systemClock } from './clock.ts'
import { createEngine } from './engine.ts'

const away = () => new SchedulerError('STORE_UNAVAILABLE', 'away')

/** Writes the first batch and loses the answer; then is away again in the middle of the search. */
class Faltering extends MemoryStore {
  isReplyLost = false
  searches = 0

  override async commit(changes: readonly Change[], options: InsertOptions) {
    const results = await super.commit(changes, options)
    if (this.isReplyLost) return results
    this.isReplyLost = true
    throw away()
  }

  override async attempts(filter: AttemptFilter, page: PageRequest) {
    this.searches++
    if (this.searches === 2) throw away()
    return super.attempts(filter, page)
  }
}

test('an outcome found after a lost answer is told of once, though the search is cut off', async () => {
  const store = new Faltering(() => systemClock.now())
  const ids = systemIds()
  const engine = createEngine({ store, clock: systemClock, ids, settings: { nodeId: 'n' } })
  await store.open()
  const spec = completeSpec({ handler: 'h', trigger: { kind: 'once', at: systemClock.now() } })
  const made = Array.from({ length: 3 }, (): NewJob => ({
    id: ids.next(systemClock.now()),
    kind: 'task',
    spec,
  }))
  await engine.client.create(made)
  engine.handlers.set('h', () => {})
  const told: string[] = []
  const all = new Promise<void>(resolve => {
    engine.events.on('settled', ({ settled }) => {
      told.push(...settled.map(({ job }) => job.id))
      if (new Set(told).size === made.length) resolve()
    })
  })
  await engine.node.start()
  await all
  await engine.node.stop()
  expect(store.searches).toBeGreaterThan(2)
  expect(told.sort()).toEqual(made.map(job => job.id).sort())
})
