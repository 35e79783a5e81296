// A PostgreSQL server of our own: a fresh cluster in a temporary folder, on a free port, with the
// durability of production. It ends with this process.

import { appendFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import { requireBinaries } from './binaries.ts'
import { makeFolder, removeFolder, serverOwner, type Owner } from './folders.ts'
import { guard, release } from './guard.ts'
import { freePort } from './ports.ts'
import { readPid, run } from './processes.ts'

export interface PostgresOptions {
  /** Lines of postgresql.conf that win over those of the tests. */
  readonly settings?: Readonly<Record<string, string | number>>
}

export interface PostgresServer {
  readonly url: string
  readonly port: number
  readonly folder: string
  /** The postmaster's; null while it is down. */
  readonly pid: number | null
  /** `immediate` is what a crash looks like: no checkpoint, recovery at the next start. */
  restart(mode: 'immediate' | 'fast'): Promise<void>
  /** As a crash does it, until the next `restart`. */
  halt(): Promise<void>
  stop(): Promise<void>
}

const START_TRIES = 3

const defaults = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  log_min_messages: 'warning',
}

function conf(settings: Readonly<Record<string, string | number>>): string {
  const quoted = (value: string | number) => `'${String(value).replaceAll("'", "''")}'`
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${quoted(value)}`)
  return `${lines.join('\n')}\n`
}

/** One question on a connection of its own. */
export async function askPostgres(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: bare(url), connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Without what only the store's own URLs know. */
function bare(url: string): string {
  const parsed = new URL(url)
  parsed.searchParams.delete('schema')
  return parsed.href
}

/** Throws unless the server that answers is the one that was started with this name. */
export async function expectOwnPostgres(url: string, name: string): Promise<void> {
  const [row] = await askPostgres(url, "select current_setting('cluster_name') as name")
  if (row?.['name'] !== name) {
    throw new Error(`another PostgreSQL server answers at ${url}: it is not ours to write to`)
  }
}

class Postgres implements PostgresServer {
  readonly #bin: string
  readonly #owner: Owner | null
  readonly #name: string
  readonly folder: string
  port = 0

  constructor(bin: string, owner: Owner | null, folder: string) {
    this.#bin = bin
    this.#owner = owner
    this.folder = folder
    this.#name = `carillon-${randomBytes(6).toString('hex')}`
  }

  get #data(): string {
    return join(this.folder, 'data')
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`
  }

  get pid(): number | null {
    return readPid(join(this.#data, 'postmaster.pid'))
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    return run(join(this.#bin, program), args, { ...this.#owner, cwd: this.folder })
  }

  async create(settings: Readonly<Record<string, string | number>>): Promise<void> {
    const version = Number(/(\d+)/.exec(await this.#run('postgres', ['--version']))![1])
    // Text in the order of a language, as on most servers out there, not in that of bytes.
    const order = version >= 15 ? ['--locale-provider=icu', '--icu-locale=en-US'] : []
    const how = ['--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync', ...order]
    await this.#run('initdb', ['-D', this.#data, '-U', 'postgres', ...how])
    await this.#write({ ...defaults, cluster_name: this.#name, ...settings })
  }

  #write(settings: Readonly<Record<string, string | number>>): Promise<void> {
    return appendFile(join(this.#data, 'postgresql.conf'), conf(settings))
  }

  async start(): Promise<void> {
    for (let left = START_TRIES; ; left--) {
      this.port = await freePort()
      await this.#write({ port: this.port })
      try {
        await this.#control('start')
        break
      } catch (error) {
        // Somebody may have taken the port in between.
        if (left <= 1) throw error
      }
    }
    await expectOwnPostgres(this.url, this.#name)
  }

  async #control(...words: string[]): Promise<void> {
    const log = join(this.folder, 'server.log')
    await this.#run('pg_ctl', [...words, '-D', this.#data, '-l', log, '-w', '-t', '60'])
  }

  async restart(mode: 'immediate' | 'fast'): Promise<void> {
    await this.#control('restart', '-m', mode)
    await expectOwnPostgres(this.url, this.#name)
  }

  async halt(): Promise<void> {
    if (this.pid !== null) await this.#control('stop', '-m', 'immediate')
  }

  async stop(): Promise<void> {
    await this.halt()
    await removeFolder(this.folder)
    release(this.folder)
  }
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const bin = requireBinaries('postgres')
  const owner = await serverOwner()
  const folder = await makeFolder('postgres', owner)
  const pidFile = join(folder, 'data/postmaster.pid')
  guard({ folder, server: { pidFile, signal: 'SIGQUIT' } })
  const server = new Postgres(bin, owner, folder)
  try {
    await server.create(options.settings ?? {})
    await server.start()
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}
