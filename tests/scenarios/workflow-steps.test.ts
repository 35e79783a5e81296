// A: the steps of a workflow: in which order, how many at once, what they are given, what they call.

import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { site } from '../actions/site.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { WorkflowWorld } from '../support/workflows.ts'
import type { MakeWorld } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

async function made(make: MakeWorld, allow: readonly string[] = []): Promise<WorkflowWorld> {
  return new WorkflowWorld(await make({ at }), allow)
}

describe('A15: steps run in the order of what they need', () => {
  test.each(stores)('independent ones at the same time, on %s', async (_, make) => {
    const flow = await made(make)
    const door = gate()
    await flow.node('n1', { work: door.handler })
    const step = (id: string, ...needs: string[]) => ({ id, needs, handler: 'work' })
    await flow.add(step('d', 'b', 'c'), step('a'), step('b', 'a'), step('c', 'a'))
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    const waves: string[][] = []
    while (door.inside.length > 0) {
      waves.push(door.inside.map(({ context }) => context.runId.split('/')[1]!))
      door.openAll()
      await flow.world.settle()
    }
    expect(waves).toEqual([['a'], ['b', 'c'], ['d']])
    expect((await flow.world.attempts('s'))[0]!.outcome).toBe('succeeded')
  })

  test('but no more than eight', async () => {
    const flow = await made(stores[0]![1])
    const door = gate()
    await flow.node('n1', { work: door.handler })
    await flow.add(...Array.from({ length: 10 }, (_, i) => ({ id: `s${i}`, handler: 'work' })))
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    expect(door.inside).toHaveLength(8)
    door.open()
    await flow.world.settle()
    expect(flow.steps).toHaveLength(9)
    for (let i = 0; i < 9; i++) {
      door.openAll()
      await flow.world.settle()
    }
    expect((await flow.world.attempts('s'))[0]!.outcome).toBe('succeeded')
  })

  test('each has a key of its own, the same in every attempt', async () => {
    const flow = await made(stores[0]![1])
    await flow.node('n1', { ok, bad: script('fail', 'ok') })
    await flow.add({ id: 'a', handler: 'ok' }, { id: 'b', handler: 'bad', needs: ['a'] })
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('2m')
    expect(flow.called.map(({ key }) => key)).toEqual(['s.1/a', 's.1/b', 's.1/a', 's.1/b'])
  })

  test('its log lines carry its name, and its progress counts into that of the run', async () => {
    const flow = await made(stores[0]![1])
    const door = gate()
    const speaking: Handler = context => {
      context.log.info('half way')
      context.progress(0.5)
      context.measure('items', 3)
      return door.handler(context)
    }
    await flow.node('n1', { ok, speaking })
    await flow.add({ id: 'a', handler: 'ok' }, { id: 'b', handler: 'speaking', needs: ['a'] })
    const { id } = await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    await flow.world.advance('2s')
    expect(await flow.world.store.progress(id)).toMatchObject({ fraction: 0.75, note: 'b' })
    door.open()
    await flow.world.settle()
    const [attempt] = await flow.world.attempts('s')
    const { items } = await flow.world.store.log(attempt!.id, { limit: 20 })
    expect(items.map(({ message, fields }) => [message, fields?.step ?? null])).toEqual([
      ['step a completed', 'a'],
      ['half way', 'b'],
      ['step b completed', 'b'],
    ])
    expect(attempt!.measures).toMatchObject({ 'b.items': 3 })
  })

  test.each<[string, Handler | null, string]>([
    ['no handler', null, 'step a: there is no handler work in this node'],
    ['a result that is no JSON', () => ({ big: 1n }), 'step a: what it returned cannot be written'],
    [
      'a result that is too large',
      () => 'x'.repeat(70_000),
      'step a: what the steps of a run leave',
    ],
  ])('%s is a failure', async (_, handler, message) => {
    const flow = await made(stores[0]![1])
    await flow.node('n1', handler ? { work: handler } : {})
    await flow.add({ id: 'a', handler: 'work' }, { id: 'b', handler: 'work', needs: ['a'] })
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    expect((await flow.world.job('s')).lastError!.message).toContain(message)
    expect(flow.steps).not.toContain('b')
  })

  test.each(stores)('a step calls a real server the operator allows, on %s', async (_, make) => {
    const server = await site(({ body }, response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify({ got: JSON.parse(body) as Json, list: ['x'] }))
    })
    const flow = await made(make, [`127.0.0.1:${server.port}`])
    flow.isWaitedFor = true
    await flow.node('n1', { work: ({ payload }) => payload })
    const http = { url: `${server.origin}/hook` }
    await flow.add(
      { id: 'call', http, input: { day: { $from: 'event.payload.day' } } },
      { id: 'again', http, needs: ['call'], input: null },
      { id: 'use', handler: 'work', needs: ['call'], input: { $from: 'steps.call.body.list.0' } },
    )
    await flow.schedule('s', { every: '1m' }, { payload: { day: 'monday' } })
    await flow.world.advance('1m')
    const [attempt] = await flow.world.attempts('s')
    expect(attempt).toMatchObject({
      outcome: 'succeeded',
      result: { call: { status: 200, body: { got: { day: 'monday' } } }, use: 'x' },
    })
    expect(server.asked.map(({ path, body }) => [path, body])).toEqual([
      ['/hook', '{"day":"monday"}'],
      ['/hook', 'null'],
    ])
    const ids = server.asked.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(2)
  })

  test('a call that fails fails the run in the name of its step', async () => {
    const server = await site((_, response) => response.writeHead(500).end())
    const flow = await made(stores[0]![1], [`127.0.0.1:${server.port}`])
    flow.isWaitedFor = true
    await flow.node('n1', {})
    await flow.add({ id: 'call', http: { url: server.origin } })
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    expect((await flow.world.job('s')).lastError!.message).toBe(
      'step call: the receiver answered 500',
    )
  })
})
