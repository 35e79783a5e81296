// D9: what alerts people: it comes when its limit is passed, not before, once, and goes when all is
// well again.

import { expect, onTestFinished, test } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { completeSpec } from '../../src/core/spec.ts'
import { MINUTE, SECOND, type Millis } from '../../src/core/time.ts'
import { createEngine, type Engine } from '../../src/create-engine.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import { alertDefaults, type Condition } from '../../src/service/alerts/conditions.ts'
import { AlertSender } from '../../src/service/alerts/sender.ts'
import { AlertWatch } from '../../src/service/alerts/watch.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import type { Store } from '../../src/store/port.ts'
import { trackedStore } from '../../src/testing/tracked.ts'
import { moment, WorldClock } from '../support/world-parts.ts'

/** How often the node, the store and the jobs are looked at. */
const CHECK_MS = 10 * SECOND

interface Scene {
  readonly clock: WorldClock
  readonly engine: Engine
  /** What people were told, with the time since the scene was broken or mended. */
  readonly told: { readonly type: string; readonly condition: string; readonly afterMs: Millis }[]
  /** Which calls of the store fail: none, claims, or all. */
  failing: 'none' | 'claim' | 'all'
  mark(): void
  advance(ms: Millis): Promise<void>
}

function breakable(store: Store, failing: () => Scene['failing']): Store {
  const fails = (name: string | symbol) =>
    failing() === 'all' || (failing() === 'claim' && name === 'claim')
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (name === 'listen' || !fails(name)) return Reflect.apply(member, target, args) as unknown
        return Promise.reject(new SchedulerError('STORE_UNAVAILABLE', 'broken by a test'))
      }
    },
  })
}

async function scene(condition: Condition): Promise<Scene> {
  const clock = new WorldClock(moment('2026-01-05T12:00:00Z'))
  const inner = new MemoryStore(() => clock.now())
  await inner.open()
  let since = clock.now()
  const made: Scene = {
    clock,
    engine: createEngine({
      store: trackedStore(
        breakable(inner, () => made.failing),
        clock,
      ).store,
      clock,
      ids: new SystemIds(),
      settings: { nodeId: 'n1', checkIntervalMs: 10_000 },
    }),
    told: [],
    failing: 'none',
    mark: () => (since = clock.now()),
    advance: async ms => clock.advanceTo(clock.now() + ms),
  }
  const { engine, told } = made
  const sender = new AlertSender({
    clock,
    log: null,
    post: async ({ type, data }) => {
      told.push({ type, condition: data['condition'] as string, afterMs: clock.now() - since })
      return { kind: 'done' }
    },
  })
  // The others look at the same faults: each has a scene of its own.
  const limits = Object.fromEntries(
    Object.entries(alertDefaults).map(([name, limit]) => [name, name === condition ? limit : null]),
  ) as typeof alertDefaults
  const watch = new AlertWatch({ engine, limits, sender, cleared: async () => 0 })
  onTestFinished(async () => {
    engine.node.crash()
    await watch.stop()
    await sender.stop()
  })
  engine.handlers.set('work', () => null)
  const often = { kind: 'interval', everyMs: 10_000, from: 'schedule', anchor: null } as const
  const spec = completeSpec({ handler: 'work', trigger: often })
  await engine.client.create([{ id: 'j', spec }])
  watch.start()
  return made
}

async function started({ engine, clock }: Scene): Promise<void> {
  const starting = engine.node.start()
  await clock.settle()
  await starting
}

interface Story {
  readonly breaks: (scene: Scene) => unknown
  readonly mends: (scene: Scene) => unknown
  /** Told after more than, and at most. */
  readonly raised: readonly [Millis, Millis]
  readonly clearedBy: Millis
}

const outage = (failing: Scene['failing']): Pick<Story, 'breaks' | 'mends'> => ({
  breaks: place => (place.failing = failing),
  mends: place => (place.failing = 'none'),
})

const stories: Partial<Record<Condition, Story>> = {
  store_down: {
    ...outage('all'),
    raised: [30 * SECOND, 30 * SECOND + 2 * CHECK_MS],
    clearedBy: CHECK_MS,
  },
  claims_failing: {
    ...outage('claim'),
    raised: [0, MINUTE + CHECK_MS],
    clearedBy: MINUTE + CHECK_MS,
  },
  error_rate: {
    ...outage('claim'),
    raised: [0, MINUTE],
    clearedBy: 5 * MINUTE + CHECK_MS,
  },
  processing_delay: {
    breaks: ({ engine }) => engine.node.crash(),
    mends: async place => {
      const { engine, clock } = place
      const due = await engine.store.get(['j'])
      expect(clock.now() - due[0]!.dueAt!).toBeGreaterThan(MINUTE)
      await engine.client.cancel('j', 'nobody is there to run it')
    },
    raised: [MINUTE, MINUTE + 2 * CHECK_MS],
    clearedBy: CHECK_MS,
  },
}

test.each(Object.keys(stories) as Condition[])(
  'D9: %s is told once when it begins and once when it is over',
  async condition => {
    const { breaks, mends, raised, clearedBy } = stories[condition]!
    const place = await scene(condition)
    await started(place)
    await place.advance(10 * MINUTE)
    expect(place.told).toEqual([])
    place.mark()
    await breaks(place)
    await place.advance(10 * MINUTE)
    expect(place.told).toMatchObject([{ type: 'alert.raised', condition }])
    expect(place.told[0]!.afterMs).toBeGreaterThan(raised[0])
    expect(place.told[0]!.afterMs).toBeLessThanOrEqual(raised[1])
    place.mark()
    await mends(place)
    await place.advance(20 * MINUTE)
    expect(place.told.slice(1)).toMatchObject([{ type: 'alert.cleared', condition }])
    expect(place.told[1]!.afterMs).toBeLessThanOrEqual(clearedBy)
  },
)

test.each(['store_down', 'processing_delay'] as const)(
  'D9: %s says nothing of what is over before its limit',
  async condition => {
    const place = await scene(condition)
    await started(place)
    await place.advance(MINUTE)
    place.failing = condition === 'store_down' ? 'all' : 'claim'
    await place.advance(25 * SECOND)
    place.failing = 'none'
    await place.advance(10 * MINUTE)
    expect(place.told).toEqual([])
  },
)
