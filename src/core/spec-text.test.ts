// Specs written without their defaults, and read back.

import { expect, test } from 'vitest'
import { completeSpec, specDefaults, type JobSpec } from './spec.ts'
import { parseSpec, specFrom, specText } from './spec-text.ts'

const plain = completeSpec({ handler: 'mail', trigger: { kind: 'once', at: 5 } })

test('a spec of defaults is written in a few words and read back whole', () => {
  expect(specText(plain)).toBe('{"defaults":1,"handler":"mail","trigger":{"kind":"once","at":5}}')
  expect(parseSpec(specText(plain))).toEqual(plain)
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
  expect(parseSpec(specText(spec))).toEqual(spec)
})

// Stored jobs lean on these values: new defaults are a new generation, beside this one.
test('the first generation of defaults stays as it is', () => {
  expect(parseSpec('{"defaults":1,"handler":"h","trigger":{"kind":"manual"}}')).toStrictEqual({
    name: 'h',
    handler: 'h',
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

test('a spec that was stored with all of its fields is taken as it is', () => {
  expect(specFrom({ ...plain })).toEqual(plain)
})

test('a spec from a newer release is refused', () => {
  expect(() => parseSpec('{"defaults":9,"handler":"h","trigger":{"kind":"manual"}}')).toThrow(
    'newer Carillon',
  )
})
