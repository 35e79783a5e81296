// A: schedules that run workflows: who takes the event, what success means, what the run did.

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import { stepsOfAttempt } from '../../src/workflows/detail.ts'
import { stores } from '../support/each-store.ts'
import { fail, gate, ok, script } from '../support/scripted.ts'
import { WorkflowWorld } from '../support/workflows.ts'
import type { MakeWorld } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

async function made(make: MakeWorld): Promise<WorkflowWorld> {
  return new WorkflowWorld(await make({ at }), [])
}

const entry = (id: string, priority: number, active = true) => ({ id, priority, active })
const one = [{ id: 'only', handler: 'work' }]

describe('A9: the event goes to an entry of the workflow', () => {
  test.each(stores)('with the schedule, the repeat and the payload, on %s', async (_, make) => {
    const flow = await made(make)
    await flow.node('n1', { work: ok })
    await flow.add({ id: 'only', handler: 'work', input: { $from: 'event' } })
    await flow.schedule('s1', { every: '1m' }, { payload: { report_type: 'daily' } })
    await flow.schedule('s2', { every: '1h' })
    await flow.world.advance('2m')
    const event = {
      scheduled_job_id: 's1',
      scheduled_job_name: 'Daily',
      repeat_number: 0,
      payload: { report_type: 'daily' },
      timestamp: '2026-01-05T12:01:00.000Z',
    }
    expect(flow.called.map(({ payload }) => payload)).toEqual([
      event,
      { ...event, repeat_number: 1, timestamp: '2026-01-05T12:02:00.000Z' },
    ])
    await flow.world.advance('58m')
    const other = flow.called.map(call => call.payload as JsonObject)
    expect(other.find(payload => payload.scheduled_job_id === 's2')?.payload).toEqual({})
  })

  test.each<[string, readonly ReturnType<typeof entry>[], string | null, string]>([
    ['the highest priority', [entry('a', 1), entry('b', 9), entry('c', 5)], null, 'b'],
    ['no inactive one', [entry('a', 1), entry('b', 9, false), entry('c', 5)], null, 'c'],
    ['the first of equals', [entry('a', 5), entry('b', 5)], null, 'a'],
    ['the one that is named', [entry('a', 1), entry('b', 9)], 'a', 'a'],
  ])('%s is chosen', async (_, entries, asked, chosen) => {
    const flow = await made(stores[0]![1])
    await flow.node('n1', { work: ok })
    await flow.workflows.create('default', { name: 'flow', entries, steps: one })
    await flow.schedule('s', { every: '1m' }, { settings: { trigger_node_id: asked } })
    await flow.world.advance('1m')
    const [attempt] = await flow.world.attempts('s')
    expect(stepsOfAttempt(attempt!)?.entry).toBe(chosen)
  })

  test.each<[string, object, JsonObject, string]>([
    ['the workflow is missing', {}, { workflow_id: 9 }, 'workflow 9 does not exist'],
    ['the workflow is inactive', { active: false }, {}, 'workflow 1 (flow) is not active'],
    ['there is no entry', { entries: [] }, {}, 'has no active schedule trigger'],
    [
      'every entry is inactive',
      { entries: [entry('a', 1, false)] },
      {},
      'no active schedule trigger',
    ],
    ['the named entry is missing', {}, { trigger_node_id: 'x' }, 'no active schedule trigger x'],
    [
      'the named entry is inactive',
      { entries: [entry('a', 1, false), entry('b', 1)] },
      { trigger_node_id: 'a' },
      'no active schedule trigger a',
    ],
    ['the owner is missing', {}, { owner: null }, 'its owner is missing'],
  ])('it is a failure that names the schedule when %s', async (_, more, settings, message) => {
    const flow = await made(stores[0]![1])
    await flow.node('n1', { work: ok })
    await flow.workflows.create('default', { name: 'flow', steps: one, ...more })
    await flow.schedule('s', { every: '1m', maxRetries: 1 }, { settings })
    await flow.world.advance('1m')
    const job = await flow.world.job('s')
    expect(job).toMatchObject({ state: 'waiting', totals: { failed: 1 } })
    expect(job.lastError!.message).toMatch(/^schedule Daily \(s\): /)
    expect(job.lastError!.message).toContain(message)
    expect(flow.called).toEqual([])
    await flow.world.advance('1m')
    expect((await flow.world.job('s')).state).toBe('failed')
  })

  test('a workflow of another tenant does not exist', async () => {
    const flow = await made(stores[0]![1])
    await flow.node('n1', { work: ok })
    await flow.workflows.create('other', { name: 'flow', steps: one })
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    expect((await flow.world.job('s')).lastError!.message).toContain('workflow 1 does not exist')
  })

  test('once the workflow is there, the retry succeeds', async () => {
    const flow = await made(stores[0]![1])
    await flow.node('n1', { work: ok })
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    await flow.add(...one)
    await flow.world.advance('1m')
    expect(await flow.world.job('s')).toMatchObject({ totals: { succeeded: 1, failed: 1 } })
  })
})

