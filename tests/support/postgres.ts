// How the suites open the PostgreSQL store: a schema to itself on the server the tests share. Those
// that were used are emptied and used again, which costs a fraction of making one.

import pg from 'pg'
import { afterAll } from 'vitest'
import { PostgresStore } from '../../src/store/sql/postgres/store.ts'
import { freshSchema, offeredServer, type FreshPlace } from './servers/shared.ts'
import { skipTest } from './skip.ts'
import { opened, type OpenStore } from './stores.ts'

const offer = await offeredServer('postgres')

const free: FreshPlace[] = []
const made: FreshPlace[] = []
let admin: pg.Client | null = null

afterAll(async () => {
  await admin?.end()
  admin = null
  for (const place of made) await place.clean()
})

function serverUrl(): string {
  if ('missing' in offer) skipTest(offer.missing)
  return offer.url
}

export function takePlace(): FreshPlace {
  const known = free.pop()
  if (known) return known
  const place = freshSchema(serverUrl())
  made.push(place)
  return place
}

async function connected(): Promise<pg.Client> {
  if (admin) return admin
  admin = new pg.Client({ connectionString: serverUrl() })
  admin.on('error', () => {})
  await admin.connect()
  return admin
}

/** Deleting a few rows is many times faster than truncating as many tables. */
async function emptied(place: FreshPlace): Promise<void> {
  await (
    await connected()
  ).query(`do $$ declare t text; begin
    for t in select relname from pg_class where relnamespace = '${place.name}'::regnamespace
        and relkind = 'r' and relname <> 'meta' loop
      execute format('delete from ${place.name}.%I', t);
    end loop;
  end $$`)
  free.push(place)
}

/** These suites are about what is stored, not about disks: none of them crashes the server. */
const hurried = 'pool=2&options=-c%20synchronous_commit%3Doff'

/** `way` turns the address of a place into the one it is opened at. */
export function openPostgresBy(way: (url: string) => string): OpenStore {
  return clock => {
    const place = takePlace()
    return opened(
      () => new PostgresStore({ url: way(place.url), clock, listens: false }),
      () => emptied(place),
      place.url,
    )
  }
}

export const openPostgres: OpenStore = openPostgresBy(url => `${url}&${hurried}`)
