// Brings a database to a schema version, up or down, and refuses those that are not ours.

import { SchedulerError } from '../../core/errors.ts'
import type { Database } from '../sql/sqlite/driver.ts'
import { jobs } from './migrations/0001-jobs.ts'
import { reports } from './migrations/0002-reports.ts'
import { lanes } from './migrations/0003-lanes.ts'
import { listed } from './migrations/0004-listed.ts'
import type { Migration } from './migrations/migration.ts'

export const migrations: readonly Migration[] = [jobs, reports, lanes, listed]
export const latestVersion = migrations.length

/** "CRLN": what `file` and other tools can tell the database by. */
export const APPLICATION_ID = 0x43_52_4c_4e
const APPLICATION = 'carillon'

/** The schema version of the database, 0 for an empty one; throws when it is not ours to use. */
export function schemaVersion(db: Database, path: string): number {
  const application = Number(db.prepare('pragma application_id').get()?.[0] ?? 0)
  const tables = db
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(([name]) => name)
  if (tables.length === 0 && (application === 0 || application === APPLICATION_ID)) return 0
  const marker = tables.includes('meta') && application === APPLICATION_ID ? readMeta(db) : null
  if (marker === null) {
    throw new SchedulerError(
      'STORE_FOREIGN',
      `${path} is a database of something else; nothing was changed in it`,
    )
  }
  if (marker > latestVersion) {
    throw new SchedulerError(
      'STORE_NEWER',
      `${path} has schema version ${marker}, this program knows up to ${latestVersion}`,
      { details: { version: marker, known: latestVersion } },
    )
  }
  return marker
}

function readMeta(db: Database): number | null {
  const row = db.prepare('select application, schema_version from meta').get()
  return row?.[0] === APPLICATION && typeof row[1] === 'number' ? row[1] : null
}

/** All steps or none. Down to 0 leaves an empty database. */
export function migrate(db: Database, toVersion: number = latestVersion, path = 'database'): void {
  db.exec('begin immediate')
  try {
    // Read again under the write: another process may have been first.
    const from = schemaVersion(db, path)
    if (from !== toVersion) {
      for (const sql of stepsBetween(from, toVersion)) db.exec(sql)
      mark(db, toVersion)
    }
    db.exec('commit')
  } catch (error) {
    db.exec('rollback')
    throw error
  }
}

function stepsBetween(from: number, to: number): string[] {
  if (from <= to) {
    return migrations.filter(m => m.version > from && m.version <= to).flatMap(m => m.up)
  }
  return migrations
    .filter(m => m.version <= from && m.version > to)
    .toReversed()
    .flatMap(m => m.down)
}

function mark(db: Database, version: number): void {
  db.exec('create table if not exists meta (application text, schema_version integer)')
  db.exec('delete from meta')
  db.exec(`pragma application_id = ${version === 0 ? 0 : APPLICATION_ID}`)
  if (version === 0) db.exec('drop table meta')
  else db.exec(`insert into meta values ('${APPLICATION}', ${version})`)
}
