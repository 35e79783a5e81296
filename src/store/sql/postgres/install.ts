// Installs the functions of this program in a schema, keeps them named there, and drops those of programs
// that are gone.

import { DAY, HOUR, type Instant } from '../../../core/time.ts'
import type { Connection, Run } from './connection.ts'
import { deniedError, isDenied } from './errors.ts'
import { functionNames, functionsHash, functionsSql } from './functions.ts'

const UNUSED_MS = DAY
const NAMED_EVERY_MS = HOUR

const clock = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** Says that this set is in use. */
export const namedSql = (schema: string) =>
  `insert into ${schema}.function_sets values ('${functionsHash()}', ${clock})
    on conflict (name) do update set used_at = excluded.used_at;`

/** Drops the sets that no node has named for a day. Who was away for longer installs its own again. */
const dropUnusedSql = (schema: string) => `do $$
  declare
    unused text;
    gone regprocedure;
  begin
    for unused in delete from ${schema}.function_sets where used_at < ${clock} - ${UNUSED_MS}
        returning name loop
      for gone in select p.oid::regprocedure from pg_catalog.pg_proc p
          join pg_catalog.pg_namespace n on n.oid = p.pronamespace
          where n.nspname = '${schema.slice(1, -1)}' and p.proname like '%\\_' || unused loop
        execute format('drop function %s', gone);
      end loop;
    end loop;
  end $$;`

const isInstalledSql = `select count(*) from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.proname like '%\\_' || $2`

/** The set of this program in one schema. */
export class Functions {
  readonly #connection: Connection
  #namedAt: Instant = -Infinity

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** At open. */
  async ensure(): Promise<void> {
    const isThere = await this.#connection.transaction(run => this.#isInstalled(run))
    if (!isThere) return this.install()
    await this.#connection.rows(namedSql(this.#connection.schema))
    await this.#dropUnused()
  }

  /** One process at a time; nothing where they are there. */
  async install(): Promise<void> {
    const { schema, address } = this.#connection
    try {
      await this.#connection.transaction(async run => {
        await lockFunctions(run, schema)
        if (await this.#isInstalled(run)) return
        await run([functionsSql(schema), namedSql(schema), dropUnusedSql(schema)].join('\n'))
      })
    } catch (error) {
      throw isDenied(error) ? deniedError(address) : error
    }
  }

  /** Called often. */
  async nameOften(now: Instant): Promise<void> {
    if (Math.abs(now - this.#namedAt) < NAMED_EVERY_MS) return
    this.#namedAt = now
    await this.#connection.rows(namedSql(this.#connection.schema))
  }

  async #isInstalled(run: Run): Promise<boolean> {
    const { schema } = this.#connection
    const [row] = await run(isInstalledSql, [schema.slice(1, -1), functionsHash()])
    return Number(row![0]) === functionNames.length
  }

  /** Whoever may not drop functions leaves them to those who may. */
  async #dropUnused(): Promise<void> {
    const { schema } = this.#connection
    try {
      await this.#connection.transaction(async run => {
        await lockFunctions(run, schema)
        await run(dropUnusedSql(schema))
      })
    } catch (error) {
      if (!isDenied(error)) throw error
    }
  }
}

async function lockFunctions(run: Run, schema: string): Promise<void> {
  await run(`select pg_advisory_xact_lock(hashtextextended('${schema}.functions', 0))`)
}
