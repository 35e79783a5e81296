// Functions of the server: files that it takes, installed by content, beside those of other programs.

import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimOne, finish, job, succeeded, T0 } from '../../../../tests/support/builders.ts'
import { askPostgres } from '../../../../tests/support/servers/postgres.ts'
import { freshPlace, type FreshPlace } from '../../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../../tests/support/skip.ts'
import { LANE_KIND, laneLimits } from '../../../core/fairness/lane.ts'
import { DAY } from '../../../core/time.ts'
import { TURN_KEPT_MS, TURN_KIND } from '../../../core/fairness/turns.ts'
import { parseAddress } from './address.ts'
import { Connection } from './connection.ts'
import { functionNames, functionsHash, sqlFile } from './functions.ts'
import { checksumOf } from '../schema-version.ts'
import { PostgresStore } from './store.ts'
import { migrationScript } from './maintenance.ts'

let place: FreshPlace
beforeEach(async () => {
  const found = await freshPlace('postgres')
  if ('missing' in found) skipTest(found.missing)
  place = found
})
afterEach(() => place.clean())

const storeAt = (url: string) => new PostgresStore({ url, clock: () => T0, listens: false })
const ask = (sql: string) => askPostgres(place.url, sql)
const installed = async (hash = functionsHash()): Promise<string[]> => {
  const rows = await ask(`select proname from pg_proc
    where pronamespace = '${place.name}'::regnamespace and proname like '%\\_${hash}' order by 1`)
  return rows.map(row => String(row['proname']).slice(0, -(hash.length + 1)))
}
const run = async (store: PostgresStore, id: string): Promise<void> => {
  await store.insert([job(id)], { now: T0 })
  await finish(store, await claimOne(store, T0), succeeded, T0 + 5)
  expect((await store.get([id]))[0]!.state).toBe('completed')
}

describe('files of SQL', () => {
  it('are one for each function, named after it', () => {
    const files = readdirSync(new URL('functions', import.meta.url)).toSorted()
    const names = functionNames.map(name => `${name.replaceAll('_', '-')}.sql`)
    expect(files).toEqual(names.toSorted())
    for (const name of functionNames) {
      const text = sqlFile(`functions/${name.replaceAll('_', '-')}.sql`)
      expect(text).toContain(`\ncreate function carillon.${name}(`)
    }
  })

  it('are all taken by the server', async () => {
    const store = storeAt(place.url)
    await store.open()
    expect(await installed()).toEqual(functionNames.toSorted())
    await store.close()
  })

  it('hold the numbers of the core', () => {
    const holds = (name: string, text: string) => {
      expect(sqlFile(`functions/${name}.sql`)).toContain(text)
    }
    holds('lane-room', `r.kind = '${LANE_KIND}'`)
    holds('spend-limits', `r.kind = '${LANE_KIND}'`)
    holds('turn-at', `r.kind = '${TURN_KIND}'`)
    holds('keep-turn', `'${TURN_KIND}'`)
    holds('keep-turn', `p_now + ${TURN_KEPT_MS}`)
    holds('move-turn', `'${TURN_KIND}', p_queue`)
    holds('move-turn', `p_now + ${TURN_KEPT_MS}`)
    holds('turns', `r.kind = '${TURN_KIND}'`)
    for (const name of ['serve-lanes', 'serve-tenants']) {
      holds(name, `v_idle >= ${laneLimits.idleMax} `)
      holds(name, `p_last_taken := ${laneLimits.weightMax};`)
    }
  })

  it('of the schema are frozen', () => {
    expect(checksumOf(sqlFile('schema.sql'))).toBe(
      '06ad0419b483ff39f442e5659162e068c6147ad8121716230b339ceb938bc5e4',
    )
    expect(checksumOf(sqlFile('upgrade.sql'))).toBe(
      'fe4dd2e3108f8589089e606bb82fc2abea5146fa9cebf090cb7e8f0c88c60f85',
    )
  })
})

describe('functions', () => {
  it('are installed once when several processes begin at once', async () => {
    const stores = Array.from({ length: 4 }, () => storeAt(place.url))
    await Promise.all(stores.map(store => store.open()))
    expect(await installed()).toHaveLength(functionNames.length)
    for (const store of stores) await store.close()
  })

  it('that are gone are installed again by the call that misses them', async () => {
    const store = storeAt(place.url)
    await store.open()
    await run(store, 'a')
    for (const name of ['take_due', 'lease_jobs', 'sum_counts', 'next_lane']) {
      const [found] = await ask(`select oid::regprocedure::text as name from pg_proc
        where pronamespace = '${place.name}'::regnamespace
          and proname = '${name}_${functionsHash()}'`)
      await ask(`drop function ${String(found!['name'])}`)
    }
    await run(store, 'b')
    expect(await installed()).toHaveLength(functionNames.length)
    await store.close()
  })

  it('of other programs stay while a node names them, and go a day after', async () => {
    const store = storeAt(place.url)
    await store.open()
    const other = async (hash: string, ageMs: number) => {
      await ask(`create function ${place.name}.claim_${hash}() returns void language sql as ''`)
      await ask(`insert into ${place.name}.function_sets
        values ('${hash}', floor(extract(epoch from clock_timestamp()) * 1000) - ${ageMs})`)
    }
    await other('aaaaaaaaaa', DAY / 2)
    await other('bbbbbbbbbb', DAY + 1)
    await store.close()
    await store.open()
    expect(await installed('aaaaaaaaaa')).toEqual(['claim'])
    expect(await installed('bbbbbbbbbb')).toEqual([])
    await run(store, 'a')
    await store.close()
  })
})

describe('a role that may not create anything', () => {
  const role = () => `${place.name}_app`
  const urlOf = () => {
    const url = new URL(place.url)
    url.username = role()
    return url.href
  }
  beforeEach(() => ask(`create role ${role()} login password 'carillon'`))
  afterEach(async () => {
    await ask(`drop schema if exists ${place.name} cascade`)
    await ask(`drop role ${role()}`)
  })

  it('is told which SQL to have run, and starts after it', async () => {
    const store = storeAt(urlOf())
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_OLDER',
      message: expect.stringContaining('carillon migrate sql') as string,
      details: { reason: 'denied' },
    })
    const sql = await migrationScript(urlOf(), role())
    const owner = new Connection(parseAddress(place.url))
    await owner.transaction(async query =>
      query(sql.replace(/^begin;/, '').replace(/commit;\s*$/, '')),
    )
    await owner.close()
    await store.open()
    await run(store, 'a')
    await store.close()
  })

  it('is told the same where functions of its program are missing', async () => {
    const owner = storeAt(place.url)
    await owner.open()
    await owner.close()
    await ask(`grant usage on schema ${place.name} to ${role()}`)
    await ask(
      `grant select, insert, update, delete on all tables in schema ${place.name} to ${role()}`,
    )
    await ask(`do $$ declare one regprocedure; begin
      for one in select oid::regprocedure from pg_proc
          where pronamespace = '${place.name}'::regnamespace and proname like '%\\_${functionsHash()}' loop
        execute format('drop function %s', one);
      end loop; end $$`)
    await expect(storeAt(urlOf()).open()).rejects.toMatchObject({ details: { reason: 'denied' } })
  })
})