describe('A10: success means that the whole run succeeded', () => {
  test.each(stores)('and gives the outputs of its steps, on %s', async (_, make) => {
    const flow = await made(make)
    await flow.node('n1', {
      fetch: () => ({ items: [1, 2, 3] }),
      sum: ({ payload }) => (payload as number[]).reduce((a, b) => a + b, 0),
    })
    await flow.add(
      { id: 'load', handler: 'fetch' },
      { id: 'add', handler: 'sum', needs: ['load'], input: { $from: 'steps.load.items' } },
    )
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    const [attempt] = await flow.world.attempts('s')
    expect(attempt).toMatchObject({
      outcome: 'succeeded',
      result: { load: { items: [1, 2, 3] }, add: 6 },
      measures: { workflow: { workflow: 1, name: 'flow', revision: 1, entry: 'schedule-1' } },
    })
    expect(await flow.details('s')).toEqual([['load completed 1', 'add completed 1']])
    expect(await flow.world.job('s')).toMatchObject({ counters: { concluded: 1 } })
  })

  test.each(stores)('a step that fails fails it and is named, on %s', async (_, make) => {
    const flow = await made(make)
    await flow.node('n1', { ok, bad: script('fail', 'ok') })
    await flow.add(
      { id: 'first', handler: 'ok' },
      { id: 'second', handler: 'bad', needs: ['first'] },
      { id: 'third', handler: 'ok', needs: ['second'] },
    )
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    const job = await flow.world.job('s')
    expect(job.lastError!.message).toBe('step second: failure 1')
    expect(job).toMatchObject({ totals: { failed: 1, succeeded: 0 }, counters: { concluded: 0 } })
    await flow.world.advance('1m')
    expect(flow.steps).toEqual(['first', 'second', 'first', 'second', 'third'])
    expect(await flow.details('s')).toEqual([
      ['first completed 1', 'second failed 1', 'third cancelled'],
      ['first completed 2', 'second completed 2', 'third completed 2'],
    ])
    expect(await flow.world.job('s')).toMatchObject({ counters: { concluded: 1 } })
  })

  test.each(stores)('a failing step stops the others, on %s', async (_, make) => {
    const flow = await made(make)
    const slow = gate()
    const bad = gate()
    await flow.node('n1', { slow: slow.handler, bad: bad.handler })
    await flow.add({ id: 'slow', handler: 'slow' }, { id: 'bad', handler: 'bad' })
    await flow.schedule('s', { every: '1m' })
    await flow.world.advance('1m')
    bad.fail('no luck')
    await flow.world.settle()
    expect(slow.aborts).toEqual(['cancelled'])
    expect((await flow.world.job('s')).lastError!.message).toBe('step bad: no luck')
    expect(await flow.details('s')).toEqual([['slow cancelled 1', 'bad failed 1']])
  })

  test('a step that does not stop is left behind after a while', async () => {
    const flow = await made(stores[0]![1])
    const deaf = gate({ isDeaf: true })
    await flow.node('n1', { deaf: deaf.handler, fail })
    await flow.add({ id: 'deaf', handler: 'deaf' }, { id: 'bad', handler: 'fail' })
    await flow.schedule('s', { every: '1m', maxRetries: 0 })
    await flow.world.advance('1m')
    expect((await flow.world.job('s')).state).toBe('running')
    await flow.world.advance('5s')
    expect((await flow.world.job('s')).lastError!.message).toBe('step bad: no luck')
  })

  test.each(stores)('the timeout bounds the whole run, on %s', async (_, make) => {
    const flow = await made(make)
    const slow = gate()
    const quick: Handler = () => flow.world.clock.sleep(40_000)
    await flow.node('n1', { quick, slow: slow.handler })
    await flow.add(
      { id: 'quick', handler: 'quick' },
      { id: 'slow', handler: 'slow', needs: ['quick'] },
      { id: 'never', handler: 'quick', needs: ['slow'] },
    )
    await flow.schedule('s', { every: '5m', timeout: '60s' })
    await flow.world.advance('5m')
    await flow.world.advance('59s')
    expect(slow.inside).toHaveLength(1)
    await flow.world.advance('1s')
    expect(slow.aborts).toEqual(['timeout'])
    const [attempt] = await flow.world.attempts('s')
    expect(attempt!.outcome).toBe('timedOut')
    expect(attempt!.error!.message).toContain('60000 ms')
    expect(await flow.details('s')).toEqual([
      ['quick completed 1', 'slow cancelled 1', 'never cancelled'],
    ])
    expect(await flow.world.job('s')).toMatchObject({ totals: { failed: 1 } })
    await flow.world.advance('5m40s')
    expect(flow.steps).toEqual(['quick', 'slow', 'quick', 'slow'])
  })
})
