// A TCP proxy that does to connections what networks do: refuse, reset, swallow, delay, and cut
// off the answer to a request that got through.

import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'

export type ProxyMode =
  | { readonly kind: 'pass' }
  /** Nobody listens, and who was connected no longer is. */
  | { readonly kind: 'refuse' }
  /** Connections stay, and nothing goes through; what was sent meanwhile arrives afterwards. */
  | { readonly kind: 'blackhole' }
  | { readonly kind: 'slow'; readonly delayMs: number }

export interface ProxyCounts {
  connections: number
  refusals: number
  resets: number
  cuts: number
}

/** One direction: what has to wait its turn, oldest first. */
interface Flow {
  readonly from: Socket
  readonly to: Socket
  readonly late: { readonly bytes: Buffer; readonly dueAt: number }[]
}

interface Link {
  readonly client: Socket
  readonly server: Socket
  /** The server has a request whose answer is not to arrive. */
  isCut: boolean
}

const HIGH_WATER = 2 ** 20

export class FaultProxy {
  readonly #target: { readonly host: string; readonly port: number }
  readonly #links = new Set<Link>()
  #listener: Server | null = null
  #mode: ProxyMode = { kind: 'pass' }
  #cutsLeft = 0
  readonly counts: ProxyCounts = { connections: 0, refusals: 0, resets: 0, cuts: 0 }
  port = 0

  private constructor(target: { host: string; port: number }) {
    this.#target = target
  }

  static async to(target: { host: string; port: number }): Promise<FaultProxy> {
    const proxy = new FaultProxy(target)
    await proxy.#listen()
    return proxy
  }

  /** The same address with this proxy in between. */
  through(url: string): string {
    const address = new URL(url)
    address.hostname = '127.0.0.1'
    address.port = String(this.port)
    return address.href
  }

  get mode(): ProxyMode {
    return this.#mode
  }

  async set(mode: ProxyMode): Promise<void> {
    this.#mode = mode
    if (mode.kind === 'refuse') {
      await this.#deafen()
      this.counts.refusals++
      this.reset()
      return
    }
    if (this.#listener === null) await this.#listen()
    for (const { client, server } of this.#links) {
      for (const socket of [client, server]) {
        if (mode.kind === 'blackhole') socket.pause()
        else socket.resume()
      }
    }
  }

  /** Ends every connection at once, without a goodbye. */
  reset(): number {
    const { size } = this.#links
    for (const link of this.#links) this.#cut(link)
    this.counts.resets += size
    return size
  }

  /** The next so many requests get through, and their answers do not. */
  cutReplies(count = 1): void {
    this.#cutsLeft += count
  }

  async close(): Promise<void> {
    this.reset()
    await this.#deafen()
  }

  async #listen(): Promise<void> {
    const listener = createServer({ pauseOnConnect: true }, client => this.#accept(client))
    listener.listen(this.port, '127.0.0.1')
    await once(listener, 'listening')
    this.port = (listener.address() as AddressInfo).port
    this.#listener = listener
  }

  async #deafen(): Promise<void> {
    const listener = this.#listener
    this.#listener = null
    if (listener === null) return
    const closed = once(listener, 'close')
    listener.close()
    this.reset()
    await closed
  }

  #accept(client: Socket): void {
    const server = connect(this.#target)
    const link: Link = { client, server, isCut: false }
    this.#links.add(link)
    this.counts.connections++
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      socket.on('error', () => this.#cut(link))
      socket.on('close', () => this.#cut(link))
    }
    const there: Flow = { from: client, to: server, late: [] }
    const back: Flow = { from: server, to: client, late: [] }
    client.on('data', bytes => {
      if (this.#cutsLeft > 0 && !link.isCut) {
        this.#cutsLeft--
        link.isCut = true
      }
      this.#forward(link, there, bytes)
    })
    server.on('data', bytes => {
      if (link.isCut) {
        // It answers: the request was done. Nobody will hear of it.
        this.counts.cuts++
        this.#cut(link)
        return
      }
      this.#forward(link, back, bytes)
    })
    if (this.#mode.kind === 'blackhole') server.pause()
    else client.resume()
  }

  /** Whatever the mode was when a chunk came, none overtakes another. */
  #forward(link: Link, flow: Flow, bytes: Buffer): void {
    if (this.#mode.kind !== 'slow' && flow.late.length === 0) {
      this.#send(link, flow, bytes)
      return
    }
    const delayMs = this.#mode.kind === 'slow' ? this.#mode.delayMs : 0
    flow.late.push({ bytes, dueAt: performance.now() + delayMs })
    if (flow.late.length === 1) this.#delay(link, flow)
  }

  #delay(link: Link, flow: Flow): void {
    const waitMs = this.#mode.kind === 'slow' ? flow.late[0]!.dueAt - performance.now() : 0
    setTimeout(
      () => {
        if (!this.#links.has(link)) return
        // Nothing passes a black hole, not even what was on its way.
        if (this.#mode.kind !== 'blackhole') this.#send(link, flow, flow.late.shift()!.bytes)
        if (flow.late.length > 0) this.#delay(link, flow)
      },
      Math.max(1, waitMs),
    ).unref()
  }

  #send(link: Link, { from, to }: Flow, bytes: Buffer): void {
    if (!this.#links.has(link)) return
    to.write(bytes)
    if (to.writableLength < HIGH_WATER) return
    from.pause()
    to.once('drain', () => this.#goOn(from))
  }

  #goOn(socket: Socket): void {
    if (this.#mode.kind !== 'blackhole') socket.resume()
  }

  #cut(link: Link): void {
    if (!this.#links.delete(link)) return
    for (const socket of [link.client, link.server]) {
      if (socket.connecting) socket.destroy()
      else socket.resetAndDestroy()
    }
  }
}
