// How many bytes a value takes as JSON, exactly and at most.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, jsonBytes, jsonBytesBound } from './json.ts'

test('the bound is never below the bytes a value has', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), value => {
      const bound = jsonBytesBound(value)
      if (bound !== null) expect(bound).toBeGreaterThanOrEqual(jsonBytes(value)!)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['an undefined part', { a: undefined }],
  ['a function', { toJSON: () => 'x' }],
  ['a date', new Date(0)],
  ['a big integer', { n: 1n }],
  ['a hole', Array.from({ length: 2 })],
  ['a map', new Map()],
])('%s is left to those who write it out', (_, value) => {
  expect(jsonBytesBound(value)).toBeNull()
})

test('a circle is left to those who write it out', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  expect(jsonBytesBound(circle)).toBeNull()
  expect(jsonBytes(circle)).toBeNull()
})

test('equal documents have one canonical text, which reads back as the document', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), value => {
      const text = canonicalJson(value)
      const read = JSON.parse(text) as unknown
      expect(read).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(read)).toBe(text)
    }),
    { numRuns: 500 },
  )
  expect(canonicalJson({ b: [1, undefined], a: { '': 'ö"' }, c: undefined, d: null })).toBe(
    canonicalJson({ d: null, a: { '': 'ö"' }, b: [1, null] }),
  )
})
