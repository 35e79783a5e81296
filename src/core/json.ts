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
