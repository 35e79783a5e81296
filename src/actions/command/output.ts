// What a command prints: lines for the log, and its last words for the result.

import type { Readable } from 'node:stream'
import { limits } from '../../core/limits.ts'
import type { CountedLog } from '../../engine/context.ts'

const LINE_MAX = limits.logMessageLength
const TAIL_MAX = 2_048

export class Output {
  readonly #log: CountedLog
  readonly #tails: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' }
  #lines = 0

  constructor(log: CountedLog) {
    this.#log = log
  }

  get isCut(): boolean {
    return this.#log.isCut()
  }

  tail(name: 'stdout' | 'stderr'): string {
    return this.#tails[name]
  }

  /** Reads to the end whatever happens: a command must not hang because nobody listens. */
  listen(stream: Readable, name: 'stdout' | 'stderr'): void {
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      this.#tails[name] = (this.#tails[name] + text).slice(-TAIL_MAX)
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

  #line(line: string, stream: 'stdout' | 'stderr'): void {
    const level = stream === 'stdout' ? 'info' : 'warn'
    // Who follows a flood would drown in it.
    if (++this.#lines > limits.logLinesPerAttempt) this.#log.keep(level, line, { stream })
    else this.#log[level](line, { stream })
  }
}
