// A Redis server of our own: append-only file, nothing evicted, in a temporary folder, on a free
// port. It ends with this process.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { requireBinaries } from './binaries.ts'
import { makeFolder, removeFolder } from './folders.ts'
import { guard, release } from './guard.ts'
import { freePort } from './ports.ts'
import { eventually } from './wait.ts'

export interface RedisOptions {
  /** Directives that win over those of the tests. */
  readonly settings?: Readonly<Record<string, string | number>>
}

export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly folder: string
  /** Null while it is down. */
  readonly pid: number | null
  /** SIGKILL: what it wrote to its file by then is all that is left. */
  kill(): Promise<void>
  /** After `kill`: on the same port, with what its file holds. */
  start(): Promise<void>
  stop(): Promise<void>
}

const START_TRIES = 3
const START_MS = 30_000

const defaults = {
  bind: '127.0.0.1',
  appendonly: 'yes',
  appendfsync: 'everysec',
  save: '',
  'maxmemory-policy': 'noeviction',
  'enable-debug-command': 'local',
}

/** One command on a connection of its own. */
export async function askRedis(url: string, ...words: string[]): Promise<unknown> {
  const address = new URL(url)
  address.search = ''
  const client = createClient({
    url: address.href,
    // Lists stay lists, whatever the command means by them.
    RESP: 2,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: 10_000 },
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.sendCommand(words)
  } finally {
    client.destroy()
  }
}

/** Throws unless the server that answers works in this folder. */
export async function expectOwnRedis(url: string, folder: string): Promise<void> {
  const [, dir] = (await askRedis(url, 'CONFIG', 'GET', 'dir')) as string[]
  if (dir !== folder) {
    throw new Error(`another Redis server answers at ${url}: it is not ours to write to`)
  }
}

class Redis implements RedisServer {
  readonly #bin: string
  readonly #settings: Readonly<Record<string, string | number>>
  readonly folder: string
  #process: ChildProcess | null = null
  port = 0

  constructor(bin: string, folder: string, settings: Readonly<Record<string, string | number>>) {
    this.#bin = bin
    this.folder = folder
    this.#settings = settings
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}/0`
  }

  get pid(): number | null {
    const { pid, exitCode, signalCode } = this.#process ?? {}
    return pid === undefined || exitCode !== null || signalCode !== null ? null : pid
  }

  async startAnywhere(): Promise<void> {
    for (let left = START_TRIES; ; left--) {
      this.port = await freePort()
      try {
        return await this.start()
      } catch (error) {
        // Somebody may have taken the port in between.
        await this.kill()
        if (left <= 1) throw error
      }
    }
  }

  async start(): Promise<void> {
    const own = { port: this.port, dir: this.folder, pidfile: join(this.folder, 'redis.pid') }
    const log = { logfile: join(this.folder, 'server.log') }
    const settings = Object.entries({ ...defaults, ...this.#settings, ...own, ...log })
    const args = settings.flatMap(([name, value]) => [`--${name}`, String(value)])
    // Detached: Ctrl-C in a terminal is for the tests, which then stop it in their own way.
    this.#process = spawn(join(this.#bin, 'redis-server'), args, {
      detached: true,
      stdio: 'ignore',
      cwd: this.folder,
    })
    this.#process.unref()
    const answers = async () => {
      if (this.pid === null) throw new Error('redis-server ended')
      // A test may end connections while this one is open: then it is asked again.
      await expectOwnRedis(this.url, this.folder)
      return true
    }
    await eventually('Redis answers', answers, START_MS)
  }

  async kill(): Promise<void> {
    if (this.pid === null) return
    const gone = once(this.#process!, 'exit')
    // It kept nobody waiting while it ran; its end is waited for.
    this.#process!.ref()
    this.#process!.kill('SIGKILL')
    await gone
  }

  async stop(): Promise<void> {
    await this.kill()
    await removeFolder(this.folder)
    release(this.folder)
  }
}

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const bin = requireBinaries('redis')
  const folder = await realpath(await makeFolder('redis', null))
  guard({ folder, server: { pidFile: join(folder, 'redis.pid'), signal: 'SIGKILL' } })
  const server = new Redis(bin, folder, options.settings ?? {})
  try {
    await server.startAnywhere()
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}
