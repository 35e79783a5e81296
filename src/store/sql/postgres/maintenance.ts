// A schema as a whole: its version, its entries and faults, and its removal.

import type { Maintenance } from '../../maintenance.ts'
import { openStoreMaintenance, type OpenStoreCalls } from '../maintenance.ts'
import { parseAddress, type Address } from './address.ts'
import { Connection } from './connection.ts'
import { Functions } from './install.ts'
import { currentVersion, latestVersion, migrate, script } from './migrate.ts'

export interface PostgresMaintenance extends Maintenance {
  /** Releases the connection for what is done without opening the store. */
  close(): Promise<void>
}

export function postgresMaintenance(address: Address, calls: OpenStoreCalls): PostgresMaintenance {
  let made: Connection | null = null
  const connection = () => (made ??= new Connection(address))
  return {
    ...openStoreMaintenance(calls),
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
