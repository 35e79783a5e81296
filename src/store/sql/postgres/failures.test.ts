// Connections that are cut, at rest and in the middle of a write, and hints that find their way.

import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../core/run/settle.ts'
import {
  claimOne,
  claimRequest,
  job,
  newJob,
  succeeded,
  T0,
} from '../../../../tests/support/builders.ts'
import { FaultProxy } from '../../../../tests/support/servers/proxy.ts'
import { freshPlace, type FreshPlace } from '../../../../tests/support/servers/shared.ts'
import { eventually } from '../../../../tests/support/servers/wait.ts'
import { skipTest } from '../../../../tests/support/skip.ts'
import { PostgresStore } from './store.ts'

let place: FreshPlace
let admin: pg.Client
const stores: PostgresStore[] = []

beforeEach(async () => {
  const found = await freshPlace('postgres')
  if ('missing' in found) skipTest(found.missing)
  place = found
  const url = new URL(place.url)
  url.searchParams.delete('schema')
  admin = new pg.Client({ connectionString: url.href })
  await admin.connect()
})
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  await admin.end()
  await place.clean()
})

function serverAddress(): { host: string; port: number } {
  const { hostname, port } = new URL(place.url)
  return { host: hostname, port: Number(port) }
}

async function open(more = '', listens = false, proxy?: FaultProxy): Promise<PostgresStore> {
  const url = `${proxy ? proxy.through(place.url) : place.url}${more}`
  const store = new PostgresStore({ url, clock: () => T0, listens })
  stores.push(store)
  await store.open()
  return store
}

async function pidsWhere(condition: string): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    `select pid from pg_stat_activity where pid <> pg_backend_pid() and ${condition}`,
  )
  return rows.map(({ pid }) => pid)
}

/** The server's processes whose last statement was about this schema. */
const backends = () => pidsWhere(`query like '%${place.name}%'`)
/** Those that wait for the transaction of `admin`. */
const waiting = () => pidsWhere('pg_backend_pid() = any (pg_blocking_pids(pid))')

async function terminate(pids: readonly number[]): Promise<void> {
  await admin.query('select pg_terminate_backend(p) from unnest($1::int[]) p', [pids])
}

