// The one place that picks concrete parts: store, clock, ids, logger.

import { hostname } from 'node:os'
import process from 'node:process'
import type { PageSink } from './actions/crawl/pages.ts'
import { refuse, SchedulerError, shown } from './core/errors.ts'
import type { Instant, Millis } from './core/time.ts'
import { every, systemClock } from './runtime/clock.ts'
import type { Events } from './runtime/events.ts'
import type { Tracing } from './engine/handlers.ts'
import type { Ids } from './runtime/ids.ts'
import { SystemIds } from './runtime/ids.ts'
import { logToConsole } from './observe/console-log.ts'
import { logTo, type Logger } from './observe/log.ts'
import type { SourceTables } from './sources/tables.ts'
import type { Store, UnopenedStore } from './store/port.ts'

export type { Logger }

export const DEFAULT_STORE = 'sqlite:.carillon/carillon.db'

export interface StoreOptions {
  /** The clock a store without one of its own goes by. */
  readonly now: () => Instant
  /** False refuses a store of an older version (STORE_OLDER) instead of migrating it. Default true. */
  readonly migrates?: boolean
  /** Whether to listen for other processes' writes; off under a virtual clock. */
  readonly listens: boolean
}

/** `redis://<host>`, `sqlite:<path>` or `memory:`; the driver is only loaded when its store is asked for. */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  const store = await makeStore(url, options)
  await store.open()
  return store
}

const after = (ms: Millis, callback: () => void) => systemClock.after(ms, callback)

async function makeStore(
  url: string,
  { now, listens, migrates = true }: StoreOptions,
): Promise<UnopenedStore> {
  if (url === 'memory:') {
    const { MemoryStore } = await import('./store/memory/store.ts')
    return new MemoryStore(now)
  }
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) {
    const { SqliteStore, watchFile } = await import('./store/sql/sqlite/store.ts')
    const path = url.slice('sqlite:'.length)
    if (!listens) return new SqliteStore({ path, clock: now, after })
    return new SqliteStore({ path, clock: now, after, every, watch: watchFile })
  }
  if (url.startsWith('redis:') || url.startsWith('rediss:')) {
    const { RedisStore } = await import('./store/redis/store.ts')
    return new RedisStore({ url, after, listens, migrates, ...(listens ? {} : { clock: now }) })
  }
  if (isPostgres(url)) {
    const { PostgresStore } = await import('./store/sql/postgres/store.ts')
    return new PostgresStore({ url, listens, ...(listens ? {} : { clock: now }) })
  }
  const rule =
    'must be postgres://<host>/<database>?schema=<name>, redis://<host>?namespace=<name>, ' +
    'sqlite:<path> or memory:'
  const value = withoutPassword(url)
  refuse('SETTINGS_INVALID', 'the store is not valid', [{ field: 'store', value, rule }])
  throw new SchedulerError('SETTINGS_INVALID', `the store ${shown(value)} is not valid`)
}

/** A store that is not opened, for its maintenance: versions, backups, removal. */
export async function unopenedStore(url: string): Promise<UnopenedStore> {
  if (url !== 'memory:') return makeStore(url, { now: () => systemClock.now(), listens: true })
  throw new SchedulerError('SETTINGS_INVALID', `the store ${url} has no place of its own`)
}

/** The SQL that migrates a PostgreSQL store; null for others, which need none. */
export async function migrationScript(url: string, role: string | null): Promise<string | null> {
  if (!isPostgres(url)) return null
  return (await import('./store/sql/postgres/maintenance.ts')).migrationScript(url, role)
}

/** A URL that is not understood may still hold one. */
function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//***@')
}

export function systemIds(): Ids {
  return new SystemIds()
}

