// A body of JSON: of bounded depth and breadth, and with nothing in it that reaches prototypes.

import { endOfString } from '../../../core/json/json-text.ts'
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

export interface JsonBounds {
  readonly jsonDepthMax: number
  readonly jsonKeysMax: number
}

/** Lists and objects in one text; what a body of the usual size could hold at most. */
export const CONTAINERS_MAX = 100_000

const QUOTE = 34
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** What is too much, as the end of a sentence; null when nothing is. A text that is no JSON may pass. */
export function excessOf(text: string, { jsonDepthMax, jsonKeysMax }: JsonBounds): string | null {
  let [depth, containers, keys] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at) ?? text.length
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (depth++ > jsonDepthMax) return `is nested deeper than ${jsonDepthMax}`
        if (++containers > CONTAINERS_MAX) {
          return `has more than ${CONTAINERS_MAX} lists and objects`
        }
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--
        break
      case COLON:
        if (++keys > jsonKeysMax) return `has more than ${jsonKeysMax} keys`
    }
  }
  return null
}
