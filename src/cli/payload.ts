// What a run is given: JSON, a file of it, the standard input, or pairs such as segment=vip.

import { readFileSync } from 'node:fs'
import { usage } from './problem.ts'

/** Undefined when nothing was said. */
export function payloadOf(input: string | undefined, pairs: readonly string[]): unknown {
  if (input !== undefined && pairs.length > 0) throw usage('give --input or pairs, not both')
  if (input !== undefined) return readInput(input)
  if (pairs.length === 0) return undefined
  return Object.fromEntries(pairs.map(pairOf))
}

function readInput(input: string): unknown {
  const text = input.startsWith('@')
    ? readText(input.slice(1))
    : input === '-'
      ? readText('-')
      : input
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw usage('--input is not JSON', error instanceof Error ? error.message : null)
  }
}

/** `-` is the standard input. */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch {
    throw usage(`${path} cannot be read`)
  }
}

/** A value that is JSON is taken as such: n=3 is a number, n='"3"' a text. */
function pairOf(pair: string): [string, unknown] {
  const at = pair.indexOf('=')
  if (at <= 0) throw usage(`${pair} is not a pair`, 'such as segment=vip')
  const text = pair.slice(at + 1)
  try {
    return [pair.slice(0, at), JSON.parse(text)]
  } catch {
    return [pair.slice(0, at), text]
  }
}