/** Readable, and different for every process that ever runs. */
export function makeNodeId(ids: Ids): string {
  return `${hostname()}-${process.pid}-${ids.token().slice(0, 8)}`
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** A level alone asks for pino, which is only loaded then. */
async function loggerOf(given: Logger | LogLevel): Promise<Logger> {
  if (typeof given !== 'string') return given
  const { default: pino } = await import('pino')
  const logger: Logger = pino({ name: 'carillon', level: given, serializers: serializersOf(pino) })
  return logger
}

export interface LogPlace {
  /** False is silence; without one, what goes wrong is printed to the standard error. */
  readonly logger: Logger | LogLevel | false | undefined
  readonly now: () => Instant
  readonly store: string | Store
}

/** Null where there is no logger to write other lines to. */
export async function attachLog(events: Events, place: LogPlace): Promise<Logger | null> {
  const { logger: given, now, store } = place
  if (given === false) return null
  if (given === undefined) {
    const isMemory = typeof store === 'string' ? store === 'memory:' : store.kind === 'memory'
    // oxlint-disable-next-line no-console -- without a logger this is where people look
    logToConsole(events, { now, write: line => console.error(line), hasCommand: !isMemory })
    return null
  }
  const logger = await loggerOf(given)
  logTo(events, logger)
  return logger
}

/** Errors with their causes beside them: joined into one text, both say the same twice. */
function serializersOf({ stdSerializers }: { stdSerializers: { errWithCause: unknown } }) {
  return { err: stdSerializers.errWithCause as (error: unknown) => unknown }
}

/** Spans for runs when OpenTelemetry's API is installed, null otherwise. */
export async function openTracing(): Promise<Tracing | null> {
  const { openTelemetry } = await import('./observe/tracing.ts')
  return openTelemetry()
}

/** JSON lines on the standard error: the standard output is for people. */
export async function serviceLogger(level: LogLevel | 'silent'): Promise<Logger> {
  const { default: pino } = await import('pino')
  const target = pino.destination({ dest: 2, sync: true })
  const logger: Logger = pino({ name: 'carillon', level, serializers: serializersOf(pino) }, target)
  return logger
}

/** Who writes to a SQLite file: a thread, or in a process that has nothing else to do, this one. */
export interface DataWriter {
  readonly byThread?: boolean
}

/** Where crawled pages are kept and found: a server that all nodes share, or a file. */
export async function openPages(
  place: string,
  { byThread = true }: DataWriter = {},
): Promise<PageSink> {
  if (isPostgres(place)) {
    const { PostgresPages } = await import('./actions/crawl/postgres-pages.ts')
    return new PostgresPages(await postgresPlace(place))
  }
  const { openSqlitePages } = await import('./data-thread/places.ts')
  const { openDatabase } = await import('./store/sql/sqlite/driver.ts')
  const entry = byThread ? undefined : null
  return openSqlitePages({ path: filePath(place), open: openDatabase }, entry)
}

/**
 * Where the target tables of sources live: in the store's own database, or in `dataDb` where the
 * store has no tables. Nothing is opened before the first row.
 */
export async function openTables(
  store: string,
  dataDb: string | null,
  { byThread = true }: DataWriter = {},
): Promise<SourceTables> {
  const place = tablesPlace(store, dataDb)
  if (isPostgres(place)) {
    const { PostgresTables } = await import('./sources/postgres-tables.ts')
    return new PostgresTables(await postgresPlace(place))
  }
  const { openSqliteTables } = await import('./data-thread/places.ts')
  const { openDatabase } = await import('./store/sql/sqlite/driver.ts')
  const entry = byThread ? undefined : null
  return openSqliteTables({ path: filePath(place), open: openDatabase }, entry)
}

async function postgresPlace(url: string) {
  const { Connection } = await import('./store/sql/postgres/connection.ts')
  const { parseAddress } = await import('./store/sql/postgres/address.ts')
  const address = parseAddress(url)
  const schema = address.schema.replaceAll('"', '')
  return { schema, connect: () => new Connection(address) }
}

function tablesPlace(store: string, dataDb: string | null): string {
  const isFile = /^sqlite:./.test(store) && store !== 'sqlite::memory:'
  if (isPostgres(store) || isFile) return store
  if (dataDb !== null) return dataDb
  if (store === 'memory:' || store === 'sqlite::memory:') return ':memory:'
  const rule =
    'is needed for sources: the store has no tables, so name sqlite:<path> or postgres://…'
  refuse('SETTINGS_INVALID', 'the settings are not valid', [
    { field: 'sources.database', value: null, rule },
  ])
  return store
}

export function isPostgres(place: string): boolean {
  return /^postgres(?:ql)?:/.test(place)
}

/** `sqlite:<path>` and a path alone mean the same. */
export function filePath(place: string): string {
  return place.replace(/^sqlite:/, '')
}
