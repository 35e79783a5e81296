// A body of JSON: of bounded depth and breadth, and with nothing in it that reaches prototypes.

import { excessOf, type JsonBounds } from './json-bounds.ts'
import { HttpProblem } from './problem.ts'

/** The value a text of JSON stands for; undefined when there is none. */
export function parseBody(text: string, bounds: JsonBounds): unknown {
  // Clients that always send the type also send it without a body.
  if (text.trim() === '') return undefined
  // Before it is parsed: parsing millions of lists would hold everyone up.
  const excess = excessOf(text, bounds)
  if (excess !== null) throw new HttpProblem('malformed-body', `the body ${excess}`)
  return parsed(text)
}

const BYTE_ORDER_MARK = '\uFEFF'
/** Only a text with one of these, or with escapes, can name what reaches a prototype. */
const suspects = ['__proto__', 'constructor', '\\u']

function parsed(text: string): unknown {
  const plain = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
  try {
    const value: unknown = JSON.parse(plain)
    const isSuspect = suspects.some(part => plain.includes(part))
    if (!isSuspect || !reachesPrototype(value)) return value
  } catch {
    // Said below, and never what the text was.
  }
  throw new HttpProblem('malformed-body', 'the body is not valid JSON')
}

/** The depth is bounded by now. */
function reachesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(reachesPrototype)
  return Object.entries(value).some(
    ([key, inner]) =>
      key === '__proto__' ||
      (key === 'constructor' && hasPrototype(inner)) ||
      reachesPrototype(inner),
  )
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}
