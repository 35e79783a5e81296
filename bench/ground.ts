// What a benchmark of the engine stands on: a store of some kind, fresh for every round, with its
// raw limit and the bars it is held against. Servers are started for the run and end with it.

import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../tests/support/servers/postgres.ts'
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
  const server = await startPostgres({ settings: { shared_buffers: '512MB' } })
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
