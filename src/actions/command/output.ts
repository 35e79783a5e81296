// What a command prints: lines for the log, and its last words for the result.

import type { Readable } from 'node:stream'
import { limits } from '../../core/limits.ts'
import type { CountedLog } from '../../engine/context.ts'
import type { Masking } from '../masking.ts'

const LINE_MAX = limits.logMessageLength
const TAIL_MAX = 2_048
/** Held before the tail, so that a secret at its beginning is masked as a whole. */
const BEFORE_TAIL = 2_048

export class Output {
  readonly #log: CountedLog
  readonly #masking: Masking | null
  readonly #tails: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' }
  #lines = 0

  constructor(log: CountedLog, masking: Masking | null = null) {
    this.#log = log
    this.#masking = masking
  }

  get isCut(): boolean {
    return this.#log.isCut()
  }

  tail(name: 'stdout' | 'stderr'): string {
    return this.#masked(this.#tails[name]).slice(-TAIL_MAX)
  }

  #masked(text: string): string {
    return this.#masking?.masked(text) ?? text
  }

  /** Reads to the end whatever happens: a command must not hang because nobody listens. */
  listen(stream: Readable, name: 'stdout' | 'stderr'): void {
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      this.#tails[name] = (this.#tails[name] + text).slice(-TAIL_MAX - BEFORE_TAIL)
      const lines = (rest + text).split('\n')
      rest = lines.pop()!.slice(0, LINE_MAX)
      for (const line of this.#kept(lines, name)) this.#line(line, name)
    })
    stream.on('end', () => {
      if (rest !== '') this.#line(rest, name)
    })
    stream.on('error', () => {})
  }

  /** Of very many at once only those that could be kept are looked at one by one. */
  #kept(lines: readonly string[], name: 'stdout' | 'stderr'): readonly string[] {
    const head = Math.max(0, limits.logHeadLines - this.#lines)
    const between = lines.length - head - limits.logTailLines
    if (between <= 0) return lines
    for (const line of lines.slice(0, head)) this.#line(line, name)
    this.#log.leaveOut(between)
    return lines.slice(head + between)
  }

  #line(given: string, stream: 'stdout' | 'stderr'): void {
    const isCut = given.length >= LINE_MAX
    const line = isCut ? (this.#masking?.maskedCut(given) ?? given) : this.#masked(given)
    const level = stream === 'stdout' ? 'info' : 'warn'
    // Who follows a flood would drown in it.
    if (++this.#lines > limits.logLinesPerAttempt) this.#log.keep(level, line, { stream })
    else this.#log[level](line, { stream })
  }
}
