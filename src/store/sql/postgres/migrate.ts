// Brings a schema to the version of this program, and refuses those that are not ours. Texts of the schema
// are frozen; functions are no part of them (install.ts).

import { SchedulerError } from '../../../core/errors.ts'
import { NODE_KIND } from '../../../core/record.ts'
import { upgradeNeeded } from '../../shared/older.ts'
import { APPLICATION, checksumOf, inUseError, refuseNewer } from '../schema-version.ts'
import type { Connection, Run } from './connection.ts'
import { deniedError, isDenied } from './errors.ts'
import { functionsSql, rendered, sqlFile } from './functions.ts'
import { namedSql } from './install.ts'

/** The version of the baseline. */
export const latestVersion = 13
/** Versions of the layout before, which is moved over once: upgrade.sql. */
const upgradable = 9

/** At the start of a node: makes what is missing, and refuses what people have to move over. */
export async function prepare(connection: Connection): Promise<void> {
  const version = await currentVersion(connection)
  if (version === latestVersion) return
  if (version !== 0) throw olderError(connection, version)
  await migrate(connection)
}

/** Up to the version of this program, or down to nothing, which leaves an empty schema. */
export async function migrate(connection: Connection, to = latestVersion): Promise<void> {
  const { schema } = connection
  if (to !== 0 && to !== latestVersion) throw baselineError(connection, to)
  try {
    await connection.transaction(async run => {
      await run(`select pg_advisory_xact_lock(hashtextextended('carillon migration ${schema}', 0))`)
      const from = await schemaVersion(run, connection)
      if (from === to) return
      await run(to === 0 ? emptySql(schema) : await stepsSql(connection, from, run))
    })
  } catch (error) {
    throw isDenied(error) ? deniedError(connection.address) : error
  }
}

/** The SQL that someone with more rights runs, so that a role without them can start. */
export async function script(connection: Connection, role: string | null): Promise<string> {
  const { schema } = connection
  const steps = await connection.transaction(async run => {
    const from = await schemaVersion(run, connection)
    return from === latestVersion ? '' : stepsSql(connection, from, run)
  })
  const grants = role === null ? [] : grantsSql(schema, role)
  const lines = [steps, functionsSql(schema), namedSql(schema), ...grants]
  return ['begin;', ...lines.filter(line => line !== ''), 'commit;', ''].join('\n')
}

/** The version of the schema, 0 where there is none. */
export async function currentVersion(connection: Connection): Promise<number> {
  return connection.transaction(run => schemaVersion(run, connection))
}

function baselineError({ address }: Connection, to: number): SchedulerError {
  return new SchedulerError(
    'STORE_OLDER',
    `${address.place} cannot be taken to version ${to}: version ${latestVersion} is the oldest this ` +
      'program knows; to go back, use the backup made before',
    { details: { version: to, needed: latestVersion } },
  )
}

function olderError({ address }: Connection, from: number): SchedulerError {
  if (from >= upgradable) return upgradeNeeded(address.place, from)
  return new SchedulerError(
    'STORE_OLDER',
    `${address.place} has schema version ${from}, older than ${upgradable}, the oldest that can be ` +
      'migrated: make a backup with the program that wrote it ("carillon backup old.db"), and copy it ' +
      'into an empty schema ("carillon store copy sqlite:old.db postgres://…")',
    { details: { version: from, needed: latestVersion } },
  )
}

async function stepsSql(connection: Connection, from: number, run: Run): Promise<string> {
  const { schema } = connection
  const baseline = sqlFile('schema.sql')
  const mark = `insert into ${schema}.meta
    values ('${APPLICATION}', ${latestVersion}, '${checksumOf(baseline)}');`
  if (from === 0) {
    const isMissing = !(await isSchemaThere(run, schema))
    const made = isMissing ? [`create schema ${schema};`] : []
    return [...made, rendered(baseline, schema), mark].join('\n')
  }
  if (from < upgradable) throw olderError(connection, from)
  await refuseInUse(connection, run)
  const text = sqlFile('upgrade.sql').replace('-- baseline\n', () => baseline)
  return `${rendered(text, schema)}\n${mark}`
}

async function refuseInUse({ schema, address }: Connection, run: Run): Promise<void> {
  const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)'
  const [row] = await run(
    `select max(expire_at) from ${schema}.records where kind = $1 and expire_at > ${clock}`,
    [NODE_KIND],
  )
  const until = row![0] as number | null
  if (until !== null) throw inUseError(address.place, until)
}

/** Everything in the schema, and nothing outside of it; the schema itself stays. */
function emptySql(schema: string): string {
  return `do $$
    declare
      one text;
    begin
      for one in select format('drop %s if exists %s cascade',
          case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.oid::regclass)
          from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
          where n.nspname = '${schema.slice(1, -1)}' and c.relkind in ('r', 'v', 'S')
            and not exists (select 1 from pg_catalog.pg_depend d
              where d.objid = c.oid and d.deptype = 'i')
          order by c.relkind desc loop
        execute one;
      end loop;
      for one in select format('drop function %s', p.oid::regprocedure) from pg_catalog.pg_proc p
          join pg_catalog.pg_namespace n on n.oid = p.pronamespace
          where n.nspname = '${schema.slice(1, -1)}' loop
        execute one;
      end loop;
    end $$`
}

function grantsSql(schema: string, role: string): string[] {
  const name = `"${role.replaceAll('"', '""')}"`
  return [
    `grant usage on schema ${schema} to ${name};`,
    `grant select, insert, update, delete on all tables in schema ${schema} to ${name};`,
    `grant usage, select on all sequences in schema ${schema} to ${name};`,
    `grant execute on all functions in schema ${schema} to ${name};`,
  ]
}

function isSchema(schema: string): string {
  return `nspname = '${schema.slice(1, -1)}'`
}

/** `create schema` is run only where it is missing: some roles may not, and can still be given one. */
async function isSchemaThere(run: Run, schema: string): Promise<boolean> {
  return (await run(`select 1 from pg_namespace where ${isSchema(schema)}`)).length > 0
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
  refuseNewer(address.place, version, latestVersion)
  return version
}

async function readMeta(run: Run, schema: string): Promise<number | null> {
  const columns = await run(
    `select count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid
      join pg_namespace n on n.oid = c.relnamespace
      where ${isSchema(schema)} and c.relname = 'meta'
        and a.attname in ('application', 'schema_version')`,
  )
  if (columns[0]![0] !== 2) return null
  const rows = await run(`select application, schema_version from ${schema}.meta`)
  return rows[0]?.[0] === APPLICATION ? (rows[0][1] as number) : null
}
