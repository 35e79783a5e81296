// What JSON carries of a value, and what is refused with its path.

import fc from 'fast-check'
import { expect, expectTypeOf, test } from 'vitest'
import type { Problem } from '../errors.ts'
import { copyJson, toJson } from './json-copy.ts'
import type { Jsonify } from './jsonify.ts'
import type { Json } from '../json.ts'

function converted(value: unknown, holes: 'refuse' | 'null' = 'refuse') {
  const problems: Problem[] = []
  const json = toJson(value, 'payload', problems, holes)
  return { json, problems: problems.map(({ field, rule }) => `${field}: ${rule}`) }
}

class Order {
  readonly id = 7
  total(): number {
    return this.id
  }
}

test.each<[string, unknown, Json]>([
  ['undefined', undefined, null],
  ['a text', 'a', 'a'],
  ['negative zero', [-0], [0]],
  ['a member that is undefined', { a: 1, b: undefined }, { a: 1 }],
  ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['a URL', { url: new URL('https://example.com/a') }, { url: 'https://example.com/a' }],
  ['an instance of a class', new Order(), { id: 7 }],
  [
    'what toJSON gives',
    { toJSON: () => ({ at: new Date(0) }) },
    { at: '1970-01-01T00:00:00.000Z' },
  ],
  ['an object without prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
])('%s is carried', (_, value, json) => {
  expect(converted(value)).toEqual({ json, problems: [] })
})

const carries = 'cannot be carried as JSON'
const circle: unknown[] = []
circle.push({ circle })

test.each<[unknown, string]>([
  [{ n: Number.NaN }, `payload.n: NaN ${carries}`],
  [[1, -Infinity], `payload.1: -Infinity ${carries}`],
  [{ a: [{ id: 1n }] }, `payload.a.0.id: a BigInt ${carries}: pass a string and read it with`],
  [new Map(), `payload: a Map ${carries}: pass Object.fromEntries(map)`],
  [{ s: new Set([1]) }, `payload.s: a Set ${carries}: pass a list`],
  [{ b: Buffer.from('a') }, `payload.b: a Uint8Array ${carries}: pass a string`],
  [{ f: () => 1 }, `payload.f: a function ${carries}`],
  [{ s: Symbol('a') }, `payload.s: a Symbol ${carries}`],
  [{ e: new TypeError('x') }, `payload.e: an Error ${carries}: pass its message`],
  [{ p: Promise.resolve(1) }, `payload.p: a Promise ${carries}: await it first`],
  [{ r: /a/ }, `payload.r: a RegExp ${carries}`],
  [{ at: new Date(Number.NaN) }, `payload.at: an invalid Date ${carries}`],
  [[1, undefined], 'payload.1: is undefined, which a JSON list cannot carry: use null'],
  [circle, 'payload.0.circle: refers back to itself'],
])('case %#: what JSON cannot carry is named with its path and a hint', (value, problem) => {
  const { problems } = converted(value)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(problem)
})

test('a getter that throws is a problem, not an error', () => {
  const angry = {
    get a(): never {
      throw new Error('no')
    },
  }
  expect(converted(angry).problems).toEqual(['payload: cannot be read: no'])
})

test('all problems are told at once, and a toJSON that throws is one of them', () => {
  const angry = {
    toJSON: () => {
      throw new Error('no')
    },
  }
  expect(converted({ a: 1n, b: [undefined, Number.NaN], c: angry }).problems).toHaveLength(4)
})

test('a value too deep is refused instead of ending the stack', () => {
  let deep: unknown = null
  for (let i = 0; i < 20_000; i++) deep = [deep]
  expect(converted(deep).problems[0]).toMatch(/nested more than 500 levels deep$/)
})

test('in results undefined inside a list becomes null', () => {
  expect(converted([undefined, 1], 'null')).toEqual({ json: [null, 1], problems: [] })
})

test('a copy equals its original and shares nothing with it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
      const text = JSON.stringify(value)
      const plain = JSON.parse(text) as Json
      const { json, problems } = converted(plain)
      expect(problems).toEqual([])
      for (const copy of [json, copyJson(plain)]) {
        expect(JSON.stringify(copy)).toBe(text)
        expect(shares(plain, copy)).toBe(false)
      }
    }),
    { numRuns: 500 },
  )
})

test('a member called __proto__ stays a member', () => {
  const given = JSON.parse('{"__proto__":{"admin":true}}') as Json
  for (const copy of [copyJson(given), converted(given).json]) {
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true}}')
    expect((copy as { admin?: boolean }).admin).toBeUndefined()
  }
})

function shares(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null) return false
  if (a === b) return true
  return Object.keys(a).some(key => shares(a[key as keyof typeof a], b![key as keyof typeof b]))
}

test('the type of a result is that of its JSON', () => {
  interface Given {
    at: Date
    list: (string | undefined)[]
    maybe: number | undefined
    later?: Date
    call: () => void
    nested: { readonly url: URL }
  }
  interface Read {
    at: string
    list: (string | null)[]
    maybe?: number
    later?: string
    nested: { readonly url: string }
  }
  expectTypeOf<Jsonify<Given>>().toEqualTypeOf<Read>()
  expectTypeOf<Jsonify<void>>().toEqualTypeOf<null>()
  expectTypeOf<Jsonify<Date | undefined>>().toEqualTypeOf<string | null>()
  expectTypeOf<Jsonify<[Date, number]>>().toEqualTypeOf<[string, number]>()
  expectTypeOf<Jsonify<unknown>>().toEqualTypeOf<unknown>()
  expectTypeOf<Jsonify<bigint>>().toEqualTypeOf<never>()
  expectTypeOf<Jsonify<ReturnType<typeof JSON.parse>>>().toBeAny()
})
