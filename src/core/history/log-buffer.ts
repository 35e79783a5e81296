// Which lines of an attempt's log are kept: the first and the last ones, with a line between them that
// says how many were left out. The last ones wait in memory until the attempt ends.

import type { JsonObject } from '../json.ts'
import { limits } from '../limits.ts'
import type { LogLine } from './report.ts'
import type { Instant } from '../time.ts'

interface WaitingLine {
  readonly line: LogLine
  readonly bytes: number
}

export class LogBuffer {
  #head = 0
  #headBytes = 0
  #isHeadOver = false
  #tail: WaitingLine[] = []
  /** Where the tail begins: what is before it was left out, and is taken away now and then. */
  #from = 0
  #tailBytes = 0
  #leftOut = 0

  /** The line if it is to be kept right away; null when it waits for the end. */
  add(given: LogLine): LogLine | null {
    const { line, bytes } = sized(given)
    this.#headBytes += bytes
    this.#isHeadOver ||= this.#head >= limits.logHeadLines || this.#headBytes > limits.logHalfBytes
    if (!this.#isHeadOver) {
      this.#head++
      return line
    }
    this.#tail.push({ line, bytes })
    this.#tailBytes += bytes
    while (this.#isTailFull) {
      this.#tailBytes -= this.#tail[this.#from]!.bytes
      this.#from++
      this.#leftOut++
    }
    if (this.#from > limits.logTailLines) this.#compact()
    return null
  }

  /** Lines that somebody left out before, because there were too many at once. */
  leaveOut(lines: number): void {
    this.#isHeadOver = true
    this.#leftOut += lines + this.#tail.length - this.#from
    this.#tail = []
    this.#from = 0
    this.#tailBytes = 0
  }

  get isCut(): boolean {
    return this.#leftOut > 0
  }

  /** The end of the log, once. */
  end(now: Instant): LogLine[] {
    this.#compact()
    const tail = this.#tail.map(({ line }) => line)
    this.#tail = []
    if (this.#leftOut === 0) return tail
    const lines = this.#leftOut.toLocaleString('en')
    const message = `${lines} lines left out: the first ${this.#head} and the last ${tail.length} are kept`
    const at = tail[0]?.at ?? now
    return [{ at, level: 'warn', message, fields: { left_out: this.#leftOut } }, ...tail]
  }

  get #isTailFull(): boolean {
    const count = this.#tail.length - this.#from
    return count > limits.logTailLines || (count > 1 && this.#tailBytes > limits.logHalfBytes)
  }

  #compact(): void {
    this.#tail = this.#tail.slice(this.#from)
    this.#from = 0
  }
}

/** Fields that are too large, or no JSON, are left out; the message says more. */
function sized(line: LogLine): WaitingLine {
  const { message, fields } = line
  if (fields === null) return { line, bytes: message.length }
  const text = textOf(fields)
  if (text !== null && text.length <= limits.logFieldsBytes) {
    return { line, bytes: message.length + text.length }
  }
  const why = text === null ? 'they are no JSON' : `they have ${text.length} characters`
  return { line: { ...line, fields: { fields_left_out: why } }, bytes: message.length }
}

function textOf(fields: JsonObject): string | null {
  try {
    return JSON.stringify(fields)
  } catch {
    return null
  }
}
