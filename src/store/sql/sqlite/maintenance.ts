// A database file as a whole: its version, a copy of it while others write, its entries and faults,
// and its removal.

import { chmodSync, existsSync, rmSync } from 'node:fs'
import type { Maintenance } from '../../maintenance.ts'
import { openStoreMaintenance, type OpenStoreCalls } from '../maintenance.ts'
import { openDatabase, type Database } from './driver.ts'
import { translated } from './errors.ts'
import { latestVersion, migrate, schemaVersion } from './migrate.ts'
import { ownersFolder } from './owner-locks.ts'

const BUSY_MS = 5_000

export function sqliteMaintenance(path: string, calls: OpenStoreCalls): Maintenance {
  return {
    ...openStoreMaintenance(calls),
    latest: latestVersion,
    version: async () => (existsSync(path) ? within(path, db => schemaVersion(db, path)) : 0),
    migrate: async to => within(path, db => migrate(db, to, path)),
    backup: async target =>
      within(path, db => {
        // One moment of the database, without what was deleted; writers go on meanwhile.
        db.prepare('vacuum into ?').run(target)
        chmodSync(target, 0o600)
      }),
    drop: async () => {
      for (const end of ['', '-wal', '-shm', '-journal', '-wake'])
        rmSync(`${path}${end}`, { force: true })
      rmSync(ownersFolder(path), { recursive: true, force: true })
    },
  }
}

function within<T>(path: string, work: (db: Database) => T): T {
  let db: Database | null = null
  try {
    db = openDatabase(path)
    db.exec(`pragma busy_timeout = ${BUSY_MS}`)
    return work(db)
  } catch (error) {
    throw translated(error, path)
  } finally {
    db?.close()
  }
}
