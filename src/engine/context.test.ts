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
