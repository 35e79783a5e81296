// The one file that knows the client package: a link to one server or to a cluster, commands as
// lists of words, and a channel. Loaded when a store is opened, so that it stays optional.

import type * as Redis from '@redis/client'
import { SchedulerError } from '../../core/errors.ts'
import type { Address } from './address.ts'

export interface Link {
  send(words: readonly string[]): Promise<unknown>
  destroy(): void
}

export interface LinkOptions {
  readonly address: Address
  readonly connectMs: number
  /** Ends the link, however far it came. */
  readonly signal: AbortSignal
  /** Every word is about keys of this slot. */
  readonly slotKey: string
  /** The link is of no more use. */
  readonly onLost: () => void
}

async function load(): Promise<typeof Redis> {
  try {
    return await import('@redis/client')
  } catch (error) {
    throw new SchedulerError(
      'SETTINGS_INVALID',
      'the Redis store needs the package @redis/client: npm install @redis/client',
      { cause: error },
    )
  }
}

/**
 * The client leaves the timer of connecting armed on a connected socket, which then wakes the process
 * when all is quiet; a longer one takes its place. In milliseconds, the longest a timer knows.
 */
const socketTimeout = 2 ** 31 - 1

/** Never waits for a server that is away: a call fails, and the next one connects anew. */
export async function connect(options: LinkOptions): Promise<Link> {
  const { createClient } = await load()
  const { address, connectMs, signal, onLost } = options
  const client = createClient({
    url: address.url,
    RESP: 2,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: false, connectTimeout: connectMs, socketTimeout },
  })
  client.on('error', onLost)
  const destroy = endedBy(signal, client)
  await client.connect()
  return { send: words => client.sendCommand(words), destroy }
}

export async function connectCluster(options: LinkOptions): Promise<Link> {
  const { createCluster } = await load()
  const { address, connectMs, slotKey } = options
  const cluster = createCluster({
    rootNodes: [{ url: address.url }],
    RESP: 2,
    commandOptions: { timeout: 0 },
    defaults: {
      ...credentials(address),
      disableOfflineQueue: true,
      socket: {
        reconnectStrategy: false,
        connectTimeout: connectMs,
        socketTimeout,
        ...(address.isTls ? { tls: true } : {}),
      },
    },
  })
  cluster.on('error', () => {})
  cluster.on('node-error', options.onLost)
  const destroy = endedBy(options.signal, cluster)
  await cluster.connect()
  return { send: words => cluster.sendCommand(slotKey, false, [...words]), destroy }
}

interface Ending {
  readonly isOpen: boolean
  destroy(): void
}

function endedBy(signal: AbortSignal, client: Ending): () => void {
  const end = () => {
    if (client.isOpen) client.destroy()
  }
  signal.throwIfAborted()
  signal.addEventListener('abort', end, { once: true })
  return end
}

const RETRY_FIRST_MS = 50
const RETRY_MAX_MS = 5_000

export interface Channel {
  readonly address: Address
  readonly isCluster: boolean
  readonly name: string
  readonly onMessage: (message: string) => void
  /** Connected again: something may have been said in between. */
  readonly onReady: () => void
}

/** A connection of its own that comes back by itself, however long the server is away. */
export function subscribe(channel: Channel): () => void {
  let leave: (() => void) | null = null
  let hasLeft = false
  const join = async () => {
    const client = channel.isCluster ? await clusterOf(channel) : await clientOf(channel)
    client.on('error', () => {})
    leave = () => {
      if (client.isOpen) client.destroy()
    }
    if (hasLeft) return
    await client.connect()
    await client.sSubscribe(channel.name, channel.onMessage)
  }
  // Without hints the loop still looks from time to time: there is nothing to say.
  join().catch(() => {})
  return () => {
    hasLeft = true
    leave?.()
  }
}

function comingBack({ address }: Channel) {
  return {
    reconnectStrategy: (retries: number) =>
      Math.min(RETRY_FIRST_MS * 2 ** Math.min(retries, 10), RETRY_MAX_MS),
    socketTimeout,
    ...(address.isTls ? ({ tls: true } as const) : {}),
  }
}

async function clusterOf(channel: Channel) {
  const { createCluster } = await load()
  const { address } = channel
  const defaults = { ...credentials(address), socket: comingBack(channel) }
  const cluster = createCluster({ rootNodes: [{ url: address.url }], RESP: 2, defaults })
  cluster.on('node-ready', channel.onReady)
  return cluster
}

async function clientOf(channel: Channel) {
  const { createClient } = await load()
  const { url } = channel.address
  const socket = comingBack(channel)
  const client = createClient({ url, RESP: 2, maintNotifications: 'disabled', socket })
  client.on('ready', channel.onReady)
  return client
}

function credentials({ username, password }: Address) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  }
}
