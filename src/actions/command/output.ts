// What a command prints: lines for the log while there is room, and its last words for the result.

import type { Readable } from 'node:stream'
import type { ContextLog } from '../../engine/context.ts'

export const OUTPUT_BYTES_MAX = 256 * 1024
const LINES_MAX = 900
const LINE_MAX = 4_096
const TAIL_MAX = 2_048

export class Output {
  readonly #log: ContextLog
  #lines = 0
  #bytes = 0
  #isCut = false
  readonly #tails: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' }

  constructor(log: ContextLog) {
    this.#log = log
  }

  get isCut(): boolean {
    return this.#isCut
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
      for (const line of lines) this.#line(line, name)
    })
    stream.on('end', () => {
      if (rest !== '') this.#line(rest, name)
    })
    stream.on('error', () => {})
  }

  #line(line: string, stream: 'stdout' | 'stderr'): void {
    this.#bytes += line.length
    if (this.#lines >= LINES_MAX || this.#bytes > OUTPUT_BYTES_MAX) {
      if (!this.#isCut) this.#log.warn('the output is longer than what is kept')
      this.#isCut = true
      return
    }
    this.#lines++
    if (stream === 'stdout') this.#log.info(line, { stream })
    else this.#log.warn(line, { stream })
  }
}
