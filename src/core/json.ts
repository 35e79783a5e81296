// JSON as data: the only shape payloads, results and metadata may have.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** Bytes of the value as UTF-8 JSON text; null when it cannot be written as JSON. */
export function jsonBytes(value: unknown): number | null {
  try {
    const text = JSON.stringify(value)
    return text === undefined ? null : utf8Length(text)
  } catch {
    return null
  }
}

/** More bytes than the value can have as JSON; null when only writing it can tell. */
export function jsonBytesBound(value: unknown, depth = 0): number | null {
  switch (typeof value) {
    case 'string':
      return value.length * CHAR_BYTES_MAX + 2
    case 'number':
      return NUMBER_BYTES_MAX
    case 'boolean':
      return 5
    case 'object':
      return value === null ? 4 : depth < BOUND_DEPTH ? boundOf(value, depth + 1) : null
    default:
      return null
  }
}

/** An escape such as \u0001. */
const CHAR_BYTES_MAX = 6
const NUMBER_BYTES_MAX = 25
const BOUND_DEPTH = 16

function boundOf(value: object, depth: number): number | null {
  if (Array.isArray(value)) return listBound(value, depth)
  if (Object.getPrototypeOf(value) !== Object.prototype) return null
  let sum = 2
  for (const key in value) {
    const part = jsonBytesBound((value as Record<string, unknown>)[key], depth)
    if (part === null) return null
    sum += part + key.length * CHAR_BYTES_MAX + 4
  }
  return sum
}

function listBound(list: readonly unknown[], depth: number): number | null {
  let sum = 2
  for (const item of list) {
    const part = jsonBytesBound(item, depth)
    if (part === null) return null
    sum += part + 1
  }
  return sum
}

function utf8Length(text: string): number {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) bytes += 1
    else if (code < 0x800) bytes += 2
    else if (code >= 0xd800 && code < 0xdc00) {
      bytes += 4
      i++
    } else bytes += 3
  }
  return bytes
}

/** One text per document, whatever the order of its keys: equal documents have equal texts. */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? listText(value) : objectText(value)
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null'
    case 'boolean':
      return value ? 'true' : 'false'
    default:
      return 'null'
  }
}

function listText(list: readonly unknown[]): string {
  let text = ''
  for (const item of list) text += `${text === '' ? '' : ','}${canonicalJson(item)}`
  return `[${text}]`
}

const PLAIN_KEY = /^\w*$/

function objectText(value: object): string {
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const held = (value as Record<string, unknown>)[key]
    if (held === undefined) continue
    // Most keys are plain: quoting them by hand is most of what there is to save.
    const name = PLAIN_KEY.test(key) ? `"${key}"` : JSON.stringify(key)
    text += `${text === '' ? '' : ','}${name}:${canonicalJson(held)}`
  }
  return `{${text}}`
}

/** Equal as JSON documents; the order of keys does not matter. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keysA = definedKeys(a)
  if (keysA.length !== definedKeys(b).length) return false
  return keysA.every(key => jsonEqual(field(a, key), field(b, key)))
}

function definedKeys(value: object): string[] {
  return Object.keys(value).filter(key => field(value, key) !== undefined)
}

function field(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}
