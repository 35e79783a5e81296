// What is wrong with values people give: every check adds to one list, so all problems are told at
// once and a value without any costs nothing.

import type { Problem } from './errors.ts'
import { jsonBytes, jsonBytesBound } from './json.ts'
import { isInstant } from './time.ts'

export class Findings {
  readonly problems: Problem[] = []

  /** `rule` completes "must be …". */
  add(field: string, value: unknown, rule: string): void {
    this.problems.push({ field, value, rule: `must be ${rule}` })
  }

  /** Text without control characters: it travels through logs, keys and terminals. */
  text(field: string, value: unknown, maxLength: number): void {
    if (typeof value !== 'string' || value.length === 0) {
      this.add(field, value, 'a text that is not empty')
    } else if (value.length > maxLength) {
      this.add(field, value, `at most ${maxLength} characters`)
    } else if (hasControl(value)) {
      this.add(field, value, 'no control characters')
    }
  }

  json(field: string, value: unknown, maxBytes: number): void {
    // Most values are far below the limit, which is seen without writing them out.
    if ((jsonBytesBound(value) ?? Infinity) <= maxBytes) return
    const bytes = jsonBytes(value)
    if (bytes === null) this.add(field, value, 'a value that can be written as JSON')
    else if (bytes > maxBytes) this.add(field, value, `at most ${maxBytes} bytes as JSON`)
  }

  instant(field: string, value: unknown): void {
    if (!isInstant(value)) this.add(field, value, 'a moment in whole epoch milliseconds')
  }

  whole(field: string, value: unknown, min: number, max: number): void {
    const fits = Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
    if (!fits) this.add(field, value, `a whole number from ${min} to ${max}`)
  }

  oneOf(field: string, value: unknown, allowed: readonly string[]): void {
    const fits = typeof value === 'string' && allowed.includes(value)
    if (!fits) this.add(field, value, `one of ${allowed.join(', ')}`)
  }
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}
