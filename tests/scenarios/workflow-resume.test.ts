// A: a workflow's run that was cut off goes on where it was; one that failed starts over.

import { expect, test } from 'vitest'
import { Defer, Skip } from '../../src/core/run/outcome.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { stepsOfProgress } from '../../src/workflows/detail.ts'
import { stores } from '../support/each-store.ts'
import { Faults } from '../support/faulty.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { WorkflowWorld } from '../support/workflows.ts'
import type { MakeWorld } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

async function made(make: MakeWorld): Promise<WorkflowWorld> {
  return new WorkflowWorld(await make({ at }), [])
}

const chain = [
  { id: 'a', handler: 'ok', input: { $from: 'event.timestamp' } },
  { id: 'b', handler: 'mid', needs: ['a'] },
  { id: 'c', handler: 'ok', needs: ['b'], input: { $from: 'event.timestamp' } },
]

test.each(stores)(
  'A15: after a crash another node goes on with the step that was cut off, on %s',
  async (_, make) => {
    const flow = await made(make)
    const door = gate()
    const first = await flow.node('n1', { ok, mid: door.handler })
    await flow.add(...chain)
    const { id } = await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    expect(flow.steps).toEqual(['a', 'b'])
    const live = stepsOfProgress(await flow.world.store.progress(id))
    expect(live?.steps.map(step => step.status)).toEqual(['completed', 'queued', 'queued'])
    await flow.world.crash(first)
    await flow.node('n2', { ok, mid: () => 'done' })
    await flow.world.advance('30s')
    expect(flow.called.map(({ node, step }) => `${node} ${step}`)).toEqual([
      'n1 a',
      'n1 b',
      'n2 b',
      'n2 c',
    ])
    const attempts = await flow.world.attempts('s')
    expect(attempts.map(({ outcome, retries }) => [outcome, retries])).toEqual([
      ['abandoned', 0],
      ['succeeded', 0],
    ])
    expect(await flow.details('s')).toEqual([
      [],
      ['a completed 1', 'b completed 2', 'c completed 2'],
    ])
    // The event is that of the first attempt.
    expect(flow.called.at(-1)!.payload).toBe('2026-01-05T12:01:00.000Z')
    expect(attempts[1]!.result).toEqual({ a: null, b: 'done', c: null })
  },
)

test.each(stores)('A15: a retry starts from the first step, on %s', async (_, make) => {
  const flow = await made(make)
  const door = gate()
  const first = await flow.node('n1', { ok, mid: script('fail', door.handler) })
  await flow.add(...chain)
  await flow.schedule('s', { every: '1m' })
  await flow.world.advance('2m')
  expect(flow.steps).toEqual(['a', 'b', 'a', 'b'])
  // Cut off during the retry, it goes on with what the retry did.
  await flow.world.crash(first)
  await flow.node('n2', { ok, mid: ok })
  await flow.world.advance('30s')
  expect(flow.steps).toEqual(['a', 'b', 'a', 'b', 'b', 'c'])
  const attempts = await flow.world.attempts('s')
  expect(attempts.map(({ outcome, retries }) => [outcome, retries])).toEqual([
    ['failed', 0],
    ['abandoned', 1],
    ['succeeded', 1],
  ])
  expect(flow.called.at(-1)!.payload).toBe('2026-01-05T12:02:00.000Z')
})

test.each(stores)(
  'A15: a retry that crashes before its first step is over does not take up the failed one, on %s',
  async (_, make) => {
    const flow = await made(make)
    const door = gate()
    const first = await flow.node('n1', { ok: script('ok', door.handler), mid: script('fail') })
    await flow.add(...chain)
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('2m')
    expect(flow.steps).toEqual(['a', 'b', 'a'])
    await flow.world.crash(first)
    await flow.node('n2', { ok, mid: ok })
    await flow.world.advance('30s')
    expect(flow.steps).toEqual(['a', 'b', 'a', 'a', 'b', 'c'])
  },
)

test.each(stores)('A15: the next run starts from the first step, on %s', async (_, make) => {
  const flow = await made(make)
  await flow.node('n1', { ok, mid: ok })
  await flow.add(...chain)
  await flow.schedule('s', { every: '1m' })
  await flow.world.advance('2m')
  expect(flow.steps).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
})

test.each(stores)('A15: a node that stops hands its run over, on %s', async (_, make) => {
  const flow = await made(make)
  const door = gate()
  const first = await flow.node('n1', { ok, mid: door.handler })
  await flow.add(...chain)
  await flow.schedule('s', { every: '1m' })
  await flow.world.advance('1m')
  await flow.world.stop(first, 0)
  expect(door.aborts).toEqual(['shutdown'])
  await flow.node('n2', { ok, mid: ok })
  await flow.world.advance('10s')
  expect(flow.steps).toEqual(['a', 'b', 'b', 'c'])
  expect(await flow.details('s')).toEqual([
    ['a completed 1', 'b cancelled 1', 'c cancelled'],
    ['a completed 1', 'b completed 2', 'c completed 2'],
  ])
})

