// Values of an answer as text, written in steps: one field may hold most of what was answered.

import type { Steps } from '../actions/slices.ts'
import { canonicalJson } from '../core/json.ts'
import { ExactNumber } from './json-answer.ts'

/** Values written between two steps: less than a millisecond. */
const VALUES_PER_STEP = 500

/** A list or object of which some values are written. */
interface OpenContainer {
  readonly kind: 'list' | 'object'
  readonly value: Readonly<Record<string, unknown>>
  /** In the order in which they are written; a list has its places as they are. */
  readonly names: readonly string[] | null
  readonly size: number
  written: number
}

/** As canonicalJson, with the digits of exact numbers. */
export function* answerText(root: unknown): Steps<string> {
  if (!isContainer(root)) return scalarText(root)
  const texts: string[] = []
  let parts: string[] = []
  const open = [opened(root, parts)]
  for (let count = 1; open.length > 0; count++) {
    if (count % VALUES_PER_STEP === 0) {
      texts.push(parts.join(''))
      parts = []
      yield
    }
    const container = open.at(-1)!
    if (container.written === container.size) {
      parts.push(container.kind === 'list' ? ']' : '}')
      open.pop()
      continue
    }
    const value = next(container, parts)
    if (isContainer(value)) open.push(opened(value, parts))
    else parts.push(scalarText(value))
  }
  return texts.join('') + parts.join('')
}

export function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber)
}

function opened(value: Readonly<Record<string, unknown>>, parts: string[]): OpenContainer {
  if (Array.isArray(value)) {
    parts.push('[')
    return { kind: 'list', value, names: null, size: value.length, written: 0 }
  }
  parts.push('{')
  const names = Object.keys(value).sort()
  return { kind: 'object', value, names, size: names.length, written: 0 }
}

function next(container: OpenContainer, parts: string[]): unknown {
  const { value, names } = container
  const at = container.written++
  if (at > 0) parts.push(',')
  if (names === null) return value[at]
  const name = names[at]!
  parts.push(JSON.stringify(name), ':')
  return value[name]
}

function scalarText(value: unknown): string {
  return value instanceof ExactNumber ? value.toString() : canonicalJson(value)
}
