// A job that its own process can start at once is claimed with its insert; whatever is not, or comes
// in between, is left to the loop, and nothing is started twice or left behind.

import { expect, test } from 'vitest'
import { systemIds } from '../compose.ts'
import { SchedulerError } from '../core/errors.ts'
import { LANE_KIND } from '../core/fairness/lane.ts'
import type { Job, NewJob } from '../core/job.ts'
import { completeSpec, type JobSpec } from '../core/spec.ts'
import { MINUTE } from '../core/time.ts'
import { createEngine, type Engine } from '../create-engine.ts'
import { systemClock } from '../runtime/clock.ts'
import { MemoryStore } from '../store/memory/store.ts'
import type { ClaimRequest, InsertOptions } from '../store/port.ts'
import type { Handler } from './handlers.ts'

/** Says what it was asked for; can hold an answer back, or lose it. */
class Told extends MemoryStore {
  readonly deeds: string[] = []
  answer: Promise<void> | null = null
  isReplyLost = false

  override async insert(jobs: readonly Job[], options: InsertOptions) {
    this.deeds.push(options.claim ? 'both' : 'insert')
    const answer = await super.insert(jobs, options)
    if (!options.claim) return answer
    await this.answer
    if (this.isReplyLost) throw new SchedulerError('STORE_UNAVAILABLE', 'away')
    return answer
  }

  override async claim(request: ClaimRequest) {
    const claimed = await super.claim(request)
    if (claimed.length > 0) this.deeds.push('claim')
    return claimed
  }
}

const settings = { nodeId: 'n', slots: 4, queues: { default: { buffer: 0 }, side: {} } }

async function rig(handler: Handler = () => {}) {
  const store = new Told(() => systemClock.now())
  await store.open()
  const engine = createEngine({ store, clock: systemClock, ids: systemIds(), settings })
  const ran: string[] = []
  engine.handlers.set('h', context => {
    ran.push(context.job.id)
    return handler(context)
  })
  await engine.node.start()
  await asleep(engine)
  return { store, engine, ran, ended: endings(engine) }
}

/** The loop has looked and found nothing more. */
async function asleep(engine: Engine): Promise<void> {
  while (!engine.wake.isAsleep) await new Promise<void>(resolve => systemClock.soon(resolve))
}

/** Resolves when so many outcomes have been written since the rig was made. */
function endings(engine: Engine): (count: number) => Promise<void> {
  let seen = 0
  let look = () => {}
  engine.events.on('settled', ({ settled }) => {
    seen += settled.length
    look()
  })
  return count =>
    new Promise(resolve => {
      look = () => {
        if (seen >= count) resolve()
      }
      look()
    })
}

function task(id: string, spec: Partial<JobSpec> = {}): NewJob {
  const trigger = { kind: 'once', at: systemClock.now() } as const
  return { id, kind: 'task', spec: completeSpec({ handler: 'h', trigger, ...spec }) }
}

test('a job is stored and claimed in one step, told of first, and started once', async () => {
  const { store, engine, ran, ended } = await rig()
  const heard: string[] = []
  engine.events.on('changed', () => heard.push('changed'))
  engine.events.on('claimed', () => heard.push('claimed'))
  engine.events.on('started', () => heard.push('started'))
  await engine.client.create([task('a')])
  await ended(1)
  expect(store.deeds).toEqual(['both'])
  expect(heard).toEqual(['changed', 'claimed', 'started'])
  expect(ran).toEqual(['a'])
  await engine.node.stop()
})

test.each<[string, NewJob[]]>([
  ['that is due later', [task('a', { trigger: { kind: 'once', at: systemClock.now() + MINUTE } })]],
  ['without a handler here', [task('a', { handler: 'elsewhere' })]],
  ['in a queue this node does not serve', [task('a', { queue: 'foreign' })]],
  ['of two queues', [task('a'), task('b', { queue: 'side' })]],
  ['of which there are more than slots', ['a', 'b', 'c', 'd', 'e'].map(id => task(id))],
])('a job %s is only stored', async (_, jobs) => {
  const { store, engine } = await rig()
  await engine.client.create(jobs)
  expect(store.deeds[0]).toBe('insert')
  await engine.node.stop()
})

test('nothing is claimed with an insert while lanes have rules, or on a node that is stopped', async () => {
  const { store, engine, ended } = await rig()
  const rule = { kind: LANE_KIND, key: 'a', value: { runningMax: 1 } }
  await store.putRecords([{ ...rule, expectedVersion: null, expireAt: null }], systemClock.now())
  engine.node.onLimitsSet()
  await asleep(engine)
  await engine.client.create([task('a', { lane: 'a' })])
  await ended(1)
  await engine.node.stop()
  await engine.client.create([task('b')])
  expect(store.deeds).toEqual(['insert', 'claim', 'insert'])
})

test('a slot is taken once: who finds none is left to the loop, which starts it later', async () => {
  let open = () => {}
  const gate = new Promise<void>(resolve => (open = resolve))
  const { store, engine, ran, ended } = await rig(() => gate)
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    await asleep(engine)
    await engine.client.create([task(id)])
  }
  expect(store.deeds).toEqual(['both', 'both', 'both', 'both', 'insert'])
  expect(engine.node.running).toBe(4)
  open()
  await ended(5)
  expect(ran).toEqual(['a', 'b', 'c', 'd', 'e'])
  await engine.node.stop()
})

test('the same id asked for twice in one breath starts once', async () => {
  const { engine, ran, ended } = await rig()
  const [first, other] = await Promise.all([
    engine.client.create([task('a')]),
    engine.client.create([task('a'), task('b')]),
  ])
  await ended(2)
  expect([...first, ...other].map(({ result }) => result)).toEqual([
    'inserted',
    'exists',
    'inserted',
  ])
  expect(ran.sort()).toEqual(['a', 'b'])
  await engine.node.stop()
})

test('what another process left due is started when its turn comes first, and ours by the loop', async () => {
  const { store, engine, ran, ended } = await rig()
  const other = createEngine({ store, clock: systemClock, ids: systemIds(), settings })
  await other.client.create([task('theirs')])
  await engine.client.create([task('ours')])
  await ended(2)
  expect(store.deeds).toEqual(['insert', 'both', 'claim'])
  expect(ran).toEqual(['theirs', 'ours'])
  await engine.node.stop()
})

test('a lost answer frees the slots that were kept for it', async () => {
  const { store, engine, ran, ended } = await rig()
  store.isReplyLost = true
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    await expect(engine.client.create([task(id)])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
  }
  store.isReplyLost = false
  await engine.client.create(['f', 'g', 'h', 'i'].map(id => task(id)))
  await ended(4)
  expect(store.deeds).toEqual(['both', 'both', 'both', 'both', 'both', 'both'])
  expect(ran).toEqual(['f', 'g', 'h', 'i'])
  await engine.node.stop()
})

test('a stop waits for an answer under way and gives back what it brings', async () => {
  const { store, engine, ran } = await rig()
  let open = () => {}
  store.answer = new Promise<void>(resolve => (open = resolve))
  const created = engine.client.create([task('a')])
  const stopped = engine.node.stop()
  open()
  await created
  expect(await stopped).toEqual({ clean: true, aborted: [] })
  expect(ran).toEqual([])
  expect(await engine.client.get('a')).toMatchObject({ state: 'waiting', lease: null })
})
