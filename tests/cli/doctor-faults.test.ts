// Faults planted behind a store's back: each is found by its name, repaired, and nothing else changes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownerOf, type Entry } from '../../src/core/entry.ts'
import { canonicalJson } from '../../src/core/json.ts'
import { pauseJob } from '../../src/core/pause.ts'
import { DAY, MINUTE } from '../../src/core/time.ts'
import { examine } from '../../src/doctor/examine.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { SystemIds } from '../../src/engine/ids.ts'
import { openDatabase } from '../../src/store/sqlite/driver.ts'
import { PostgresStore } from '../../src/store/postgres/store.ts'
import { SqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { claimOne, finish, job, start, succeeded, T0, write } from '../support/builders.ts'
import { askPostgres } from '../support/servers/postgres.ts'
import { freshPlace } from '../support/servers/shared.ts'

interface Planted {
  readonly name: string
  readonly code: string
  /** `s` is what stands before the name of a table. */
  readonly sql: (s: string) => readonly string[]
  /** The one job whose entries may differ afterwards; null when all must be as before. */
  readonly job: string | null
}

const seq = (s: string, id: string) => `(select seq from ${s}jobs where id = '${id}')`

const shared: readonly Planted[] = [
  {
    name: 'an active job without a next moment',
    code: 'no-moment',
    sql: s => [
      `delete from ${s}moments where seq = ${seq(s, 'daily')}`,
      `update ${s}jobs set due_at = null, rank = null where id = 'daily'`,
    ],
    job: 'daily',
  },
  {
    name: 'a job that waits for another moment than its schedule names',
    code: 'other-moment',
    sql: s => [
      `update ${s}jobs set due_at = due_at + 7 where id = 'daily'`,
      `update ${s}moments set at = at + 7 where seq = ${seq(s, 'daily')}`,
    ],
    job: 'daily',
  },
  {
    name: 'a running job that nobody holds',
    code: 'no-lease',
    sql: s => [
      `update ${s}jobs set token = null, owner = null, attempt_id = null where id = 'running'`,
      `delete from ${s}leases`,
    ],
    job: 'running',
  },
  {
    name: 'a lease that ended and nobody reaps',
    code: 'ended-lease',
    sql: s => [`update ${s}jobs set until_at = ${T0 - DAY} where id = 'running'`],
    job: 'running',
  },
  {
    name: 'a running job that no record of leases has',
    code: 'lease',
    sql: s => [`delete from ${s}leases`],
    job: null,
  },
  {
    name: 'a schedule that cannot be read',
    code: 'invalid-schedule',
    sql: s => [
      `update ${s}specs set spec = replace(spec, '30 2 * * *', '99 2 * * *') where seq = ${seq(s, 'daily')}`,
      // Otherwise the store would go by what it remembers.
      `update ${s}jobs set spec_at = 50 where id = 'daily'`,
      `update ${s}specs set spec_at = 50 where seq = ${seq(s, 'daily')}`,
    ],
    job: 'daily',
  },
  {
    name: 'sums that differ from the attempts',
    code: 'wrong-sums',
    sql: s => [
      `update ${s}jobs set attempts = attempts + 2, fence = fence + 2 where id = 'minutely'`,
    ],
    job: 'minutely',
  },
  {
    name: 'counters that differ from the jobs',
    code: 'count',
    sql: s => [`update ${s}tallies set n = n + 3 where state = 0`],
    job: null,
  },
  {
    name: 'skips of a job that is gone',
    code: 'orphan',
    sql: s => [`insert into ${s}skips values (999, 1, 1, 1, 'missed', ${T0 + DAY})`],
    job: null,
  },
  {
    name: 'a report of progress of a job that is gone',
    code: 'orphan',
    sql: s => [`insert into ${s}progress values (999, 'x', 0.5, null, null, 1)`],
    job: null,
  },
  {
    name: 'the record of a node that died',
    code: 'dead-node',
    sql: s => [`insert into ${s}records values ('node', 'gone', '{}', 1, ${T0 - DAY})`],
    job: null,
  },
  {
    name: 'a pause that ended and nobody resumed',
    code: 'ended-pause',
    sql: s => [
      `update ${s}jobs set body = replace(body, '${T0 + DAY}', '${T0 - DAY}'), until_at = ${T0 - DAY}
        where id = 'paused'`,
      `update ${s}moments set at = ${T0 - DAY} where seq = ${seq(s, 'paused')}`,
    ],
    job: 'paused',
  },
]

const onlySqlite: readonly Planted[] = [
  {
    name: 'a moment that claims cannot find',
    code: 'moment',
    sql: () => [`update jobs set ready = null, rank = null where id = 'daily'`],
    job: null,
  },
  {
    name: 'a paused job that claims would find',
    code: 'moment',
    sql: () => [`update jobs set ready = 1, rank = 0 where id = 'paused'`],
    job: null,
  },
  {
    name: 'a record of leases that holds nobody',
    code: 'lease',
    sql: () => [`insert into leases values ('stale', ${T0 + DAY}, 1, '[999]')`],
    job: null,
  },
  {
    name: 'an attempt of a job that is gone',
    code: 'orphan',
    sql: () => [
      `insert into attempts select 'zzz', 999, number, run, attempt, fence, retries, origin, retry_of,
        occurrence, missed, owner, claimed_at, started_at, finished_at, outcome, expire_at, odd, detail
        from attempts limit 1`,
    ],
    job: null,
  },
  {
    name: 'log lines of a job that is gone',
    code: 'orphan',
    sql: () => [`insert into logs values ('zzz', 0, 1, 'info', 'x', null)`],
    job: null,
  },
  {
    name: 'a number that would be given twice',
    code: 'number',
    sql: () => [`update sequence set next = 1`],
    job: null,
  },
]

const onlyPostgres: readonly Planted[] = [
  {
    name: 'a moment that claims cannot find',
    code: 'moment',
    sql: s => [`delete from ${s}moments where seq = ${seq(s, 'daily')}`],
    job: null,
  },
  {
    name: 'a moment that is there twice',
    code: 'moment',
    sql: s => [`insert into ${s}moments select * from ${s}moments where seq = ${seq(s, 'daily')}`],
    job: null,
  },
  {
    name: 'an attempt of a job that is gone',
    code: 'orphan',
    sql: s => [
      `insert into ${s}attempts select 999, number, 'zzz', run, occurrence, claimed_at, finished_at,
        outcome, expire_at, odd, body from ${s}attempts limit 1`,
    ],
    job: null,
  },
  {
    name: 'log lines of a job that is gone',
    code: 'orphan',
    sql: s => [`insert into ${s}logs values (999, 'zzz', 0, 1, 'info', 'x', null)`],
    job: null,
  },
]

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
  await finish(store, await claimOne(store, T0), succeeded, T0)
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
    const page = await store.dump({ cursor, limit: 100 })
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
  readonly store: Store & { verify(): Promise<string[]> }
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
    expect(await rig.store.verify()).toEqual([])
  })

  it.each(faults)('finds and repairs $name', async ({ code, sql, job: touched }) => {
    const { store } = rig
    for (const id of ['running', 'daily', 'paused', 'minutely']) await store.remove([id])
    await fill(store)
    const before = await dumped(store)
    await rig.plant(sql(rig.prefix))
    const found = await errorsOf(store)
    expect(found.map(finding => finding.code)).toContain(code)
    for (const { repair } of found) expect(await repair!(T0)).toBe(true)
    expect(await errorsOf(store)).toEqual([])
    expect(await store.verify()).toEqual([])
    const changed = differing(before, await dumped(store))
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
        // SQLite has no table of moments, they are columns; and its specs know no version.
        const isOther = (sql: string) => / moments|specs set spec_at/.test(sql)
        for (const sql of statements.filter(text => !isOther(text))) db.exec(sql)
        db.close()
      },
      close: async () => {
        await store.close()
        rmSync(folder, { recursive: true })
      },
    }
  }, [...shared, ...onlySqlite])
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
  }, [...shared, ...onlyPostgres])
})