describe('a connection that is cut', () => {
  it('in the middle of a commit takes the whole of it back, and the next one goes through', async () => {
    const store = await open()
    await store.insert([job('a'), job('b')], { now: T0 })
    const claimed = await store.claim(claimRequest({ limit: 2 }))
    const changes = claimed.map(held => settle(held, { outcome: succeeded, startedAt: T0 }, T0))
    await admin.query('begin')
    await admin.query(`select 1 from ${place.name}.job_states
      where seq = (select seq from ${place.name}.jobs where id = 'b') for update`)
    const commit = store.commit(changes, { now: T0 }).catch((error: unknown) => error)
    const pids = await eventually('a write that waits', async () => {
      const found = await waiting()
      return found.length > 0 ? found : null
    })
    await terminate(pids)
    expect(await commit).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await admin.query('rollback')
    expect(await store.get(['a', 'b'])).toEqual(claimed)
    expect((await store.attempts({}, { limit: 9 })).items).toEqual([])
    expect((await store.commit(changes, { now: T0 })).results).toEqual(['committed', 'committed'])
    expect(await store.verify()).toEqual([])
  })

  it('while nobody uses it is replaced', async () => {
    const store = await open('&pool=2')
    await Promise.all([store.get(['a']), store.get(['b'])])
    await terminate(await backends())
    await eventually('the end of the connections', async () =>
      (await backends()).length === 0 ? true : null,
    )
    const { results } = await eventually('a write that goes through', async () => {
      return store.insert([job('a')], { now: T0 })
    })
    expect(['inserted', 'exists']).toContain(results[0])
    expect(await store.get(['a'])).toHaveLength(1)
  })

  it('after a commit leaves it done, though nobody was told', async () => {
    const proxy = await FaultProxy.to(serverAddress())
    const store = await open('', false, proxy)
    await store.insert([job('a')], { now: T0 })
    const held = await claimOne(store, T0)
    const step = settle(held, { outcome: succeeded, startedAt: T0 }, T0)
    proxy.cutReplies()
    await expect(store.commit([step], { now: T0 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    await eventually('the commit', async () => {
      const [now] = await store.get(['a'])
      return now!.state === 'completed' ? true : null
    })
    expect((await store.commit([step], { now: T0 })).results).toEqual(['conflict'])
    await store.close()
    await proxy.close()
  })

  it('leaves calls failing clearly until the server is there again', async () => {
    const proxy = await FaultProxy.to(serverAddress())
    const store = await open('', false, proxy)
    await proxy.set({ kind: 'refuse' })
    await expect(store.get(['a'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await expect(store.now()).resolves.toBe(T0)
    await proxy.set({ kind: 'pass' })
    expect((await store.insert([job('a')], { now: T0 })).results).toEqual(['inserted'])
    await store.close()
    await proxy.close()
  })
})

describe('a table that somebody took', () => {
  it('is told as damage', async () => {
    const store = await open()
    await admin.query(`drop table ${place.name}.skips cascade`)
    await admin.query(`drop table ${place.name}.records cascade`)
    await expect(store.listRecords('k', { limit: 1 }, T0)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
    })
  })
})

describe('without anything of a session', () => {
  it('everything works, as behind a pooler', async () => {
    const store = await open('&listen=off&pool=2')
    await store.insert([job('a'), newJob({ id: 'b', kind: 'task' })], { now: T0 })
    const held = await claimOne(store, T0)
    const step = settle(held, { outcome: succeeded, startedAt: T0 }, T0)
    expect((await store.commit([step], { now: T0 })).results).toEqual(['committed'])
    const { rows } = await admin.query<{ count: string }>(
      `select count(*) from pg_stat_activity where application_name = 'carillon'
        and query like '%${place.name}%'`,
    )
    expect(rows[0]!.count).toBe('0')
  })
})

describe('hints', () => {
  it('reach other processes, and not oneself', async () => {
    const [one, two] = [await open('', true), await open('', true)]
    const heard = { one: 0, two: 0 }
    one.listen({ onWake: () => heard.one++ })
    two.listen({ onWake: () => heard.two++ })
    // Each is told once that it listens from now on.
    await eventually('both to listen', () => (heard.one === 1 && heard.two === 1 ? true : null))
    await one.insert([job('a')], { now: T0 })
    await eventually('the hint', () => (heard.two > 1 ? true : null))
    expect(heard.one).toBe(1)
  })

  it('are heard again after the connection that listens was cut', async () => {
    const [one, two] = [await open('', true), await open('', true)]
    let heard = 0
    two.listen({ onWake: () => heard++ })
    await eventually('it to listen', () => (heard === 1 ? true : null))
    const { rows } = await admin.query<{ pid: number }>(
      `select pid from pg_stat_activity where query like 'listen "carillon_${place.name}"%'`,
    )
    expect(rows).toHaveLength(1)
    await terminate(rows.map(({ pid }) => pid))
    // Any use of the store brings the listener back, which says so.
    await eventually('it to listen again', async () => {
      await two.now()
      await two.get(['x'])
      return heard > 1 ? true : null
    })
    const before = heard
    await one.insert([job('a')], { now: T0 })
    await eventually('the hint', () => (heard > before ? true : null))
  })
})

describe('others in the way', () => {
  /** The server refuses the first so many inserts of jobs with the code, counted outside of them. */
  async function refuseFirst(count: number, code: string): Promise<() => Promise<number>> {
    const s = place.name
    await admin.query(`create sequence ${s}.tries;
      create function ${s}.refuse() returns trigger language plpgsql as $$ begin
        if nextval('${s}.tries') <= ${count} then raise exception using errcode = '${code}'; end if;
        return null;
      end $$;
      create trigger refuse before insert on ${s}.jobs execute function ${s}.refuse()`)
    return async () => {
      const { rows } = await admin.query<{ n: number }>(
        `select last_value::int as n from ${s}.tries`,
      )
      return rows[0]!.n
    }
  }

  it.each([
    ['a serialization failure', '40001'],
    ['a deadlock', '40P01'],
  ])('%s is tried again until it passes', async (_, code) => {
    const store = await open()
    const tries = await refuseFirst(3, code)
    expect((await store.insert([newJob({ id: 'a' })], { now: T0 })).results).toEqual(['inserted'])
    expect(await tries()).toBe(4)
    expect((await store.get(['a'])).map(found => found.id)).toEqual(['a'])
  })

  it('one that does not end is told as the store being unavailable, with nothing written', async () => {
    const store = await open()
    const tries = await refuseFirst(1_000, '40001')
    await expect(store.insert([newJob({ id: 'a' })], { now: T0 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    expect(await tries()).toBe(5)
    expect(await store.get(['a'])).toEqual([])
  })
})
