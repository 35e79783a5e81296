// Opening: addresses, migrations both ways, and servers and schemas that must be refused.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimOne, finish, job, succeeded, T0 } from '../../../../tests/support/builders.ts'
import { askPostgres, startPostgres } from '../../../../tests/support/servers/postgres.ts'
import { freshPlace, type FreshPlace } from '../../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../../tests/support/skip.ts'
import { parseAddress } from './address.ts'
import { Connection } from './connection.ts'
import { Functions } from './install.ts'
import { latestVersion, migrate } from './migrate.ts'
import { PostgresStore } from './store.ts'

let place: FreshPlace
beforeEach(async () => {
  const found = await freshPlace('postgres')
  if ('missing' in found) skipTest(found.missing)
  place = found
})
afterEach(() => place.clean())

const storeAt = (url: string) => new PostgresStore({ url, clock: () => T0, listens: false })
const ask = (sql: string) => askPostgres(place.url, sql)

async function refusal(url: string): Promise<Error & { code?: string }> {
  const store = storeAt(url)
  try {
    await store.open()
  } catch (error) {
    return error as Error
  } finally {
    await store.close()
  }
  throw new Error('the store was opened')
}

describe('addresses', () => {
  it('keep what is ours apart from what is the driver’s', () => {
    const address = parseAddress('postgres://u:p%40ss@db:6000/jobs?schema=s1&pool=7&listen=off')
    expect(address).toMatchObject({ schema: '"s1"', poolMax: 7, isDirect: false, password: 'p@ss' })
    expect(address.place).toBe('db:6000/jobs (schema s1)')
    expect(address.connectionString).toBe('postgres://u:p%40ss@db:6000/jobs')
    const asked = parseAddress('postgres://db/jobs?options=-c%20work_mem%3D8MB')
    expect(asked).toMatchObject({
      options: '-c work_mem=8MB',
      connectionString: 'postgres://db/jobs',
    })
    const plain = parseAddress('postgresql://db/jobs?sslmode=require')
    expect(plain).toMatchObject({ schema: '"carillon"', poolMax: 4, isDirect: true })
    expect(plain.connectionString).toContain('sslmode=require')
  })

  it('are refused with every problem at once', () => {
    const url = 'postgres://db/jobs?schema=no"good&pool=0&listen=maybe'
    expect(() => parseAddress(url)).toThrowError(
      expect.objectContaining({
        code: 'SETTINGS_INVALID',
        problems: [
          expect.objectContaining({ field: 'store.schema' }),
          expect.objectContaining({ field: 'store.pool' }),
          expect.objectContaining({ field: 'store.listen' }),
        ],
      }),
    )
    for (const schema of ['pg_temp', 'information_schema', 'A', '1a', '']) {
      expect(() => parseAddress(`postgres://db/jobs?schema=${schema}`)).toThrowError(/schema/)
    }
  })

  it('never show their password', async () => {
    expect(() => parseAddress('postgres://u:s3cret@:bad:/x')).toThrowError(/^(?!.*s3cret)/)
    const gone = await refusal('postgres://u:s3cret@127.0.0.1:1/jobs')
    expect(gone).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(JSON.stringify([gone.message, gone.cause ?? null])).not.toContain('s3cret')
    const unknown = new URL(place.url)
    unknown.username = 'nobody_here'
    unknown.password = 's3cret'
    const refused = await refusal(unknown.href)
    expect(refused).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(refused.message).toContain('nobody_here')
    expect(refused.message).not.toContain('s3cret')
  })
})

