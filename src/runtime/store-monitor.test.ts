// When the store calls of a node count as on time.

import { expect, test } from 'vitest'
import type { Store } from '../store/port.ts'
import { StoreMonitor } from './store-monitor.ts'

function monitored(leaseMs: number) {
  let now = 0
  let answer: () => void = () => {}
  const monitor = new StoreMonitor({ monotonic: () => now }, leaseMs)
  const inner = { now: () => new Promise<number>(resolve => (answer = () => resolve(0))) }
  const store = monitor.watch(inner as unknown as Store)
  const call = async (tookMs: number) => {
    const called = store.now()
    now += tookMs
    answer()
    await called
  }
  return { monitor, store, call, pass: (ms: number) => (now += ms) }
}

test('a node whose calls were never late is on time since its start', async () => {
  const { monitor, call, pass } = monitored(15_000)
  expect(monitor).toMatchObject({ onTimeMs: 0, isOnTimeSinceStart: false })
  await call(10)
  pass(90)
  expect(monitor).toMatchObject({ onTimeMs: 100, isOnTimeSinceStart: true })
})

test('a late call starts the count again from its end', async () => {
  const { monitor, call, pass } = monitored(15_000)
  await call(5_001)
  pass(1_000)
  expect(monitor).toMatchObject({ onTimeMs: 1_000, isOnTimeSinceStart: false })
})

test('a call under way beyond the limit is late before it ends', async () => {
  const { monitor, store, call, pass } = monitored(15_000)
  await call(10)
  void store.now()
  pass(5_000)
  expect(monitor.isOnTimeSinceStart).toBe(true)
  pass(1)
  expect(monitor).toMatchObject({ onTimeMs: 0, isOnTimeSinceStart: false, openMs: 5_001 })
})
