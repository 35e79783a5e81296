// Brings a schema to a version, up or down, and refuses those that are not ours.

import { SchedulerError } from '../../core/errors.ts'
import { olderError } from '../shared/older.ts'
import type { Connection, Run } from './connection.ts'
import { tables } from './migrations/0001-tables.ts'
import { functions } from './migrations/0002-functions.ts'
import { lanes } from './migrations/0003-lanes.ts'
import { listed } from './migrations/0004-listed.ts'
import { inserts } from './migrations/0005-inserts.ts'
import { due } from './migrations/0006-due.ts'
import { specTexts } from './migrations/0007-spec-texts.ts'
import { batches } from './migrations/0008-batches.ts'
import { newAlike } from './migrations/0009-new-alike.ts'
import { turns } from './migrations/0010-turns.ts'
import { tenants } from './migrations/0011-tenants.ts'
import type { Migration } from './migrations/migration.ts'

export const migrations: readonly Migration[] = [
  tables,
  functions,
  lanes,
  listed,
  inserts,
  due,
  specTexts,
  batches,
  newAlike,
  turns,
  tenants,
]
export const latestVersion = migrations.length

const APPLICATION = 'carillon'

/** All steps or none, and one process at a time. Down to 0 leaves an empty schema. */
export async function migrate(connection: Connection, toVersion = latestVersion): Promise<void> {
  const { schema } = connection
  await connection.transaction(async run => {
    await run(`select pg_advisory_xact_lock(hashtextextended('carillon migration ${schema}', 0))`)
    const from = await schemaVersion(run, connection)
    if (from === toVersion) return
    const steps = stepsBetween(from, toVersion).flatMap(step => step(schema))
    await run(
      [...(await beginning(run, schema)), ...steps, ...marking(schema, toVersion)].join(';\n'),
    )
  })
}

/** The version of the schema, 0 where there is none. */
export async function currentVersion(connection: Connection): Promise<number> {
  return connection.transaction(run => schemaVersion(run, connection))
}

/** Throws for a schema that migrating would change; an empty one is nobody's yet. */
export async function refuseOlder(connection: Connection): Promise<void> {
  const version = await currentVersion(connection)
  if (version === 0 || version === latestVersion) return
  throw olderError({ place: connection.address.place, version, latest: latestVersion })
}

/** Only asked for when it is missing: whoever may not create schemas can still be given one. */
async function beginning(run: Run, schema: string): Promise<string[]> {
  const found = await run(`select 1 from pg_namespace where ${isSchema(schema)}`)
  return found.length > 0 ? [] : [`create schema ${schema}`]
}

function isSchema(schema: string): string {
  return `nspname = '${schema.slice(1, -1)}'`
}

/** The version of the schema, 0 for an empty one; throws when it is not ours to use. */
async function schemaVersion(run: Run, connection: Connection): Promise<number> {
  const { schema, address } = connection
  const relations = await run(
    `select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where ${isSchema(schema)}`,
  )
  if (relations.length === 0) return 0
  const version = relations.some(([name]) => name === 'meta') ? await readMeta(run, schema) : null
  if (version === null) {
    throw new SchedulerError(
      'STORE_FOREIGN',
      `the schema at ${address.place} belongs to something else; nothing was changed in it`,
    )
  }
  if (version > latestVersion) {
    throw new SchedulerError(
      'STORE_NEWER',
      `${address.place} has schema version ${version}, this program knows up to ${latestVersion}`,
      { details: { version, known: latestVersion } },
    )
  }
  return version
}

async function readMeta(run: Run, schema: string): Promise<number | null> {
  const columns = await run(
    `select count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid
      join pg_namespace n on n.oid = c.relnamespace
      where ${isSchema(schema)} and c.relname = 'meta'
        and a.attname in ('application', 'schema_version')`,
  )
  if (columns[0]![0] !== '2') return null
  const rows = await run(`select application, schema_version from ${schema}.meta`)
  return rows[0]?.[0] === APPLICATION ? Number(rows[0][1]) : null
}

function stepsBetween(from: number, to: number): ((s: string) => readonly string[])[] {
  if (from <= to) {
    return migrations.filter(m => m.version > from && m.version <= to).map(m => m.up)
  }
  const passed = migrations.filter(m => m.version <= from && m.version > to)
  return passed.toReversed().map(m => m.down)
}

function marking(schema: string, version: number): string[] {
  if (version === 0) return [`drop table ${schema}.meta`]
  return [
    `create table if not exists ${schema}.meta (application text, schema_version int)`,
    `delete from ${schema}.meta`,
    `insert into ${schema}.meta values ('${APPLICATION}', ${version})`,
  ]
}
