// A database file as a whole: its version, a copy of it while others write, its entries and faults,
// and its removal.

import { chmodSync, existsSync, rmSync } from 'node:fs'
import type { Maintenance } from '../../maintenance.ts'
import { countBefore, deleteBefore } from '../aged.ts'
import { dump } from '../dump.ts'
import { load } from '../load.ts'
import { inspect, repair } from '../repair.ts'
import { openDatabase, type Database } from './driver.ts'
import { translated } from './errors.ts'
import { latestVersion, migrate, schemaVersion } from './migrate.ts'
import { ownersFolder } from './owner-locks.ts'
import type { Session } from './session.ts'

const BUSY_MS = 5_000

/** Calls of the open store; they fail while it is closed. */
export interface OpenStoreCalls {
  readonly read: <T>(work: (session: Session) => T) => Promise<T>
  readonly write: <T>(work: (session: Session) => T) => Promise<T>
}

export function sqliteMaintenance(path: string, { read, write }: OpenStoreCalls): Maintenance {
  return {
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
    dump: request => read(session => session.read(sql => dump(sql, request))),
    load: (entries, now) => write(session => session.write(sql => load(sql, entries, now))),
    inspect: limit => read(session => session.read(sql => inspect(sql, limit))),
    repair: fault => write(session => session.write(sql => repair(sql, fault))),
    countOlderThan: before => read(session => session.read(() => countBefore(before))),
    deleteOlderThan: (before, limit) =>
      write(session => session.write(sql => deleteBefore(sql, before, limit))),
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
