// While a store in another process looks for more, this one begins what it has; it never holds
// more than it may, and loses nothing when it is stopped in between.

import { expect, test } from 'vitest'
import { systemIds } from '../compose.ts'
import type { NewJob } from '../core/job.ts'
import { completeSpec } from '../core/spec.ts'
import { createEngine } from '../create-engine.ts'
import { systemClock } from '../runtime/clock.ts'
import { MemoryStore } from '../store/memory/store.ts'
import type { ClaimRequest } from '../store/port.ts'

class Aside extends MemoryStore {
  override readonly isRemote = true
  override readonly claimsAtOnce = 2
  readonly deeds: string[] = []
  /** Which claim, counted from one, is to fail. */
  failsAt = 0
  /** How long a question takes to leave, as one that gets a connection from a pool first. */
  leaves: () => Promise<void> = async () => {}
  #claims = 0

  override async claim(request: ClaimRequest) {
    await this.leaves()
    this.deeds.push('claim')
    if (++this.#claims === this.failsAt) throw new Error('out of reach')
    // As over a network, the answer comes in a later turn of the loop.
    await new Promise<void>(resolve => systemClock.soon(resolve))
    return super.claim(request)
  }
}

async function rig(store: Aside, count: number) {
  const ids = systemIds()
  const settings = { nodeId: 'n', slots: 10, queues: { default: { buffer: 990 } } }
  const engine = createEngine({ store, clock: systemClock, ids, settings })
  await store.open()
  const spec = completeSpec({ handler: 'h', trigger: { kind: 'once', at: systemClock.now() } })
  const made = Array.from({ length: count }, (): NewJob => ({
    id: ids.next(systemClock.now()),
    kind: 'task',
    spec,
  }))
  await engine.client.create(made)
  return { engine, ids: made.map(job => job.id) }
}

const atOnce = async () => {}
const byPool = () => new Promise<void>(resolve => process.nextTick(resolve))

test.each([
  ['at once', atOnce],
  ['by a pool', byPool],
])(
  'the next claims left %s before jobs of the last start, a third of the room each',
  async (_, leaves) => {
    const store = new Aside(() => systemClock.now())
    store.leaves = leaves
    const { engine, ids } = await rig(store, 2_000)
    const claimed: number[] = []
    engine.events.on('claimed', ({ jobs }) => claimed.push(jobs.length))
    const all = new Promise<void>(resolve => {
      let ran = 0
      engine.handlers.set('h', async () => {
        store.deeds.push('run')
        if (++ran === ids.length) resolve()
      })
    })
    await engine.node.start()
    await all
    await engine.node.stop()
    expect(store.deeds.slice(0, 4)).toEqual(['claim', 'claim', 'claim', 'run'])
    expect(Math.max(...claimed)).toBe(334)
    const jobs = await store.get(ids)
    expect(new Set(jobs.map(job => job.state))).toEqual(new Set(['completed']))
  },
)

test('what arrived but has not begun is given back at a stop, no attempt spent', async () => {
  const store = new Aside(() => systemClock.now())
  const { engine, ids } = await rig(store, 2_000)
  engine.handlers.set('h', async () => {})
  const claimed = new Promise<void>(resolve => engine.events.on('claimed', () => resolve()))
  await engine.node.start()
  await claimed
  await engine.node.stop()
  const jobs = await store.get(ids)
  expect(jobs.filter(job => job.state === 'running')).toEqual([])
  const left = jobs.filter(job => job.state === 'waiting')
  expect(left.length).toBeGreaterThan(0)
  expect(left.every(job => job.counters.attempts === 0)).toBe(true)
})

test('what came of a claim behind one that failed is begun, and nothing is held twice', async () => {
  const store = new Aside(() => systemClock.now())
  // The first is alone; the second and the third go out together.
  store.failsAt = 2
  const { engine, ids } = await rig(store, 2_000)
  const errors: string[] = []
  engine.events.on('error', ({ during }) => errors.push(during))
  const runs = new Map<string, number>()
  const all = new Promise<void>(resolve => {
    engine.handlers.set('h', async ({ job }) => {
      runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
      if (runs.size === ids.length) resolve()
    })
  })
  await engine.node.start()
  await all
  await engine.node.stop()
  expect(errors).toEqual(['tick'])
  expect(new Set(runs.values())).toEqual(new Set([1]))
  const jobs = await store.get(ids)
  expect(jobs.every(job => job.state === 'completed' && job.counters.attempts === 1)).toBe(true)
})

/** Tells in which order it was asked. */
class Asked extends MemoryStore {
  readonly calls: string[] = []

  override async claim(request: ClaimRequest) {
    const jobs = await super.claim(request)
    this.calls.push(`claim ${jobs.length} of ${request.queue}`)
    return jobs
  }

  override async counts(filter: { readonly tenant?: string } = {}) {
    this.calls.push('counts')
    return super.counts(filter)
  }
}

test('after a write of another process known queues are claimed from before queues are read', async () => {
  const store = new Asked(() => systemClock.now())
  await store.open()
  const ids = systemIds()
  const settings = { nodeId: 'n', checkIntervalMs: 60_000 }
  const engine = createEngine({ store, clock: systemClock, ids, settings })
  const ran: string[] = []
  engine.handlers.set('h', ({ job }) => void ran.push(job.id))
  const other = createEngine({ store, clock: systemClock, ids, settings: { nodeId: 'other' } })
  const write = async (id: string, queue: string) => {
    const trigger = { kind: 'once', at: systemClock.now() } as const
    await other.client.create([
      { id, kind: 'task', spec: completeSpec({ handler: 'h', queue, trigger }) },
    ])
    store.calls.length = 0
    engine.node.onExternalWrite()
    while (!ran.includes(id)) await new Promise<void>(resolve => systemClock.soon(resolve))
  }
  await engine.node.start()
  await write('first', 'a')
  expect(store.calls.slice(0, 2)).toEqual(['counts', 'claim 1 of a'])
  await write('second', 'a')
  expect(store.calls[0]).toBe('claim 1 of a')
  await write('third', 'b')
  expect(store.calls).toContain('claim 1 of b')
  await engine.node.stop()
})