test('A15: a workflow that was changed meanwhile starts over', async () => {
  const flow = await made(stores[0]![1])
  const door = gate()
  const first = await flow.node('n1', { ok, mid: door.handler })
  await flow.add(...chain)
  await flow.schedule('s', { every: '1m' })
  await flow.world.advance('1m')
  await flow.world.crash(first)
  await flow.workflows.update('default', 1, { name: 'other' })
  await flow.node('n2', { ok, mid: ok })
  await flow.world.advance('30s')
  expect(flow.steps).toEqual(['a', 'b', 'a', 'b', 'c'])
})

test.each(stores)('A15: a step has a checkpoint of its own, on %s', async (_, make) => {
  const flow = await made(make)
  const door = gate()
  const paging: Handler = async context => {
    const page = (context.checkpoint as number | undefined) ?? 0
    await context.heartbeat(page + 1)
    return page === 0 ? door.handler(context) : page
  }
  const first = await flow.node('n1', { ok, mid: paging })
  await flow.add(...chain)
  await flow.schedule('s', { every: '1m' })
  await flow.world.advance('1m')
  await flow.world.crash(first)
  await flow.node('n2', { ok, mid: paging })
  await flow.world.advance('30s')
  const [, attempt] = await flow.world.attempts('s')
  expect(attempt).toMatchObject({ outcome: 'succeeded', result: { b: 1 } })
  expect(flow.steps).toEqual(['a', 'b', 'b', 'c'])
})

test('A15: cancelling ends the steps', async () => {
  const flow = await made(stores[0]![1])
  const door = gate()
  await flow.node('n1', { ok, mid: door.handler })
  await flow.add(...chain)
  const { id } = await flow.schedule('s', { every: '1m' })
  await flow.world.advance('1m')
  await flow.world.client.cancel(id)
  await flow.world.advance('2s')
  expect(door.aborts).toEqual(['cancelled'])
  expect(flow.steps).toEqual(['a', 'b'])
  expect((await flow.world.attempts('s'))[0]!.outcome).toBe('cancelled')
})

test('A15: a step with nothing to do does not stop the ones after it', async () => {
  const flow = await made(stores[0]![1])
  const nothing: Handler = () => {
    throw new Skip('nothing new')
  }
  await flow.node('n1', { ok, mid: nothing })
  await flow.add(...chain)
  await flow.schedule('s', { every: '1m' })
  await flow.world.advance('1m')
  expect(await flow.details('s')).toEqual([['a completed 1', 'b skipped 1', 'c completed 1']])
  expect((await flow.world.attempts('s'))[0]).toMatchObject({
    outcome: 'succeeded',
    result: { b: null },
  })
})

test('A15: a step that asks for another moment gets it, and spends no retry', async () => {
  const flow = await made(stores[0]![1])
  const later: Handler = () => {
    throw new Defer(flow.world.now + 20_000, 'not yet')
  }
  await flow.node('n1', { ok, mid: script(later, 'ok') })
  await flow.add(...chain)
  await flow.schedule('s', { every: '1m', maxRetries: 0 })
  await flow.world.advance('1m')
  await flow.world.advance('19s')
  expect(flow.steps).toEqual(['a', 'b'])
  await flow.world.advance('1s')
  expect(flow.steps).toEqual(['a', 'b', 'b', 'c'])
  expect(await flow.world.job('s')).toMatchObject({ totals: { succeeded: 1, failed: 0 } })
})

test('A15: a checkpoint that cannot be stored fails nothing, and the next one holds it', async () => {
  const faults = new Faults()
  const world = await stores[0]![1]({ at, wrap: store => faults.wrap(store) })
  const flow = new WorkflowWorld(world, [])
  const door = gate()
  const first = await flow.node('n1', { ok, mid: ok, end: door.handler })
  await flow.add(...chain, { id: 'd', handler: 'end', needs: ['c'] })
  await flow.schedule('s', { every: '1m' })
  faults.cut('report', 'before')
  await world.advance('1m')
  expect(flow.steps).toEqual(['a', 'b', 'c', 'd'])
  expect(faults.left).toBe(0)
  await world.crash(first)
  await flow.node('n2', { ok, mid: ok, end: ok })
  await world.advance('30s')
  expect(flow.steps).toEqual(['a', 'b', 'c', 'd', 'd'])
  expect(await world.job('s')).toMatchObject({ totals: { succeeded: 1 } })
})

test('A15: a node that lost its lease stops its steps and starts no more', async () => {
  const flow = await made(stores[0]![1])
  const door = gate()
  await flow.node('n1', { ok, mid: door.handler })
  await flow.add(...chain)
  const { id } = await flow.schedule('s', { every: '1m' })
  await flow.world.advance('1m')
  await flow.world.client.remove([id])
  await flow.world.advance('2s')
  expect(door.aborts).toEqual(['cancelled'])
  expect(flow.steps).toEqual(['a', 'b'])
})
