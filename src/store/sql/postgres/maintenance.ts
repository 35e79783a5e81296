// A schema as a whole: its version, its entries and faults, and its removal.

import type { Maintenance } from '../../maintenance.ts'
import { countBefore, deleteBefore } from '../aged.ts'
import type { Sql } from '../dialect.ts'
import { dump } from '../dump.ts'
import { load } from '../load.ts'
import type { Operation } from '../operation.ts'
import { inspect, repair } from '../repair.ts'
import { parseAddress, type Address } from './address.ts'
import { Connection } from './connection.ts'
import { Functions } from './install.ts'
import { currentVersion, latestVersion, migrate, script } from './migrate.ts'

/** Calls of the open store; they fail while it is closed. */
export interface OpenStoreCalls {
  readonly read: <T>(work: (sql: Sql) => Operation<T>) => Promise<T>
  readonly write: <T>(work: (sql: Sql) => Operation<T>) => Promise<T>
}

export interface PostgresMaintenance extends Maintenance {
  /** Releases the connection for what is done without opening the store. */
  close(): Promise<void>
}

export function postgresMaintenance(
  address: Address,
  { read, write }: OpenStoreCalls,
): PostgresMaintenance {
  let made: Connection | null = null
  const connection = () => (made ??= new Connection(address))
  return {
    latest: latestVersion,
    version: () => currentVersion(connection()),
    migrate: async to => {
      await migrate(connection(), to)
      if (to > 0) await new Functions(connection()).ensure()
    },
    backup: null,
    drop: async () => {
      await connection().rows(`drop schema if exists ${connection().schema} cascade`)
    },
    dump: request => read(sql => dump(sql, request)),
    load: (entries, now) => write(sql => load(sql, entries, now)),
    inspect: limit => read(sql => inspect(sql, limit)),
    repair: fault => write(sql => repair(sql, fault)),
    countOlderThan: before => read(() => countBefore(before)),
    deleteOlderThan: (before, limit) => write(sql => deleteBefore(sql, before, limit)),
    close: async () => made?.close(),
  }
}

/** What someone with more rights runs for a role that may not create anything. */
export async function migrationScript(url: string, role: string | null): Promise<string> {
  const connection = new Connection(parseAddress(url))
  try {
    return await script(connection, role)
  } finally {
    await connection.close()
  }
}
