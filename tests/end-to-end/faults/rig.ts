// The store under attack: a file, or a server of our own behind two proxies, and what can be done
// to it.

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../../src/store/sql/sqlite/driver.ts'
import { askPostgres, startPostgres } from '../../support/servers/postgres.ts'
import { FaultProxy } from '../../support/servers/proxy.ts'
import { askRedis, startRedis } from '../../support/servers/redis.ts'
import { scratch } from '../../support/servers/scratch.ts'
import { freshNamespace, freshSchema, offeredServer } from '../../support/servers/shared.ts'
import { isIntact } from '../kill-check.ts'
import { writeOffset } from './shared-clock.ts'

export type RigKind = 'sqlite' | 'postgres' | 'redis'
export const rigKinds: readonly RigKind[] = ['sqlite', 'postgres', 'redis']

/** Whether its server can be had; in CI it must. */
export async function isHere(kind: RigKind): Promise<boolean> {
  return kind === 'sqlite' || !('missing' in (await offeredServer(kind)))
}

export interface Rig {
  readonly kind: RigKind
  /** Straight to the store. */
  readonly url: string
  /** One way in for each half of the nodes, so that a fault need not hit all. */
  readonly proxies: readonly FaultProxy[]
  /** Kills the server and starts it again; null where there is none. */
  readonly restart: (() => Promise<void>) | null
  /** Ends connections from the server's side; says how many. */
  readonly drop: (() => Promise<number>) | null
  /** Keeps the file locked for so long; null where there is none. */
  readonly lock: ((ms: number) => Promise<void>) | null
  /** The shared clock of all processes; null where the server has one of its own. */
  readonly clockFile: string | null
  /** What the store's own tools find wrong with it. */
  inspect(): Promise<string[]>
  close(): Promise<void>
}

export function urlFor(rig: Rig, index: number): string {
  const proxy = rig.proxies[index % Math.max(1, rig.proxies.length)]
  return proxy?.through(rig.url) ?? rig.url
}

async function proxiesTo(port: number): Promise<FaultProxy[]> {
  const target = { host: '127.0.0.1', port }
  return [await FaultProxy.to(target), await FaultProxy.to(target)]
}

async function closeAll(proxies: readonly FaultProxy[]): Promise<void> {
  for (const proxy of proxies) await proxy.close()
}

async function sqliteRig(): Promise<Rig> {
  const { folder, remove } = await scratch('faults')
  const path = join(folder, 'carillon.db')
  const clockFile = join(folder, 'clock')
  writeOffset(clockFile, 0)
  return {
    kind: 'sqlite',
    url: `sqlite:${path}`,
    proxies: [],
    restart: null,
    drop: null,
    lock: ms => holdLock(path, ms),
    clockFile,
    inspect: () => Promise.resolve(isIntact(path) ? [] : ['integrity_check']),
    close: remove,
  }
}

async function holdLock(path: string, ms: number): Promise<void> {
  const db = openDatabase(path)
  try {
    db.exec('pragma busy_timeout = 2000')
    db.exec('begin immediate')
    await pause(ms)
    db.exec('rollback')
  } finally {
    db.close()
  }
}

const OUR_BACKENDS = `pid <> pg_backend_pid() and application_name like 'carillon%'`

async function postgresRig(): Promise<Rig> {
  const server = await startPostgres()
  const proxies = await proxiesTo(server.port)
  const { url } = freshSchema(server.url)
  return {
    kind: 'postgres',
    url,
    proxies,
    restart: () => server.restart('immediate'),
    drop: async () => {
      const query = `select count(pg_terminate_backend(pid)) as count from pg_stat_activity
        where ${OUR_BACKENDS} and random() < 0.6`
      const [row] = await askPostgres(server.url, query)
      return Number(row!['count'])
    },
    lock: null,
    clockFile: null,
    inspect: () => Promise.resolve([]),
    close: async () => {
      await closeAll(proxies)
      await server.stop()
    },
  }
}

async function redisRig(): Promise<Rig> {
  const server = await startRedis()
  const proxies = await proxiesTo(server.port)
  const { url } = freshNamespace(server.url)
  return {
    kind: 'redis',
    url,
    proxies,
    restart: async () => {
      await server.kill()
      await server.start()
    },
    drop: async () => {
      // Scripts go too: a server that was replaced does not know them either.
      await askRedis(server.url, 'SCRIPT', 'FLUSH')
      const normal = await askRedis(server.url, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      const pubsub = await askRedis(server.url, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
      return Number(normal) + Number(pubsub)
    },
    lock: null,
    clockFile: null,
    inspect: () => Promise.resolve([]),
    close: async () => {
      await closeAll(proxies)
      await server.stop()
    },
  }
}

const makers: Readonly<Record<RigKind, () => Promise<Rig>>> = {
  sqlite: sqliteRig,
  postgres: postgresRig,
  redis: redisRig,
}

export function openRig(kind: RigKind): Promise<Rig> {
  return makers[kind]()
}