describe('migrations', () => {
  it('make a schema that keeps what was stored', async () => {
    const store = storeAt(place.url)
    await store.open()
    await store.open()
    await store.insert([job('a'), job('b')], { now: T0 })
    const done = await finish(store, await claimOne(store, T0), succeeded, T0 + 5)
    await store.close()
    await store.close()
    const again = storeAt(place.url)
    await again.open()
    expect(await again.get(['a'])).toEqual([done])
    expect(await again.verify()).toEqual([])
    await again.close()
  })

  it('go down to nothing, and up again', async () => {
    const connection = new Connection(parseAddress(place.url))
    await migrate(connection)
    await new Functions(connection).ensure()
    await migrate(connection, 0)
    const left = await ask(`select relname from pg_class
      where relnamespace = '${place.name}'::regnamespace`)
    expect(left).toEqual([])
    const functions = await ask(`select proname from pg_proc
      where pronamespace = '${place.name}'::regnamespace`)
    expect(functions).toEqual([])
    await connection.close()
    const store = storeAt(place.url)
    await store.open()
    expect((await store.insert([job('a')], { now: T0 })).results).toEqual(['inserted'])
    await store.close()
  })

  it('do not go down below the baseline', async () => {
    const connection = new Connection(parseAddress(place.url))
    await migrate(connection)
    await expect(migrate(connection, latestVersion - 1)).rejects.toMatchObject({
      code: 'STORE_OLDER',
      message: expect.stringContaining(`version ${latestVersion} is the oldest`) as string,
    })
    expect(await ask(`select schema_version from ${place.name}.meta`)).toEqual([
      { schema_version: latestVersion },
    ])
    await connection.close()
  })

  it('refuse older tables and name the way over', async () => {
    const store = storeAt(place.url)
    await store.open()
    await store.close()
    await ask(`update ${place.name}.meta set schema_version = 8`)
    const error = await refusal(place.url)
    expect(error).toMatchObject({ code: 'STORE_OLDER', details: { version: 8 } })
    expect(error.message).toContain('carillon store copy')
  })

  it('are done once when several processes begin at once', async () => {
    const stores = Array.from({ length: 4 }, () => storeAt(place.url))
    await Promise.all(stores.map(store => store.open()))
    const rows = await ask(`select application, schema_version from ${place.name}.meta`)
    expect(rows).toEqual([{ application: 'carillon', schema_version: latestVersion }])
    for (const store of stores) await store.close()
  })

  it('touch nothing outside their schema', async () => {
    const outside = `select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where nspname = 'public' order by 1`
    const before = await ask(outside)
    const store = storeAt(place.url)
    await store.open()
    await store.close()
    expect(await ask(outside)).toEqual(before)
  })
})

describe('a schema', () => {
  it('of something else is refused and left as it is', async () => {
    await ask(`create schema ${place.name}`)
    await ask(`create table ${place.name}.jobs (theirs text)`)
    expect(await refusal(place.url)).toMatchObject({ code: 'STORE_FOREIGN' })
    await ask(`create table ${place.name}.meta (application text, schema_version int)`)
    await ask(`insert into ${place.name}.meta values ('another', 1)`)
    expect(await refusal(place.url)).toMatchObject({ code: 'STORE_FOREIGN' })
    const left = await ask(`select relname from pg_class
      where relnamespace = '${place.name}'::regnamespace and relkind = 'r' order by 1`)
    expect(left.map(row => row['relname'])).toEqual(['jobs', 'meta'])
  })

  it('of a newer version is refused and named', async () => {
    const store = storeAt(place.url)
    await store.open()
    await store.close()
    await ask(`update ${place.name}.meta set schema_version = ${latestVersion + 1}`)
    const error = await refusal(place.url)
    expect(error).toMatchObject({
      code: 'STORE_NEWER',
      details: { version: latestVersion + 1, known: latestVersion },
    })
  })

  it('H3 of an older version is refused, and left as it is', async () => {
    const store = new PostgresStore({ url: place.url })
    await store.maintenance.migrate(latestVersion)
    await ask(`update ${place.name}.meta set schema_version = ${latestVersion - 1}`)
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_OLDER',
      details: { version: latestVersion - 1 },
    })
    expect(await store.maintenance.version()).toBe(latestVersion - 1)
    await store.close()
  })

  it('that exists and is empty is used', async () => {
    await ask(`create schema ${place.name}`)
    const store = storeAt(place.url)
    await store.open()
    expect(await store.list({}, { limit: 1 })).toEqual({ items: [], cursor: null })
    await store.close()
  })
})

describe('a server', () => {
  const stops: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  it('with careless settings is warned about, and one that is a standby refused', async () => {
    const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }
    const server = await startPostgres({ settings })
    stops.push(() => server.stop())
    const store = storeAt(server.url)
    expect(store.warnings).toEqual([])
    await store.open()
    expect(store.warnings).toHaveLength(3)
    for (const name of Object.keys(settings)) expect(store.promise).toContain(`${name} is off`)
    await store.close()
    await writeFile(join(server.folder, 'data', 'standby.signal'), '')
    await server.restart('fast')
    const error = await refusal(server.url)
    expect(error).toMatchObject({ code: 'STORE_READ_ONLY' })
    expect(error.message).toContain('standby')
  })

  it('with careful ones is trusted', async () => {
    const store = storeAt(place.url)
    await store.open()
    expect(store.warnings).toEqual([])
    expect(store.promise).toContain('survives crashes and loss of power')
    await store.close()
  })
})
