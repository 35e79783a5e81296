// A schema as a whole: its version, and its removal.

import type { Upkeep } from '../upkeep.ts'
import { parseAddress } from './address.ts'
import { Connection } from './connection.ts'
import { currentVersion, latestVersion, migrate } from './migrate.ts'

export function postgresUpkeep(url: string): Upkeep {
  const connection = new Connection(parseAddress(url))
  return {
    latest: latestVersion,
    version: () => currentVersion(connection),
    migrate: to => migrate(connection, to),
    backup: null,
    drop: async () =>
      void (await connection.rows(`drop schema if exists ${connection.schema} cascade`)),
    close: () => connection.close(),
  }
}
