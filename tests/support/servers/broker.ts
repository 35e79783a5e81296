// The servers that the tests of one run share. A test asks over HTTP, since it runs in a process
// of its own; the first one to ask for a kind of server has it started.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServerKind } from './binaries.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'

/** Where tests find the broker. */
export const BROKER_VARIABLE = 'CARILLON_TEST_SERVERS'

/** A server, or the reason why there is none. */
export type Offer = { readonly url: string } | { readonly missing: string }

interface Running {
  readonly url: string
  stop(): Promise<void>
}

export interface Broker {
  readonly url: string
  /** What was asked for and is not there. */
  readonly missing: ReadonlyMap<ServerKind, string>
  stop(): Promise<void>
}

const starters: Readonly<Record<ServerKind, () => Promise<Running>>> = {
  postgres: startPostgres,
  redis: startRedis,
}

class SharedServers {
  readonly missing = new Map<ServerKind, string>()
  readonly #started = new Map<ServerKind, Promise<Running>>()

  async offer(kind: ServerKind): Promise<Offer> {
    let server = this.#started.get(kind)
    if (server === undefined) {
      server = starters[kind]()
      this.#started.set(kind, server)
    }
    try {
      return { url: (await server).url }
    } catch (error) {
      const missing = error instanceof Error ? error.message : String(error)
      this.missing.set(kind, missing)
      return { missing }
    }
  }

  async stop(): Promise<void> {
    const servers = await Promise.allSettled(this.#started.values())
    for (const server of servers) {
      if (server.status === 'fulfilled') await server.value.stop()
    }
  }
}

export async function startBroker(): Promise<Broker> {
  const servers = new SharedServers()
  const http = createServer((request, response) => {
    const kind = request.url?.slice(1)
    if (kind !== 'postgres' && kind !== 'redis') {
      response.writeHead(404).end()
      return
    }
    void servers.offer(kind).then(offer => response.end(JSON.stringify(offer)))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    missing: servers.missing,
    stop: async () => {
      http.closeAllConnections()
      http.close()
      await servers.stop()
    },
  }
}
