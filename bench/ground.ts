// What a benchmark of the engine stands on: a store of some kind, fresh for every round, with its
// raw limit and the bars it is held against. Servers are started for the run and end with it.

import { join } from 'node:path'
import pg from 'pg'
import { provide } from '../tests/support/servers/provide.ts'
import {
  askPostgres,
  startPostgres,
  type PostgresServer,
} from '../tests/support/servers/postgres.ts'
import { askRedis, startRedis } from '../tests/support/servers/redis.ts'
import { rawCycle as rawPostgres } from './raw/postgres-limit.ts'
import { rawCycle as rawRedis } from './raw/redis-limit.ts'
import { rawCycle as rawSqlite } from './raw/sqlite-limit.ts'
import { inFolder } from './support.ts'

export type GroundName = 'sqlite' | 'postgres' | 'redis'

export interface Bars {
  readonly runs: number
  readonly inserts?: number
  readonly herdP99Ms: number
  readonly latencyMs: number
  readonly claimMs: number
}

export interface Ground {
  readonly name: GroundName
  readonly bars: Bars
  /** Gives the URL of an empty store to the work and removes it afterwards. */
  fresh<T>(work: (url: string) => Promise<T>): Promise<T>
  /** Rows per second of raw batched statements. */
  raw(rows: number): Promise<number>
  end(): Promise<void>
}

const RAW_BATCH = 500

/** So many files of 16 MB hold what is written between two checkpoints. */
const LOG_FILES = 40

/**
 * As a server that has run for a while: files of its log are used again. A new server fills each
 * with zeros first, which takes a fifth of its time and falls on whoever happens to be measured.
 */
export async function startSeasoned(): Promise<PostgresServer> {
  await provide(['postgres'], { print: console.error })
  const server = await startPostgres({
    settings: {
      shared_buffers: '512MB',
      min_wal_size: '2GB',
      max_wal_size: '4GB',
      max_connections: 300,
    },
  })
  await askPostgres(
    server.url,
    `do $$ begin for i in 1 .. ${LOG_FILES} loop
      perform pg_logical_emit_message(false, 'carillon', 'bench'), pg_switch_wal();
    end loop; end $$`,
  )
  await askPostgres(server.url, 'checkpoint')
  return server
}

export function openGround(name: GroundName): Promise<Ground> {
  switch (name) {
    case 'sqlite':
      return Promise.resolve(sqlite)
    case 'postgres':
      return postgres()
    case 'redis':
      return redis()
  }
}

const sqlite: Ground = {
  name: 'sqlite',
  bars: { runs: 40_000, inserts: 50_000, herdP99Ms: 400, latencyMs: 1, claimMs: 5 },
  fresh: work => inFolder(folder => work(`sqlite:${join(folder, 'bench.db')}`)),
  raw: rows => inFolder(async folder => rawSqlite(join(folder, 'raw.db'), rows, RAW_BATCH)),
  end: async () => {},
}

async function postgres(): Promise<Ground> {
  const server = await startSeasoned()
  let made = 0
  return {
    name: 'postgres',
    bars: { runs: 25_000, herdP99Ms: 1_000, latencyMs: 3, claimMs: 10 },
    fresh: async work => {
      const schema = `bench_${++made}`
      const url = new URL(server.url)
      url.searchParams.set('schema', schema)
      try {
        return await work(url.href)
      } finally {
        const client = new pg.Client({ connectionString: server.url })
        await client.connect()
        await client.query(`drop schema if exists ${schema} cascade`)
        await client.end()
      }
    },
    raw: rows => rawPostgres(server.url, rows, RAW_BATCH),
    end: () => server.stop(),
  }
}

async function redis(): Promise<Ground> {
  await provide(['redis'], { print: console.error })
  const server = await startRedis()
  let made = 0
  return {
    name: 'redis',
    bars: { runs: 25_000, herdP99Ms: 600, latencyMs: 3, claimMs: 5 },
    fresh: async work => {
      const url = new URL(server.url)
      url.searchParams.set('namespace', `bench${++made}`)
      try {
        return await work(url.href)
      } finally {
        await askRedis(server.url, 'FLUSHALL')
      }
    },
    raw: rows => rawRedis(server.url, rows, RAW_BATCH),
    end: () => server.stop(),
  }
}
