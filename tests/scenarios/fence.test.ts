// A store that accepts calls and never answers: nobody waits for it beyond a lease.

import { expect, test } from 'vitest'
import { createEngine } from '../../src/create-engine.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import type { Store } from '../../src/store/port.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { systemIds } from '../../src/compose.ts'
import { T0 } from '../support/builders.ts'
import { gate } from '../support/scripted.ts'
import { specB } from '../support/systems.ts'

/** Renewals hang until they are let go; then they fail. Everything else works. */
function hanging(store: Store): { store: Store; letGo: () => void } {
  const waiting: (() => void)[] = []
  const renew = () =>
    new Promise<never>((_, reject) => waiting.push(() => reject(new Error('no answer'))))
  const proxy = new Proxy(store, {
    get: (target, name) => {
      if (name === 'renew') return renew
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { store: proxy, letGo: () => waiting.splice(0).forEach(fail => fail()) }
}

test('inv-E6: renewals without an answer hold no handler beyond its lease', async () => {
  const clock = new VirtualClock(T0)
  const memory = new MemoryStore(() => clock.now())
  await memory.open()
  const { store, letGo } = hanging(memory)
  const settings = { nodeId: 'n1' }
  const engine = createEngine({ store, clock, ids: systemIds(), settings })
  const door = gate()
  let calls = 0
  engine.handlers.set('crawl', context => (++calls === 1 ? door.handler(context) : null))
  const lost: string[] = []
  engine.events.on('leaseLost', ({ reason }) => lost.push(reason))
  await engine.client.create([{ id: 'j', spec: { ...specB({ at: T0 }), handler: 'crawl' } }])
  await engine.node.start()
  await clock.advance(500)
  const { until } = (await engine.client.get('j')).lease!
  await clock.advanceTo(until - 1)
  expect(door.aborts).toEqual(['lease-lost'])
  await clock.advance(30_000)
  // Stopped before the lease was over, the run was still its own to settle.
  const { items } = await store.attempts({ jobId: 'j' }, { limit: 9, newestFirst: false })
  expect(items.map(row => row.outcome)).toEqual(['interrupted', 'succeeded'])
  expect(lost).toEqual([])
  letGo()
  const stopping = engine.node.stop()
  await clock.advance(60_000)
  await stopping
})
