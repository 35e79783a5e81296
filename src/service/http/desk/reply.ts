// The answer of a desk while a handler makes it: the part of Fastify's reply that our handlers use.

import type { Readable } from 'node:stream'
import type { Reply } from '../app/parts.ts'

export interface Answer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | Readable
}

type Serializer = (body: unknown) => string

export class DeskReply {
  statusCode = 200
  readonly #headers = new Map<string, string>()
  #serializer: Serializer = body => JSON.stringify(body)
  #body: string | Readable | null = null

  /** As handlers know it. */
  get face(): Reply {
    return this as unknown as Reply
  }

  get isSent(): boolean {
    return this.#body !== null
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  header(name: string, value: unknown): this {
    this.#headers.set(name.toLowerCase(), String(value))
    return this
  }

  headers(values: Readonly<Record<string, unknown>>): this {
    for (const [name, value] of Object.entries(values)) this.header(name, value)
    return this
  }

  type(value: string): this {
    return this.header('content-type', value)
  }

  serializer(serializer: Serializer): this {
    this.#serializer = serializer
    return this
  }

  send(body?: unknown): this {
    if (body === undefined) this.#body = ''
    else if (isStream(body)) this.#body = body
    else if (typeof body === 'string') this.#sendText(body)
    else this.#sendValue(body)
    return this
  }

  #sendText(text: string): void {
    if (!this.#headers.has('content-type')) this.type('text/plain; charset=utf-8')
    this.#body = text
  }

  #sendValue(value: unknown): void {
    if (!this.#headers.has('content-type')) this.type('application/json; charset=utf-8')
    this.#body = this.#serializer(value)
  }

  answer(): Answer {
    return { status: this.statusCode, headers: this.#headers, body: this.#body ?? '' }
  }
}

function isStream(body: unknown): body is Readable {
  return typeof body === 'object' && body !== null && 'pipe' in body
}
