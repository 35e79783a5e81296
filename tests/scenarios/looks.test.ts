// How often a node looks at its store: when something falls due, and not once more for every run.

import { expect, test } from 'vitest'
import { completeSpec } from '../../src/core/spec.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import type { ClaimRequest, Store } from '../../src/store/port.ts'
import { makeWorld } from '../support/world.ts'

const quiet = { checkIntervalMs: HOUR, metricsMs: HOUR, pruneMs: HOUR, idleReapMs: HOUR }

/** Jobs that run every minute, their seconds apart, on a node that does nothing else. */
async function watched(seconds: readonly number[], settings: object) {
  const looks: number[] = []
  const reaps: number[] = []
  const claim = async (store: Store, request: ClaimRequest) => {
    const jobs = await store.claim(request)
    looks.push(jobs.length)
    return jobs
  }
  const seen = (store: Store) =>
    new Proxy(store, {
      get(target, name) {
        if (name === 'claim') return (request: ClaimRequest) => claim(target, request)
        if (name === 'overdue') reaps.push(world.clock.now() - began)
        const value = Reflect.get(target, name) as unknown
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  const world = await makeWorld({
    at: '2026-01-05T12:00:00Z',
    settings: { ...quiet, ...settings },
    wrap: seen,
  })
  const began = world.clock.now()
  await world.node('n1', () => {})
  for (const [i, second] of seconds.entries()) {
    const anchor = world.clock.now() + second * 1_000
    const trigger = { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor } as const
    await world.create(`j${i}`, completeSpec({ handler: 'work', trigger }))
  }
  looks.length = 0
  reaps.length = 0
  return { world, looks, reaps }
}

test('a run costs one look, and a job settled sooner than the next is due is not slept past', async () => {
  const { world, looks } = await watched([10, 30], {})
  await world.advance('10m')
  expect(world.runs).toHaveLength(20)
  expect(looks).toEqual(Array.from({ length: 20 }, () => 1))
})

test('those due after several at a time start at their own times: no claim waits for company', async () => {
  const apart = [10, 10, 10.001, 10.002, 10.003, 10.004]
  const { world, looks } = await watched(apart, {})
  await world.advance('15s')
  const startedAt = world.runs.map(run => run.at % MINUTE)
  expect(startedAt).toEqual([10_000, 10_000, 10_001, 10_002, 10_003, 10_004])
  expect(looks).toEqual([2, 1, 1, 1, 1])
})

test('one by one, each goes at once', async () => {
  const apart = [10, 10.001, 10.002, 10.003]
  const { world, looks } = await watched(apart, {})
  await world.advance('15s')
  expect(world.runs.map(run => run.at % MINUTE)).toEqual([10_000, 10_001, 10_002, 10_003])
  expect(looks).toEqual([1, 1, 1, 1])
})

test('an outcome after several at a time is written when its handler ends, not in company', async () => {
  const { world } = await watched([10, 10, 10.002], {})
  const writtenAt: number[] = []
  world.nodes[0]!.events.on('settled', ({ settled }) => {
    for (const _ of settled) writtenAt.push(world.clock.now() % MINUTE)
  })
  await world.advance('15s')
  expect(writtenAt).toEqual([10_000, 10_000, 10_002])
})

test('a job that is due later costs no look until then', async () => {
  const { world, looks } = await watched([], {})
  const trigger = { kind: 'once', at: world.clock.now() + MINUTE } as const
  await world.create('later', completeSpec({ handler: 'work', trigger }))
  await world.advance('59s')
  expect(looks).toEqual([])
  await world.advance('2s')
  expect(looks).toEqual([1])
})

test('leases are looked after once somebody may hold one, not when a job is only there', async () => {
  const { world, reaps } = await watched([30], { reapMs: 5_000, idleReapMs: 15_000 })
  await world.advance('29s')
  expect(reaps).toEqual([15_000])
  await world.advance('8s')
  // Its run at 30 s was a lease, and the look before it is not waited for.
  expect(reaps).toEqual([15_000, 35_000])
})
