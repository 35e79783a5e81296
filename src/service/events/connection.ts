// One reader of the stream: what it wants, what it may see, and no more memory than it is worth.

import { Readable } from 'node:stream'
import { EVERY_TENANT, type Principal } from '../auth/principal.ts'
import type { Fact, Topic } from './facts.ts'
import { frame } from './ring.ts'

/** What may pile up for one reader; the rest of a burst is left out, and it is told to read anew. */
export const BUFFERED_BYTES_MAX = 512 * 1024

export interface Wanted {
  readonly topics: ReadonlySet<Topic>
  readonly jobId: string | null
}

export class Connection {
  readonly stream: Readable
  readonly principal: Principal
  readonly #wanted: Wanted
  #isBehind = false

  constructor(principal: Principal, wanted: Wanted) {
    this.principal = principal
    this.#wanted = wanted
    this.stream = new Readable({ read: () => {} })
    // Whoever leaves in the middle of a write is simply gone.
    this.stream.on('error', () => {})
  }

  wants(topic: Topic): boolean {
    return this.#wanted.topics.has(topic)
  }

  accepts({ topic, tenant, isOfScope, jobId }: Fact): boolean {
    if (!this.wants(topic)) return false
    const own = this.principal.tenant
    if (own !== tenant && (own !== EVERY_TENANT || isOfScope === true)) return false
    return this.#wanted.jobId === null || jobId === null || jobId === this.#wanted.jobId
  }

  send(text: string): void {
    if (this.stream.destroyed || this.stream.readableEnded) return
    const held = this.stream.readableLength
    if (held + text.length > BUFFERED_BYTES_MAX) this.#isBehind = true
    if (!this.#isBehind) {
      this.stream.push(text)
    } else if (held <= BUFFERED_BYTES_MAX / 2) {
      this.#isBehind = false
      this.stream.push(frame(null, 'resync', { reason: 'slow' }))
      this.stream.push(text)
    }
  }

  /** Who still has not read by now is not reading: it is closed, and can come back and go on. */
  ping(): void {
    this.send(': ping\n\n')
    if (this.#isBehind) this.stream.destroy()
  }

  end(reason: string): void {
    this.send(frame(null, 'end', { reason }))
    if (!this.stream.destroyed) this.stream.push(null)
  }
}
