// Random histories through this store and the memory store: the same answers call by call, and
// counted numbers that are always the true ones.

import fc from 'fast-check'
import { assert, expect, it } from 'vitest'
import {
  T0,
  claimRequest,
  everyMinute,
  failed,
  job,
  succeeded,
} from '../../../../tests/support/builders.ts'
import { begin } from '../../../core/run/begin.ts'
import type { Change } from '../../../core/change.ts'
import type { Job } from '../../../core/job.ts'
import { pauseJob, resumeJob } from '../../../core/control/pause.ts'
import { settle } from '../../../core/run/settle.ts'
import { DAY, MINUTE } from '../../../core/time.ts'
import { MemoryStore } from '../../memory/store.ts'
import type { Store } from '../../port.ts'
import { SqliteStore } from './store.ts'

type Step =
  | { kind: 'insert'; ids: number[]; isTask: boolean; max: number | null }
  | { kind: 'claim'; limit: number; handlers: number[] }
  | { kind: 'settle'; how: number }
  | { kind: 'remove'; id: number }
  | { kind: 'pause'; id: number }
  | { kind: 'prune'; max: number }
  | { kind: 'wait'; minutes: number }

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('insert' as const),
      ids: fc.array(fc.nat(40), { maxLength: 6 }),
      isTask: fc.boolean(),
      max: fc.option(fc.nat(20)),
    }),
    fc.record({
      kind: fc.constant('claim' as const),
      limit: fc.integer({ min: 1, max: 8 }),
      handlers: fc.subarray([0, 1, 2], { minLength: 1 }),
    }),
    fc.record({ kind: fc.constant('settle' as const), how: fc.nat(5) }),
    fc.record({ kind: fc.constant('remove' as const), id: fc.nat(40) }),
    fc.record({ kind: fc.constant('pause' as const), id: fc.nat(40) }),
    fc.record({ kind: fc.constant('prune' as const), max: fc.nat(10) }),
    fc.record({ kind: fc.constant('wait' as const), minutes: fc.nat(3_000) }),
  ),
  { minLength: 5, maxLength: 60 },
)

function jobFor(id: number, isTask: boolean, now: number): Job {
  const made = job(`job-${id}`, {
    ...(isTask ? { trigger: { kind: 'once', at: now + (id % 3) * MINUTE } } : everyMinute),
    handler: `h${id % 3}`,
    lane: `lane-${id % 5}`,
  })
  return { ...made, kind: isTask ? 'task' : 'job' }
}

/** One history on two stores; every answer is compared on the way. */
class Pair {
  readonly #stores: readonly Store[]
  #now = T0
  #held: Job[] = []

  constructor(stores: readonly Store[]) {
    this.#stores = stores
  }

  async #both<T>(call: (store: Store) => Promise<T>): Promise<T> {
    const [expected, given] = await Promise.all(this.#stores.map(call))
    assert.deepEqual(given, expected)
    return expected!
  }

  async take(step: Step): Promise<void> {
    const now = this.#now
    switch (step.kind) {
      case 'insert': {
        const jobs = step.ids.map(id => jobFor(id, step.isTask, now))
        await this.#both(store => store.insert(jobs, { now, waitingMax: step.max }))
        return
      }
      case 'claim': {
        const handlers = step.handlers.map(id => `h${id}`)
        const request = claimRequest({ now, limit: step.limit, handlers })
        this.#held.push(...(await this.#both(store => store.claim(request))))
        return
      }
      case 'settle': {
        const changes = this.#held.splice(0, 5).map(held => this.#settled(held, step.how))
        await this.#both(store => store.commit(changes, { now }))
        return
      }
      case 'remove':
        await this.#both(store => store.remove([`job-${step.id}`]))
        return
      case 'pause':
        await this.#pause(`job-${step.id}`)
        return
      case 'prune':
        await this.#both(store => store.prune({ now, limit: 1_000, endedTasksMax: step.max }))
        return
      case 'wait':
        this.#now += step.minutes * MINUTE
    }
  }

  #settled(held: Job, how: number): Change {
    const started = begin(held, this.#now)
    if (started.change) return started.change
    const outcomes = [succeeded, failed(), failed({ final: true }), { kind: 'released' } as const]
    const outcome = outcomes[how] ?? { kind: 'abandoned' as const }
    return settle(held, { outcome, startedAt: held.lease!.claimedAt }, this.#now)
  }

  async #pause(id: string): Promise<void> {
    const [held] = await this.#both(store => store.get([id]))
    if (!held || held.spec.trigger.kind === 'once' || held.waitingFor === 'retry') return
    if (held.state !== 'waiting' && held.state !== 'paused') return
    const change =
      held.state === 'waiting'
        ? pauseJob(held, { until: this.#now + DAY, note: 'a while' }, this.#now)
        : resumeJob(held, this.#now)
    await this.#both(store => store.commit([change], { now: this.#now }))
  }

  async compareAll(): Promise<void> {
    const now = this.#now
    const { items } = await this.#both(store => store.list({}, { limit: 100 }))
    const lines = [0, 1, 2].map(id => ({ queue: 'default', handler: `h${id}` }))
    await this.#both(store => store.nextDueAt(lines))
    await this.#both(store => store.overdue({ now, limit: 100 }))
    await this.#both(store => store.attempts({}, { limit: 1_000 }))
    await this.#both(async store =>
      (await store.counts())
        .map(c => [c.queue, c.handler, c.kind, c.state, c.count, c.pruned].join())
        .sort(),
    )
    for (const { id } of items) {
      await this.#both(store => store.ledger(id, { limit: 1_000 }))
    }
  }
}

it('answers like the memory store and counts truly', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async history => {
      const store = new SqliteStore({ path: ':memory:', clock: () => T0 })
      const memory = new MemoryStore(() => T0)
      await store.open()
      await memory.open()
      const pair = new Pair([memory, store])
      for (const step of history) {
        await pair.take(step)
        expect(await store.verify()).toEqual([])
      }
      await pair.compareAll()
      await store.close()
    }),
    { numRuns: 150 },
  )
})
