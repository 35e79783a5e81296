// A part of an attempt's work speaks in its own name and shares the rest.

import { expect, test } from 'vitest'
import { createJob } from '../core/create.ts'
import type { Json } from '../core/json.ts'
import { currentRunOf } from '../core/run/current-run.ts'
import { completeSpec } from '../core/spec.ts'
import type { LogLine } from '../store/port.ts'
import { activeAttempt } from './active-attempt.ts'
import { Context, type Part } from './context.ts'

const NOW = Date.parse('2026-01-05T12:00:00Z')

function held() {
  const spec = completeSpec({ handler: 'work', trigger: { kind: 'manual' }, payload: 'whole' })
  const lease = { token: 't', owner: 'n', attemptId: 'a', claimedAt: NOW, until: NOW + 1 }
  const job = { ...createJob({ id: 'j', spec }, NOW), state: 'running', lease } as const
  return activeAttempt(job, currentRunOf(job))
}

test('a part has its own payload, signal, key, checkpoint, log fields and measures', async () => {
  const one = held()
  const lines: LogLine[] = []
  const kept: Json[] = []
  const fractions: number[] = []
  const whole = new Context(one, {
    now: () => NOW,
    beat: async () => true,
    logged: (_, line) => lines.push(line),
    progressed: () => fractions.push(-1),
  })
  const controller = new AbortController()
  const part: Part = {
    name: 'fetch',
    payload: { url: 'x' },
    signal: controller.signal,
    checkpoint: 7,
    fields: { step: 'fetch' },
    keep: async checkpoint => {
      kept.push(checkpoint)
    },
    progressed: fraction => fractions.push(fraction),
  }
  const context = whole.part(part)
  expect(context.payload).toEqual({ url: 'x' })
  expect(context.signal).toBe(controller.signal)
  expect([whole.idempotencyKey, context.idempotencyKey]).toEqual(['j.1', 'j.1/fetch'])
  expect([whole.checkpoint, context.checkpoint]).toEqual([undefined, 7])
  context.log.info('hello', { a: 1 })
  expect(lines).toMatchObject([{ message: 'hello', fields: { a: 1, step: 'fetch' } }])
  context.progress(0.5)
  expect(fractions).toEqual([0.5])
  const { measure } = context
  measure('items', 3)
  whole.measure('items', 4)
  expect(one.measures).toEqual({ 'fetch.items': 3, items: 4 })
  await context.heartbeat({ page: 2 })
  expect(kept).toEqual([{ page: 2 }])
  expect(one.pending?.checkpoint).toBeUndefined()
})

test('a checkpoint larger than its limit is refused, and what was kept stays', async () => {
  const one = held()
  const context = new Context(one, {
    now: () => NOW,
    beat: async () => true,
    logged: () => {},
    progressed: () => {},
  })
  await context.heartbeat({ page: 1 })
  await expect(context.heartbeat({ all: 'x'.repeat(65_536) })).rejects.toMatchObject({
    code: 'PAYLOAD_INVALID',
    problems: [{ field: 'checkpoint', rule: 'must be at most 65536 bytes as JSON' }],
  })
  expect(one.pending?.checkpoint).toEqual({ page: 1 })
})

test('a measure that is no JSON is left out and named in the log, the others stay', () => {
  const one = held()
  const lines: LogLine[] = []
  const context = new Context(one, {
    now: () => NOW,
    beat: async () => true,
    logged: (_, line) => lines.push(line),
    progressed: () => {},
  })
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  for (const value of [circle, 1n, Number.NaN, () => 1]) context.measure('bad', value as never)
  context.measure('rows', 3)
  expect(one.measures).toEqual({ rows: 3 })
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'warn'])
  expect(lines[1]!.message).toMatch(/^measure bad is left out: /)
})

test('fields of a log line are those it was given, whatever becomes of the object', () => {
  const one = held()
  const lines: LogLine[] = []
  const context = new Context(one, {
    now: () => NOW,
    beat: async () => true,
    logged: (_, line) => lines.push(line),
    progressed: () => {},
  })
  const fields: Record<string, unknown> = { page: 1 }
  context.log.info('read', fields as never)
  fields['page'] = 2n
  fields['self'] = fields
  context.log.info('read', fields as never)
  const expected = [{ page: 1 }, { fields_left_out: 'they are no JSON' }]
  expect(lines.map(line => line.fields)).toEqual(expected)
  expect(one.pending!.lines.map(line => line.fields)).toEqual(expected)
})

test('lines and notes that are no text are shown as one', () => {
  const one = held()
  const context = new Context(one, {
    now: () => NOW,
    beat: async () => true,
    logged: () => {},
    progressed: () => {},
  })
  for (const message of [{ page: 1 }, undefined, Symbol('s')]) context.log.info(message as never)
  context.progress(0.5, 7 as never)
  expect(one.pending!.lines.map(line => line.message)).toEqual([
    '{"page":1}',
    'nothing',
    'a symbol',
  ])
  expect(one.pending!.progress).toEqual({ fraction: 0.5, note: '7' })
})

test('a thousand measures are kept, and one line says that there were more', () => {
  const one = held()
  const lines: LogLine[] = []
  const context = new Context(one, {
    now: () => NOW,
    beat: async () => true,
    logged: (_, line) => lines.push(line),
    progressed: () => {},
  })
  for (let i = 0; i < 1_500; i++) context.measure(`m${i}`, i)
  context.measure('m1', -1)
  expect(Object.keys(one.measures!)).toHaveLength(1_000)
  expect(one.measures).toMatchObject({ m1: -1, m999: 999 })
  expect(lines.map(({ message }) => message)).toEqual([
    'measure m1000 and further ones are left out: 1000 are kept',
  ])
})
