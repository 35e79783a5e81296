// Faults planted behind a store's back: each is found by its name, repaired, and nothing else changes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { editJob } from '../../src/core/control/edit.ts'
import { ownerOf, type Entry } from '../../src/core/stored/entry.ts'
import { INCIDENT_KIND } from '../../src/core/alerts/incident.ts'
import { canonicalJson } from '../../src/core/json.ts'
import { pauseJob } from '../../src/core/control/pause.ts'
import { DAY, MINUTE } from '../../src/core/time.ts'
import { examine } from '../../src/doctor/examine.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { RedisStore } from '../../src/store/redis/store.ts'
import { PostgresStore } from '../../src/store/sql/postgres/store.ts'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import type { Store } from '../../src/store/port.ts'
import { claimOne, finish, job, start, succeeded, T0, write } from '../support/builders.ts'
import { askPostgres } from '../support/servers/postgres.ts'
import { askRedis } from '../support/servers/redis.ts'
import { freshPlace } from '../support/servers/shared.ts'
import { onlyPostgres, onRedis, relational, type Planted } from './planted.ts'

/** One job of each kind of life, and a history. */
async function fill(store: Store): Promise<void> {
  const cron = {
    kind: 'cron',
    expression: '30 2 * * *',
    zone: 'UTC',
    dialect: 'extended',
    dst: null,
  } as const
  const minutely = { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor: null } as const
  const options = { now: T0 }
  await store.insert([job('minutely', { trigger: minutely, first: 'now' })], options)
  const ran = await finish(store, await claimOne(store, T0), succeeded, T0)
  // Its run keeps the payload it got, which no repair may lose.
  await write(store, editJob(ran, { ...ran.spec, payload: 'edited' }, T0)!, T0)
  await store.insert([job('running')], options)
  await start(store, await claimOne(store, T0), T0)
  await store.insert([job('daily', { trigger: cron }), job('paused', { trigger: cron })], options)
  const [held] = await store.get(['paused'])
  await write(store, pauseJob(held!, { until: T0 + DAY, note: null }, T0), T0)
}

async function dumped(store: Store): Promise<Entry[]> {
  const found: Entry[] = []
  let cursor: string | null = null
  do {
    const page = await store.maintenance.dump({ cursor, limit: 100 })
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null)
  return found
}

/** What only one of the two has. */
function differing(a: readonly Entry[], b: readonly Entry[]): Entry[] {
  const texts = (entries: readonly Entry[]) => new Set(entries.map(canonicalJson))
  const [left, right] = [texts(a), texts(b)]
  return [
    ...a.filter(entry => !right.has(canonicalJson(entry))),
    ...b.filter(entry => !left.has(canonicalJson(entry))),
  ]
}

interface Rig {
  readonly store: Store & { verify?(): Promise<string[]> }
  plant(statements: readonly string[]): Promise<void>
  readonly prefix: string
  close(): Promise<void>
}

const look = (store: Store) => examine({ store, ids: new SystemIds(), now: () => T0 })

async function errorsOf(store: Store): Promise<Finding[]> {
  return (await look(store)).filter(({ severity }) => severity === 'error')
}

function faultsOn(open: () => Promise<Rig>, faults: readonly Planted[]): void {
  let rig: Rig
  beforeAll(async () => {
    rig = await open()
  })
  afterAll(() => rig?.close())

  it('finds nothing wrong with a store that only its own writes have touched', async () => {
    await fill(rig.store)
    expect(await errorsOf(rig.store)).toEqual([])
    expect((await rig.store.verify?.()) ?? []).toEqual([])
  })

  it.each(faults)('finds and repairs $name', async ({ code, sql, job: touched }) => {
    const { store } = rig
    for (const id of ['running', 'daily', 'paused', 'minutely']) await store.remove([id])
    await fill(store)
    const before = await dumped(store)
    await rig.plant(sql(rig.prefix))
    if (code === 'dead-node' && sql('').length === 0) {
      const node = { kind: 'node', key: 'gone', value: {}, expectedVersion: null }
      await store.putRecords([{ ...node, expireAt: T0 - DAY }], T0 - 2 * DAY)
    }
    const found = await errorsOf(store)
    expect(found.map(finding => finding.code)).toContain(code)
    for (const { repair } of found) expect(await repair!(T0)).toBe(true)
    expect(await errorsOf(store)).toEqual([])
    expect((await store.verify?.()) ?? []).toEqual([])
    // That a job ended is an incident for the alerts.
    const changed = differing(before, await dumped(store)).filter(
      entry => entry.type !== 'record' || entry.record.kind !== INCIDENT_KIND,
    )
    const owners = changed.map(entry => (entry.type === 'job' ? entry.job.id : ownerOf(entry)))
    expect(new Set(owners)).toEqual(new Set(touched === null ? [] : [touched]))
  })
}

describe('in SQLite the doctor', () => {
  faultsOn(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-doctor-'))
    const path = join(folder, 'carillon.db')
    const store = new SqliteStore({ path, clock: () => T0 })
    await store.open()
    return {
      store,
      prefix: '',
      plant: async statements => {
        const db = openDatabase(path)
        for (const sql of statements) db.exec(sql)
        db.close()
      },
      close: async () => {
        await store.close()
        rmSync(folder, { recursive: true })
      },
    }
  }, relational)
})

const place = await freshPlace('postgres')

describe.skipIf('missing' in place)('in PostgreSQL the doctor', () => {
  faultsOn(async () => {
    if ('missing' in place) throw new Error(place.missing)
    const store = new PostgresStore({ url: place.url, clock: () => T0, listens: false })
    await store.open()
    return {
      store,
      prefix: `"${place.name}".`,
      plant: async statements => {
        for (const sql of statements) await askPostgres(place.url, sql)
      },
      close: async () => {
        await store.close()
        await place.clean()
      },
    }
  }, [...relational, ...onlyPostgres])
})

const space = await freshPlace('redis')

describe.skipIf('missing' in space)('in Redis the doctor', () => {
  faultsOn(async () => {
    if ('missing' in space) throw new Error(space.missing)
    const store = new RedisStore({ url: space.url, clock: () => T0, listens: false })
    await store.open()
    const prefix = `{${space.name}}:`
    return {
      store,
      prefix,
      plant: async commands => {
        const running = (await askRedis(space.url, 'HGET', `${prefix}ids`, 'running')) as string
        for (const command of commands) {
          await askRedis(space.url, ...command.replace('<running>', running).split('|'))
        }
      },
      close: async () => {
        await store.close()
        await space.clean()
      },
    }
  }, onRedis)
})
