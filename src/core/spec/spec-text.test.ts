// Specs written without their defaults, and read back.

import { expect, test } from 'vitest'
import { DamagedRecord } from '../stored/damage.ts'
import {
  completeSpec,
  defaultsFor,
  recurringDefaults,
  retryAfterEdit,
  specDefaults,
  type JobSpec,
} from '../spec.ts'
import { parseSpec, specFrom, specText } from './spec-text.ts'

const plain = completeSpec({ handler: 'mail', trigger: { kind: 'once', at: 5 } })

test('a spec of defaults is written in a few words and read back whole', () => {
  expect(specText(plain)).toBe('{"defaults":3,"handler":"mail","trigger":{"kind":"once","at":5}}')
  expect(parseSpec(specText(plain))).toEqual(plain)
})

const hourly = {
  kind: 'cron',
  expression: '0 * * * *',
  zone: 'UTC',
  dialect: 'posix',
  dst: null,
} as const

test('a recurring spec of defaults is as short, and names its own set of defaults', () => {
  const spec = completeSpec({ handler: 'mail', trigger: hourly })
  expect(spec.retry.exhausted).toBe('next')
  expect(specText(spec)).toBe(`{"defaults":4,"handler":"mail","trigger":${JSON.stringify(hourly)}}`)
  expect(parseSpec(specText(spec))).toStrictEqual(spec)
})

test('a recurring spec stored when stop was the default still stops', () => {
  const text = `{"defaults":1,"handler":"mail","trigger":${JSON.stringify(hourly)}}`
  const spec = parseSpec(text)
  expect(spec.retry.exhausted).toBe('stop')
  expect(parseSpec(specText(spec))).toStrictEqual(spec)
})

test.each([
  // [text, whether it is an action]
  ['{"defaults":1,"handler":"action:http","trigger":{"kind":"manual"}}', true],
  ['{"defaults":2,"handler":"action:http","trigger":{"kind":"manual"}}', true],
  ['{"defaults":2,"handler":"mail","trigger":{"kind":"manual"}}', false],
  ['{"defaults":3,"handler":"action:http","isAction":true,"trigger":{"kind":"manual"}}', true],
  // Written after jobs were marked, without the mark: nobody who may make actions wrote it.
  ['{"defaults":3,"handler":"action:http","trigger":{"kind":"manual"}}', false],
])('S1: %s is an action: %s', (text, isAction) => {
  expect(parseSpec(text).isAction).toBe(isAction)
})

test.each([
  // [before, after, stored exhausted, exhausted after the edit]
  ['cron', 'manual', 'next', 'stop'],
  ['manual', 'cron', 'stop', 'next'],
  ['cron', 'cron', 'stop', 'stop'],
  ['cron', 'manual', 'stop', 'stop'],
  ['cron', 'manual', 'wait', 'wait'],
] as const)('an edit from %s to %s turns %s into %s', (before, after, exhausted, expected) => {
  const triggers = { cron: hourly, manual: { kind: 'manual' } } as const
  const own = { ...specDefaults.retry, limit: 9, exhausted }
  const edited = retryAfterEdit(own, triggers[before], triggers[after])
  expect(edited).toEqual({ ...own, exhausted: expected })
  const usual = defaultsFor(triggers[before]).retry
  if (usual.exhausted !== exhausted) return
  expect(retryAfterEdit(usual, triggers[before], triggers[after])).toBe(
    defaultsFor(triggers[after]).retry,
  )
})

test.each([
  { name: 'Mail', lane: 'a/b', tenant: 'a' },
  { tenant: 'b' },
  { payload: { a: [1, null, 'x'] }, tags: ['t'], metadata: { k: 'v' } },
  { timeoutMs: null, lateLimitMs: 5, graceMs: 0, priority: 6 as const },
  { missed: { policy: 'once' as const }, retry: { ...specDefaults.retry } },
  { overlap: { policy: 'queue' as const, limit: 2 }, retention: { attempts: 0, ageMs: 0 } },
])('%j survives', more => {
  const spec = { ...plain, ...more }
  expect(parseSpec(specText(spec))).toEqual(spec)
})

test('no field is left out', () => {
  const other = Object.keys(plain).map(field => [field, { other: field }])
  const spec = { ...Object.fromEntries(other), trigger: { kind: 'manual' } } as JobSpec
  expect(JSON.parse(specText(spec))).toEqual({ ...spec, defaults: expect.any(Number) })
})

test.each([
  ['not JSON', '{"defaults":1,', 'not JSON'],
  ['a number', '5', 'not an object'],
  ['an object of something else', '{"a":1}', 'handler'],
  ['without a handler', '{"defaults":1,"trigger":{"kind":"manual"}}', 'handler'],
  ['with a trigger of null', '{"defaults":1,"handler":"h","trigger":null}', 'trigger'],
  ['with an unknown trigger', '{"defaults":1,"handler":"h","trigger":{"kind":"moon"}}', 'trigger'],
  [
    'with junk for a policy',
    '{"defaults":1,"handler":"h","trigger":{"kind":"manual"},"retry":7}',
    'retry',
  ],
  ['of unknown defaults', '{"defaults":"x","handler":"h","trigger":{"kind":"manual"}}', 'defaults'],
])('a text %s is a damaged record', (_, text, reason) => {
  expect(() => parseSpec(text)).toThrow(DamagedRecord)
  expect(() => parseSpec(text)).toThrow(reason)
})

test('a spec of a newer program is whole', () => {
  const text = '{"defaults":99,"handler":"h","trigger":{"kind":"manual"}}'
  expect(() => parseSpec(text)).toThrow('newer Carillon')
  expect(() => parseSpec(text)).not.toThrow(DamagedRecord)
})

// Stored jobs lean on these values: new defaults are a new generation, beside this one.
test('the first generation of defaults stays as it is', () => {
  expect(parseSpec('{"defaults":1,"handler":"h","trigger":{"kind":"manual"}}')).toStrictEqual({
    name: 'h',
    handler: 'h',
    isAction: false,
    payload: null,
    queue: 'default',
    tenant: 'default',
    lane: 'default',
    priority: 3,
    trigger: { kind: 'manual' },
    first: 'next',
    startAt: null,
    endAt: null,
    runLimit: null,
    jitterMs: 0,
    missed: { policy: 'once' },
    overlap: { policy: 'skip' },
    retry: {
      limit: 3,
      backoff: { kind: 'exponential', baseMs: 60_000, maxMs: 3_600_000, jitter: 0 },
      resetAfterMs: null,
      exhausted: 'stop',
      yields: false,
    },
    graceMs: 60_000,
    lateLimitMs: null,
    timeoutMs: 600_000,
    retention: { attempts: 100, ageMs: 2_592_000_000 },
    tags: [],
    metadata: {},
  })
})

test('the second generation differs from the first in what follows the last retry', () => {
  const { retry, ...rest } = specDefaults
  expect(recurringDefaults).toEqual({ ...rest, retry: { ...retry, exhausted: 'next' } })
})

test('a spec that was stored with all of its fields is taken as it is', () => {
  expect(specFrom({ ...plain })).toEqual(plain)
})

test('a spec from a newer release is refused', () => {
  expect(() => parseSpec('{"defaults":9,"handler":"h","trigger":{"kind":"manual"}}')).toThrow(
    'newer Carillon',
  )
})
