// What a careless or hostile caller makes of a good body, a query or a header.

import type { Json } from '../../../src/core/json.ts'
import type { Random } from '../../support/random.ts'
import type { Wild } from './values.ts'

const scalars: readonly Json[] = [
  [null, true, false, 0, -1, 1.5, 1e308, -1e308, 2 ** 53, 2 ** 31, 1e-9, '', ' ', 'x', '0'],
  ['\u0000', '\uD800', '\u202Eabc', '💥'.repeat(100), 'NaN', '1e999', '2026-13-45T99:99:99Z'],
  ['x'.repeat(5_000), '+275760-09-13T00:00:00Z', '0000-01-01T00:00:00Z', '9'.repeat(400)],
].flat()

const odd: readonly Json[] = [...scalars, [], {}, [[]], [null], { a: { b: { c: {} } } }]

const keys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'id',
  'tenant',
  'status',
  '',
  'x',
]

export function oddValue(random: Random): Json {
  return structuredClone(random.pick(odd))
}

/** The same body with up to three things wrong somewhere in it. */
export function spoiled(random: Random, good: Json): Json {
  let body = structuredClone(good)
  for (let left = random.int(1, 3); left > 0; left--) body = spoil(random, body)
  return body
}

function spoil(random: Random, body: Json): Json {
  const holders = holdersIn(body)
  if (holders.length === 0 || random.chance(0.05)) return oddValue(random)
  const holder = random.pick(holders)
  const names = Object.keys(holder)
  const at = names.length === 0 ? 'x' : random.pick(names)
  switch (random.int(0, 4)) {
    case 0:
      Reflect.deleteProperty(holder, at)
      break
    case 1:
      put(holder, random.pick(keys), random.chance(0.5) ? { polluted: true } : oddValue(random))
      break
    case 2:
      put(holder, at, [holder[at] ?? null])
      break
    case 3:
      put(holder, at, deep(random.int(2, 60)))
      break
    default:
      put(holder, at, oddValue(random))
  }
  return body
}

/** As JSON has it: a field of its own, whatever its name. */
function put(holder: Wild, key: string, value: Json): void {
  const isLength = Array.isArray(holder) && key === 'length'
  if (isLength) return
  const field = { value, enumerable: true, configurable: true, writable: true }
  Object.defineProperty(holder, key, field)
}

function holdersIn(body: Json): Wild[] {
  if (typeof body !== 'object' || body === null) return []
  return [body as Wild, ...Object.values(body as Wild).flatMap(holdersIn)]
}

function deep(levels: number): Json {
  let made: Json = 1
  for (let i = 0; i < levels; i++) made = { in: made }
  return made
}

/** Text that is no JSON, or more of it than is read. */
export function badText(random: Random, good: string): string {
  switch (random.int(0, 6)) {
    case 0:
      return good.slice(0, random.int(0, good.length))
    case 1:
      return `${good}}`
    case 2:
      return '{"a":1,"a":'
    case 3:
      return `{"__proto__":{"polluted":true},"name":"x"}`
    case 4:
      return `\uFEFF${good}`
    case 5:
      return random.pick(['', ' ', 'null', '0', '"x"', '[]', 'NaN', 'undefined', '{,}', "{'a':1}"])
    default:
      return `{"name":"${'x'.repeat(random.pick([300, 70_000, 270_000]))}"}`
  }
}

export const mediaTypes: readonly string[] = [
  ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  ['application/json; charset=utf-16', 'application/jsonx', 'application/problem+json'],
  ['APPLICATION/JSON', 'application/json;;;', '*/*', 'json', ',', 'application/json, text/plain'],
].flat()

export const oddQueries: readonly string[] = [
  ['limit=1&limit=2', 'limit[]=1', 'limit=', 'limit=1e1', 'limit=0x10', 'offset=-1', '&&&', '='],
  ['__proto__=1', '__proto__[polluted]=1', 'constructor.prototype.polluted=1', '%00=%00'],
  ['cursor=%FF%FE', 'q=%E0%A4%A', 'q=%ED%A0%80', 'tenant=*', 'tenant=acme&tenant=globex'],
  ['limit=99999999999999999999', 'offset=10001', 'from=9999-12-31T23:59:59Z', 'to=yesterday'],
  [`search=${'x'.repeat(5_000)}`, 'since=2026-01-05', 'limit=NaN', 'sort=payload', 'attempt=0'],
].flat()

export const tags: readonly string[] = [
  ['"1"', '"2"', '"1"', '*', 'W/"1"', '1', '"999"', '', ',', '"', '"1", "2"', 'x'.repeat(3_000)],
].flat()

/** The same for everybody: a key says nothing about whose it is. */
export const onceKeys: readonly string[] = [
  ['k1', 'k2', 'k3', 'k4', 'k5', '', ' ', 'x'.repeat(255), 'x'.repeat(256), '__proto__', '"q"'],
].flat()
