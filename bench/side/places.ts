// The servers of a run and the fresh places on them: a file, a database or an empty Redis each time.

import { join } from 'node:path'
import { askPostgres } from '../../tests/support/servers/postgres.ts'
import { provide } from '../../tests/support/servers/provide.ts'
import { askRedis, startRedis } from '../../tests/support/servers/redis.ts'
import { startSeasoned } from '../ground.ts'
import { inFolder } from '../support.ts'
import type { StoreKind } from './contender.ts'

export interface Servers {
  /** The URL of an empty place, removed when the work is over. */
  fresh<T>(store: StoreKind, work: (url: string) => Promise<T>): Promise<T>
  /** Statements or transactions the server has carried out; null where there is no server. */
  statements(store: StoreKind): Promise<number | null>
  /** The server's process; null where the store lives in the contender's. */
  pid(store: StoreKind): number | null
  readonly versions: Readonly<Record<string, string>>
  end(): Promise<void>
}

const LOOK_MS = 20

/**
 * Empty, and with a log that says so: it is written anew when it has grown, and what others left in
 * it would make that fall on whoever happens to be measured.
 */
async function emptied(url: string): Promise<void> {
  await askRedis(url, 'FLUSHALL')
  // The server may just be at it, and refuses to begin again.
  await rewritten(url)
  await askRedis(url, 'BGREWRITEAOF').catch(() => {})
  await rewritten(url)
}

async function rewritten(url: string): Promise<void> {
  for (;;) {
    const told = String(await askRedis(url, 'INFO', 'persistence'))
    if (!/aof_rewrite_(in_progress|scheduled):1/.test(told)) return
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
  }
}

export async function startServers(): Promise<Servers> {
  const postgres = await startSeasoned()
  await provide(['redis'], { print: console.error })
  const redis = await startRedis()
  let made = 0
  const database = async <T>(work: (url: string) => Promise<T>): Promise<T> => {
    const name = `bench_${++made}`
    await askPostgres(postgres.url, `create database ${name}`)
    // What the contender before it left to write is not this one's to pay for.
    await askPostgres(postgres.url, 'checkpoint')
    const url = new URL(postgres.url)
    url.pathname = name
    try {
      return await work(url.href)
    } finally {
      await askPostgres(postgres.url, `drop database ${name} with (force)`)
    }
  }
  const [version] = await askPostgres(postgres.url, "select current_setting('server_version') as v")
  const info = String(await askRedis(redis.url, 'INFO', 'server'))
  return {
    fresh: (store, work) => {
      switch (store) {
        case 'sqlite':
          return inFolder(folder => work(`sqlite:${join(folder, 'bench.db')}`))
        case 'postgres':
          return database(work)
        case 'redis':
          return emptied(redis.url).then(() => work(redis.url))
        case 'memory':
          return work('memory:')
      }
    },
    statements: async store => {
      if (store === 'postgres') {
        const sum = 'select sum(xact_commit + xact_rollback)::float8 as n from pg_stat_database'
        const [row] = await askPostgres(postgres.url, sum)
        return Number(row?.['n'])
      }
      if (store !== 'redis') return null
      const stats = String(await askRedis(redis.url, 'INFO', 'stats'))
      return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1])
    },
    pid: store => {
      if (store === 'postgres') return postgres.pid
      return store === 'redis' ? redis.pid : null
    },
    versions: {
      postgres: String(version?.['v']).split(' ')[0]!,
      redis: /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown',
    },
    end: async () => {
      await postgres.stop()
      await redis.stop()
    },
  }
}
