// Outcomes on their way to the store: two calls at a time where it is another process, and each told
// of once, as what it became, though the store falters.

import { expect, test } from 'vitest'
import { systemIds } from '../compose.ts'
import type { Change } from '../core/change.ts'
import { SchedulerError } from '../core/errors.ts'
import type { NewJob } from '../core/job.ts'
import { completeSpec, specDefaults, type JobSpec } from '../core/spec.ts'
import { createEngine } from '../create-engine.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'
import { MemoryStore } from '../store/memory/store.ts'
import type { AttemptFilter, ClaimRequest, CommitOptions, PageRequest } from '../store/port.ts'
import type { Handler } from './handlers.ts'

const away = () => new SchedulerError('STORE_UNAVAILABLE', 'away')

/** Writes the first batch and loses the answer; then is away again in the middle of the search. */
class Faltering extends MemoryStore {
  isReplyLost = false
  searches = 0

  override async commit(changes: readonly Change[], options: CommitOptions) {
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

/** Answers a write when it is told to, as slowly as any network. */
class Aside extends MemoryStore {
  override readonly isRemote = true
  readonly underWay: (() => void)[] = []
  #called: (() => void) | null = null

  override async commit(changes: readonly Change[], options: CommitOptions) {
    await new Promise<void>(resolve => {
      this.underWay.push(resolve)
      this.#called?.()
    })
    return super.commit(changes, options)
  }

  async untilUnderWay(count: number): Promise<void> {
    while (this.underWay.length < count) {
      await new Promise<void>(resolve => (this.#called = resolve))
    }
  }
}

/** Tells what it was asked to do, and takes as long to claim as it is told. */
class Told extends MemoryStore {
  readonly calls: string[] = []
  claimMs = 0
  lateMs = 0

  override async claim(request: ClaimRequest) {
    this.calls.push('claim')
    this.lateMs += this.claimMs
    return super.claim(request)
  }

  override async commit(changes: readonly Change[], options: CommitOptions) {
    this.calls.push('commit')
    return super.commit(changes, options)
  }
}

/** Time passes only while claims are under way, so a slow machine changes nothing; timers are real. */
function claimClock(store: Told): Clock {
  const startedAt = systemClock.now()
  return {
    ...systemClock,
    now: () => startedAt + store.lateMs,
    monotonic: () => store.lateMs,
  }
}

interface Rig {
  readonly retention?: JobSpec['retention']
  readonly slots?: number
  readonly clock?: Clock
}

async function rig(store: MemoryStore, count: number, handler: Handler, given: Rig = {}) {
  const ids = systemIds()
  const { retention = specDefaults.retention, slots = 10_000, clock = systemClock } = given
  const engine = createEngine({ store, clock, ids, settings: { nodeId: 'n', slots } })
  await store.open()
  const trigger = { kind: 'once', at: clock.now() } as const
  const spec = completeSpec({ handler: 'h', trigger, retention })
  const made = Array.from({ length: count }, (): NewJob => ({
    id: ids.next(clock.now()),
    kind: 'task',
    spec,
  }))
  await engine.client.create(made)
  engine.handlers.set('h', handler)
  const told: string[] = []
  const all = new Promise<void>(resolve => {
    engine.events.on('settled', ({ settled }) => {
      told.push(...settled.map(({ job }) => job.id))
      if (new Set(told).size === made.length) resolve()
    })
  })
  await engine.node.start()
  return { engine, told, all, made: made.map(job => job.id).sort() }
}

test('a store in another process is given a second batch whenever one is under way', async () => {
  const store = new Aside(() => systemClock.now())
  const inside: (() => void)[] = []
  const handler = () => new Promise<void>(resolve => inside.push(resolve))
  const { engine, told, all, made } = await rig(store, 1_000, handler)
  while (inside.length < made.length) await new Promise<void>(r => systemClock.soon(r))
  const end = (count: number) => inside.splice(0, count).forEach(resolve => resolve())
  end(100)
  await store.untilUnderWay(1)
  end(300)
  await store.untilUnderWay(2)
  // The writer that began first has nothing left to do; there is more when the next ones end.
  store.underWay.shift()!()
  while (told.length < 100) await new Promise<void>(r => systemClock.soon(r))
  end(600)
  await store.untilUnderWay(2)
  expect(store.underWay).toHaveLength(2)
  for (const answer of store.underWay) answer()
  await all
  await engine.node.stop()
  expect(told.sort()).toEqual(made)
})

test('an outcome found after a lost answer is told of once, though the search is cut off', async () => {
  const store = new Faltering(() => systemClock.now())
  const { engine, told, all, made } = await rig(store, 3, () => {})
  await all
  await engine.node.stop()
  expect(store.searches).toBeGreaterThan(2)
  expect(told.sort()).toEqual(made)
})

test('so is that of a one-off that keeps no attempts, which is known by its end', async () => {
  const store = new Faltering(() => systemClock.now())
  const nothing = { attempts: 0, ageMs: 0 }
  const { engine, told, all, made } = await rig(store, 3, () => {}, { retention: nothing })
  const lost: string[] = []
  engine.events.on('leaseLost', ({ reason }) => lost.push(reason))
  await all
  await engine.node.stop()
  expect(lost).toEqual([])
  expect(told.sort()).toEqual(made)
  expect((await store.attempts({}, { limit: 10 })).items).toEqual([])
})

const CROWD = 1_800
const SLOTS = 500

test('of a crowd, jobs start before others end', async () => {
  const store: Told = new Told(() => clock.now())
  const clock = claimClock(store)
  const { engine, all } = await rig(store, CROWD, () => {}, { slots: SLOTS, clock })
  await all
  await engine.node.stop()
  expect(store.calls.indexOf('commit')).toBe(Math.ceil(CROWD / SLOTS))
})

test('but no outcome waits long for those that start', async () => {
  const store: Told = new Told(() => clock.now())
  const clock = claimClock(store)
  store.claimMs = 150
  const { engine, all } = await rig(store, CROWD, () => {}, { slots: SLOTS, clock })
  await all
  await engine.node.stop()
  expect(store.calls.slice(0, 4)).toEqual(['claim', 'claim', 'claim', 'commit'])
})

test('and what was held back is written between looks, not before the next', async () => {
  const store: Told = new Told(() => clock.now())
  const clock = claimClock(store)
  store.claimMs = 150
  const { engine, all } = await rig(store, 8_000, () => {}, { slots: 1_500, clock })
  await all
  await engine.node.stop()
  const first = store.calls.indexOf('commit')
  expect(store.calls.slice(first, first + 3)).toEqual(['commit', 'claim', 'commit'])
})

/** Refuses one row in a way that says nothing of the store, as a driver does with what it cannot bind. */
class Choosy extends MemoryStore {
  refused = ''
  readonly outcomes = new Map<string, Change['attempt']>()

  override async commit(changes: readonly Change[], options: CommitOptions) {
    const isPoisoned = ({ job, attempt }: Change) =>
      job.id === this.refused && attempt?.outcome === 'succeeded'
    if (changes.some(isPoisoned)) throw new TypeError('cannot bind the value')
    for (const { job, attempt } of changes) if (attempt) this.outcomes.set(job.id, attempt)
    return super.commit(changes, options)
  }
}

test('an outcome that cannot be stored fails its run, and those beside it are stored', async () => {
  const store = new Choosy(() => systemClock.now())
  const { engine, all, made } = await rig(store, 40, ({ job }) => {
    store.refused ||= job.id
  })
  await all
  await engine.node.stop()
  const others = made.filter(id => id !== store.refused)
  expect(others).toHaveLength(39)
  expect(new Set(others.map(id => store.outcomes.get(id)?.outcome))).toEqual(new Set(['succeeded']))
  expect(store.outcomes.get(store.refused)!.outcome).toBe('failed')
  expect(store.outcomes.get(store.refused)!.error!.message).toBe(
    'its outcome cannot be stored: cannot bind the value',
  )
})
