// H4: what a handler throws or returns may be anything. It fails that run, and the node goes on.

import { expect, test } from 'vitest'
import type { Handler } from '../../src/engine/handlers.ts'
import { Defer, RetryAfter } from '../../src/core/run/outcome.ts'
import { startService } from './service.ts'

const plain = (members: object) => Object.assign(new Error('plain'), members)
const throwing = (value: unknown): Handler => {
  return () => {
    throw value
  }
}
const rejecting = (value: unknown): Handler => {
  return async () => {
    throw value
  }
}
const trap = () => {
  throw new Error('a trap')
}
const closed = () => new Proxy(new Error('closed'), { get: trap, getPrototypeOf: trap })
const badJson = () => ({
  toJSON() {
    throw Object.create(null)
  },
})

const unreadable = 'an error that cannot be read'
const failures: [what: string, value: () => unknown, message: string][] = [
  ['an object for a message', () => plain({ message: { code: 1 } }), '{"code":1}'],
  ['a symbol for a message', () => plain({ message: Symbol('x') }), 'a symbol'],
  ['no name', () => plain({ name: null }), 'plain'],
  ['a number for a stack', () => plain({ stack: 5 }), 'plain'],
  [
    'a message that cannot be read',
    () => Object.defineProperty(new Error('hidden'), 'message', { get: trap }),
    unreadable,
  ],
  ['nothing that can be read', closed, unreadable],
]

/* oxlint-disable unicorn/no-thenable -- what looks like a promise and is none is what is tested */
const returns: [what: string, handler: Handler, outcome: string][] = [
  ['a thenable that throws', () => ({ then: trap }), 'failed'],
  [
    'something whose then cannot be read',
    () => Object.defineProperty({}, 'then', { get: trap }),
    'failed',
  ],
  ['something that is nothing by JSON', badJson, 'completed'],
  ['a promise of it', async () => badJson(), 'completed'],
  ['a proxy that answers nothing', () => new Proxy({}, { getPrototypeOf: trap }), 'completed'],
]
/* oxlint-enable unicorn/no-thenable */

async function run(handler: Handler, limit = 0) {
  const s = await startService({ handlers: { odd: handler, next: () => 'fine' } })
  const admin = s.as('admin')
  const make = async (name: string) => {
    const job = { name, handler: name, retry: { limit } }
    return (await admin.post('/api/v1/jobs', job)).body.id
  }
  const odd = await make('odd')
  await s.advance('1s')
  const next = await make('next')
  await s.advance('1s')
  expect((await admin.get(`/api/v1/jobs/${next}`)).body.status).toBe('completed')
  return (await admin.get(`/api/v1/jobs/${odd}`)).body
}

test.each(failures)('H4 an error with %s fails its run alone', async (_, value, message) => {
  for (const handler of [throwing(value()), rejecting(value())]) {
    expect(await run(handler)).toMatchObject({ status: 'failed', error_message: message })
  }
})

test.each(returns)(
  'H4 a handler that returns %s ends its run alone',
  async (_, handler, outcome) => {
    expect(await run(handler)).toMatchObject({ status: outcome })
  },
)

test('H4 a delay that no calendar holds waits for the longest one there is', async () => {
  for (const delay of [1e300, Number.MAX_SAFE_INTEGER, Infinity]) {
    const job = await run(rejecting(new RetryAfter(delay)), 1)
    expect(job).toMatchObject({ status: 'scheduled', next_run_at: '2027-01-06T12:00:00.000Z' })
  }
})

test('H4 what is put off to a moment that no calendar holds is tried within 366 days', async () => {
  for (const worked of [true, false]) {
    const job = await run(rejecting(new Defer(8.64e15, 'much later', worked)))
    expect(job).toMatchObject({ next_run_at: '2027-01-06T12:00:00.000Z' })
  }
})

test('H4 measures that are no JSON keep nobody from ending', async () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const measuring: Handler = ({ measure }) => {
    measure('circle', circle as never)
    measure('big', 1n as never)
  }
  expect(await run(measuring)).toMatchObject({ status: 'completed' })
})

test('H4 a step that fails with an object for a message is named, and ends the run', async () => {
  const s = await startService({ handlers: { odd: throwing(plain({ message: { code: 1 } })) } })
  const admin = s.as('admin')
  const workflow = { name: 'w', steps: [{ id: 'a', handler: 'odd' }] }
  expect((await admin.post('/api/v1/workflows', workflow)).status).toBe(201)
  await admin.post('/api/v1/workflows/1/run', {})
  await s.advance('1s')
  const { items } = (await admin.get('/api/v1/workflows/1/runs')).body as unknown as {
    items: { id: string }[]
  }
  const read = await admin.get(`/api/v1/workflows/1/runs/${items[0]!.id}`)
  expect(read.body).toMatchObject({ steps: [{ id: 'a', status: 'failed', error: '{"code":1}' }] })
})
