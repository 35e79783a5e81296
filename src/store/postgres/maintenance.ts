// A schema as a whole: its version, its entries and faults, and its removal.

import type { Maintenance } from '../maintenance.ts'
import { parseAddress, type Address } from './address.ts'
import * as aged from './aged.ts'
import { Connection } from './connection.ts'
import { dump } from './dump.ts'
import { inspect, mend } from './inspect.ts'
import { Functions } from './install.ts'
import { load } from './load.ts'
import { currentVersion, latestVersion, migrate, script } from './migrate.ts'
import type { Tables } from './tables.ts'

/** The open store; both fail while it is closed. */
export interface OpenStoreTables {
  readonly open: () => Tables
  readonly reading: <T>(work: (tables: Tables) => Promise<T>) => Promise<T>
}

export interface PostgresMaintenance extends Maintenance {
  /** Releases the connection for what is done without opening the store. */
  close(): Promise<void>
}

export function postgresMaintenance(
  address: Address,
  { open, reading }: OpenStoreTables,
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
    dump: request => reading(tables => dump(tables, request)),
    load: async (entries, now) => load(open(), entries, now),
    inspect: async limit => inspect(open(), limit),
    repair: async fault => mend(open(), fault),
    countOlderThan: async before => aged.countBefore(open(), before),
    deleteOlderThan: async (before, limit) => aged.forgetBefore(open(), before, limit),
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
