// One way to the server: connected when needed, checked each time, given up when it fails. Every
// call ends within a bound; whether a lost one was carried out is for its caller to find out.

import { SchedulerError } from '../../core/errors.ts'
import type { Millis } from '../../core/time.ts'
import { addressOf, type Address } from './address.ts'
import { checkLayout, checkServer, type ServerCheck } from './check.ts'
import { connect, connectCluster, type Link } from './client.ts'
import { breaksLink, isNoScript, translated } from './errors.ts'
import { scriptOf, type ScriptName } from './scripts.ts'

/** Calls back once after so long; the function it returns takes that back. */
export type After = (ms: Millis, callback: () => void) => () => void

export interface ConnectionOptions {
  readonly url: string
  /** The timer behind `callMs`; without it a silent server is only noticed by the system. */
  readonly after?: After
  /** How long a call may take, from the first word sent to the answer. */
  readonly callMs?: Millis
  readonly connectMs?: Millis
  /** Takes over the keys of a namespace that lost its marker. */
  readonly adopts?: boolean
}

/** A link being made or in use, and what ends it. */
interface OpenLink {
  readonly link: Promise<Link>
  readonly stop: AbortController
}

const CALL_MS = 10_000
const CONNECT_MS = 5_000

export class Connection {
  readonly address: Address
  /** All keys begin with it; what is in braces puts them in one slot of a cluster. */
  readonly prefix: string
  readonly #options: ConnectionOptions
  #current: OpenLink | null = null
  #isOpen = false
  #checked: ServerCheck | null = null
  /** Of the marker found first: a namespace made anew at its place is not the one in use. */
  #identity: string | null = null

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.address = addressOf(options.url)
    this.prefix = `{${this.address.namespace}}:`
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isCluster(): boolean {
    return this.#checked?.isCluster ?? false
  }

  /** What was found out about the server; null before it was reached. */
  get checked(): ServerCheck | null {
    return this.#checked
  }

  async open(): Promise<void> {
    if (this.#isOpen) return
    this.#isOpen = true
    try {
      const open = this.#openLink()
      await this.#within(open, open.link)
    } catch (error) {
      this.close()
      throw this.#translated(error)
    }
  }

  close(): void {
    this.#isOpen = false
    this.#drop(this.#current)
  }

  /** The answer of a script. The server may have lost it; then it is sent along. */
  async run(name: ScriptName, args: readonly string[]): Promise<unknown> {
    const { sha, text, isWriting } = scriptOf(name)
    return this.#call(async link => {
      const words = ['1', `${this.prefix}meta`, ...args]
      if (isWriting) words.push(this.#identity ?? '')
      try {
        return await link.send(['EVALSHA', sha, ...words])
      } catch (error) {
        if (!isNoScript(error)) throw error
        return link.send(['EVAL', text, ...words])
      }
    })
  }

  async send(...words: string[]): Promise<unknown> {
    return this.#call(link => link.send(words))
  }

  async #call(work: (link: Link) => Promise<unknown>): Promise<unknown> {
    if (!this.#isOpen) throw this.#closed()
    const open = this.#openLink()
    try {
      return await this.#within(open, open.link.then(work))
    } catch (error) {
      if (breaksLink(error)) this.#drop(open)
      throw this.#translated(error)
    }
  }

  /** A link that did not answer in time is not used again: what it says next answers something else. */
  #within<T>(open: OpenLink, work: Promise<T>): Promise<T> {
    const { after, callMs = CALL_MS } = this.#options
    if (after === undefined) return work
    return new Promise((resolve, reject) => {
      const cancel = after(callMs, () => {
        const why = `no answer within ${callMs} ms`
        const { label } = this.address
        reject(new SchedulerError('STORE_UNAVAILABLE', `the Redis store at ${label}: ${why}`))
        this.#drop(open)
      })
      work.then(resolve, reject).finally(cancel)
    })
  }

  #openLink(): OpenLink {
    if (this.#current) return this.#current
    const stop = new AbortController()
    const made: OpenLink = { stop, link: this.#connect(stop.signal, () => this.#drop(made)) }
    this.#current = made
    made.link.catch(() => this.#drop(made))
    return made
  }

  async #connect(signal: AbortSignal, onLost: () => void): Promise<Link> {
    const { address, prefix } = this
    const { connectMs = CONNECT_MS } = this.#options
    const options = { address, connectMs, slotKey: `${prefix}meta`, signal, onLost }
    let link = await connect(options)
    const checked = await checkServer(link, address.label)
    if (checked.isCluster) {
      link.destroy()
      link = await connectCluster(options)
    }
    const { adopts = false } = this.#options
    const known = { prefix, label: address.label, identity: this.#identity, adopts }
    this.#identity = await checkLayout(link, known)
    this.#checked = checked
    return link
  }

  /** Whatever is open of it is closed, however far it came. */
  #drop(open: OpenLink | null): void {
    if (open === null) return
    if (this.#current === open) this.#current = null
    open.stop.abort()
  }

  #closed(): SchedulerError {
    return new SchedulerError(
      'STORE_UNAVAILABLE',
      `the Redis store at ${this.address.label} is closed`,
    )
  }

  #translated(error: unknown): unknown {
    return translated(error, this.address.label)
  }
}
