// A schema as a whole: its version, and its removal.

import type { Upkeep } from '../maintenance.ts'
import { parseAddress } from './address.ts'
import { Connection } from './connection.ts'
import { Functions } from './install.ts'
import { currentVersion, latestVersion, migrate, script } from './migrate.ts'

export function postgresUpkeep(url: string): Upkeep {
  const connection = new Connection(parseAddress(url))
  return {
    latest: latestVersion,
    version: () => currentVersion(connection),
    migrate: async to => {
      await migrate(connection, to)
      if (to > 0) await new Functions(connection).ensure()
    },
    script: role => script(connection, role),
    backup: null,
    drop: async () =>
      void (await connection.rows(`drop schema if exists ${connection.schema} cascade`)),
    close: () => connection.close(),
  }
}
