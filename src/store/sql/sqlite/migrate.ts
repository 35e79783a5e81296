// Brings a database to a schema version, up or down, and refuses those that are not ours.

import { readFileSync } from 'node:fs'
import { SchedulerError } from '../../../core/errors.ts'
import { upgradeNeeded } from '../../shared/older.ts'
import { APPLICATION, refuseNewer } from '../schema-version.ts'
import type { Database } from './driver.ts'
import { upgradableVersion, upgrade } from './upgrade.ts'

/** Versions 1 to 4 are the layout before this one: it is moved over once, see `upgrade.ts`. */
const baselineVersion = 5
export const latestVersion = 5

/** The text of the baseline is frozen: databases that exist were made by it. */
export const baselineChecksum = 'c1f824636908396f78bab9a7527e107c06e85e2788afbe74adde9e86b2ad2c67'

export function baselineText(): string {
  return readFileSync(new URL('./schema.sql', import.meta.url), 'utf8')
}

/** "CRLN": what `file` and other tools can tell the database by. */
export const APPLICATION_ID = 0x43_52_4c_4e

/** Of a database that is to be used as it is: the layout before this one is refused. */
export function usableVersion(db: Database, path: string): number {
  const version = schemaVersion(db, path)
  if (version > 0 && version < baselineVersion) throw upgradeNeeded(path, version)
  return version
}

/** The schema version of the database, 0 for an empty one; throws when it is not ours to use. */
export function schemaVersion(db: Database, path: string): number {
  const version = storedVersion(db, path)
  refuseNewer(path, version, latestVersion)
  return version
}

function storedVersion(db: Database, path: string): number {
  const application = Number(db.prepare('pragma application_id').get()?.[0] ?? 0)
  const tables = db
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(([name]) => name)
  if (tables.length === 0 && (application === 0 || application === APPLICATION_ID)) return 0
  const marker = tables.includes('meta') && application === APPLICATION_ID ? readMeta(db) : null
  if (marker !== null) return marker
  throw new SchedulerError(
    'STORE_FOREIGN',
    `${path} is a database of something else; nothing was changed in it`,
  )
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
      if (toVersion === 0) dropAll(db)
      else if (toVersion !== latestVersion) throw noSuchVersion(path, toVersion)
      else if (from === 0) db.exec(baselineText())
      else if (from === upgradableVersion) upgrade(db, path, () => db.exec(baselineText()))
      else throw upgradeNeeded(path, from)
      mark(db, toVersion)
    }
    db.exec('commit')
  } catch (error) {
    db.exec('rollback')
    throw error
  }
}

function noSuchVersion(path: string, version: number): SchedulerError {
  const what = `${path} cannot go to schema version ${version}: this program knows ${latestVersion}`
  return new SchedulerError('SETTINGS_INVALID', `${what} and 0, an empty store`)
}

function dropAll(db: Database): void {
  const made = db
    .prepare(
      `select type, name from sqlite_schema
        where type in ('view', 'table') and name not like 'sqlite_%' and name <> 'meta'
        order by type desc`,
    )
    .all()
  for (const [type, name] of made) db.exec(`drop ${String(type)} ${String(name)}`)
}

function mark(db: Database, version: number): void {
  db.exec('drop table if exists meta')
  db.exec(`pragma application_id = ${version === 0 ? 0 : APPLICATION_ID}`)
  if (version === 0) return
  db.exec('create table meta (application text, schema_version integer, checksum text)')
  db.exec(`insert into meta values ('${APPLICATION}', ${version}, '${baselineChecksum}')`)
}
