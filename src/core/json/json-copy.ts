// Values of a program turned into JSON: a copy that shares nothing with the value it was made of,
// and a list of every part that JSON cannot carry.

import { errorInfo, type Problem } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'

/** How an undefined inside a list is read: refused where people give data, null in results. */
export type Holes = 'refuse' | 'null'

const DEPTH_MAX = 500
const PROBLEMS_MAX = 20

/**
 * A copy of the value as JSON. `field` names it in problems. Members that are undefined are dropped,
 * dates become ISO strings, `toJSON` is called, instances of classes become their own fields. With
 * problems, what is returned is not to be used.
 */
export function toJson(
  value: unknown,
  field: string,
  problems: Problem[],
  holes: Holes = 'refuse',
): Json {
  try {
    return new Walk(field, problems, holes).copy(value, null) ?? null
  } catch (error) {
    const { message } = errorInfo(error)
    problems.push({ field, value: undefined, rule: `cannot be read: ${message}` })
    return null
  }
}

/** A copy of what already is JSON, such as a stored payload. Strings, numbers and null need none. */
export function copyJson<T extends Json>(value: T): T
export function copyJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => copyJson(item as Json))
  const copy: Record<string, Json> = {}
  for (const key of Object.keys(value)) put(copy, key, copyJson((value as JsonObject)[key]!))
  return copy
}

/** An own member also when its name is the one through which prototypes are set. */
function put(target: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value
  else
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

/** One object or list on the way to the value being copied. */
interface Step {
  readonly up: Step | null
  readonly value: object
  /** Which member of it is being copied. */
  key: string | number | null
  readonly depth: number
}

class Walk {
  readonly #field: string
  readonly #problems: Problem[]
  readonly #holes: Holes

  constructor(field: string, problems: Problem[], holes: Holes) {
    this.#field = field
    this.#problems = problems
    this.#holes = holes
  }

  /** Undefined for what is left out. */
  copy(value: unknown, up: Step | null): Json | undefined {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        // JSON has no negative zero either.
        return Number.isFinite(value) ? value + 0 : this.#fault(value, up, notCarried(value))
      case 'undefined':
        return undefined
      case 'object':
        return value === null ? null : this.#copyObject(value, up)
      default:
        return this.#fault(value, up, notCarried(value))
    }
  }

  #copyObject(value: object, up: Step | null): Json | undefined {
    const depth = (up?.depth ?? 0) + 1
    if (depth > DEPTH_MAX)
      return this.#fault(value, up, `is nested more than ${DEPTH_MAX} levels deep`)
    for (let step = up; step !== null; step = step.up) {
      if (step.value === value) return this.#fault(value, up, 'refers back to itself')
    }
    if (Array.isArray(value)) return this.#copyList(value, { up, value, key: 0, depth })
    const proto: unknown = Object.getPrototypeOf(value)
    const isPlain = proto === Object.prototype || proto === null
    if (!isPlain && isLossy(value)) return this.#fault(value, up, notCarried(value))
    const converted = this.#convert(value, up)
    if (converted !== value) {
      return typeof converted === 'object' && converted !== null
        ? this.#copyObject(converted, { up, value, key: null, depth })
        : this.copy(converted, up)
    }
    if (!isPlain && tagOf(value) !== 'Object') return this.#fault(value, up, notCarried(value))
    return this.#copyMembers(value, { up, value, key: null, depth })
  }

  /** What `toJSON` makes of it, or the value itself. */
  #convert(value: object, up: Step | null): unknown {
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON !== 'function') return value
    try {
      return toJSON.call(value, String(up?.key ?? ''))
    } catch (error) {
      const { message } = errorInfo(error)
      return this.#fault(value, up, `cannot be written as JSON: ${message}`)
    }
  }

  #copyList(list: readonly unknown[], step: Step): Json {
    const copy: Json[] = []
    for (let i = 0; i < list.length; i++) {
      step.key = i
      const item = list[i]
      if (item === undefined && this.#holes === 'refuse') {
        this.#fault(item, step, 'is undefined, which a JSON list cannot carry: use null')
      }
      copy.push(this.copy(item, step) ?? null)
    }
    return copy
  }

  #copyMembers(value: object, step: Step): Json {
    const copy: Record<string, Json> = {}
    for (const key of Object.keys(value)) {
      step.key = key
      const member = this.copy((value as Record<string, unknown>)[key], step)
      if (member !== undefined) put(copy, key, member)
    }
    return copy
  }

  #fault(value: unknown, up: Step | null, rule: string): undefined {
    if (this.#problems.length >= PROBLEMS_MAX) return
    const keys: (string | number)[] = []
    for (let step = up; step !== null; step = step.up) {
      if (step.key !== null) keys.unshift(step.key)
    }
    this.#problems.push({ field: [this.#field, ...keys].join('.'), value, rule })
  }
}

/** Objects whose `toJSON` or fields do not hold what they stand for. */
function isLossy(value: object): boolean {
  if (ArrayBuffer.isView(value)) return true
  return value instanceof Date && Number.isNaN(value.getTime())
}

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

const insteadOf: Readonly<Record<string, string>> = {
  Map: 'pass Object.fromEntries(map) or a list of pairs',
  Set: 'pass a list: [...set]',
  BigInt: 'pass a string and read it with a schema such as z.coerce.bigint()',
  Uint8Array: "pass a string, for instance buffer.toString('base64')",
  Promise: 'await it first',
  Error: 'pass its message',
}

/** A BigInt, a Map, NaN: named, with what to pass instead where there is one way. */
function notCarried(value: unknown): string {
  const tag = tagOf(value)
  const name = typeof value === 'number' ? String(value) : named(value, tag)
  const hint = insteadOf[tag]
  return `${name} cannot be carried as JSON${hint === undefined ? '' : `: ${hint}`}`
}

function named(value: unknown, tag: string): string {
  if (typeof value === 'function') return 'a function'
  if (value instanceof Date) return 'an invalid Date'
  return `${/^[AEIO]/.test(tag) ? 'an' : 'a'} ${tag}`
}
