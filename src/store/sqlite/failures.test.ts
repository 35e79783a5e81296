// When the disk or another process is in the way: a clear error, nothing half done, and on it goes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { T0, job } from '../../../tests/support/builders.ts'
import { SchedulerError } from '../../core/errors.ts'
import { Connection } from './connection.ts'
import { openDatabase } from '../sql/sqlite/driver.ts'
import { translated } from '../sql/sqlite/errors.ts'
import { insert } from './insert.ts'
import { get } from './list.ts'
import { SqliteStore } from './store.ts'
import { Tables } from './tables.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  path = join(folder, 'jobs.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function openTables(): Tables {
  return new Tables(Connection.open({ path, synchronous: 'FULL', busyMs: 20 }))
}

function codeOf(work: () => unknown): unknown {
  try {
    work()
    return null
  } catch (error) {
    return error instanceof SchedulerError ? error.code : error
  }
}

const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) =>
    job(`job-${from + i}`, { payload: 'x'.repeat(2_000), handler: `h${from}` }),
  )

describe('a full disk', () => {
  it('is named, leaves no half batch and is forgotten when there is room again', () => {
    const tables = openTables()
    insert(tables, many(0, 10), { now: T0 })
    tables.statement('pragma max_page_count = 60').get()
    expect(codeOf(() => insert(tables, many(100, 500), { now: T0 }))).toBe('STORE_FULL')
    expect(get(tables, ['job-100', 'job-599'])).toEqual([])
    expect(get(tables, ['job-3'])).toHaveLength(1)
    expect(tables.tallies.differences()).toEqual([])
    tables.statement('pragma max_page_count = 100000').get()
    expect(insert(tables, many(100, 500), { now: T0 })).not.toContain('exists')
    expect(get(tables, ['job-100', 'job-599'])).toHaveLength(2)
    expect(tables.tallies.differences()).toEqual([])
    tables.connection.close()
  })
})

describe('a database that may only be read', () => {
  it('is named and can still be read', () => {
    const tables = openTables()
    insert(tables, many(0, 1), { now: T0 })
    tables.statement('pragma query_only = on').get()
    expect(codeOf(() => insert(tables, many(1, 1), { now: T0 }))).toBe('STORE_READ_ONLY')
    expect(get(tables, ['job-0', 'job-1'])).toHaveLength(1)
    tables.connection.close()
  })
})

describe('another process that writes', () => {
  it('makes a call fail after a bounded wait, and only that call', async () => {
    const store = new SqliteStore({ path, clock: () => T0, busyMs: 20 })
    await store.open()
    const other = openDatabase(path)
    other.exec('begin immediate')
    await expect(store.insert([job('a')], { now: T0 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    expect(await store.get(['a'])).toEqual([])
    other.exec('commit')
    expect(await store.insert([job('a')], { now: T0 })).toEqual(['inserted'])
    other.close()
    await store.close()
  })
})

describe('a table that is gone', () => {
  it('is damage', () => {
    const tables = openTables()
    tables.connection.write(() => tables.statement('drop table specs').get())
    expect(codeOf(() => insert(tables, many(0, 1), { now: T0 }))).toBe('STORE_CORRUPT')
    tables.connection.close()
  })
})

describe('a closed store', () => {
  it('refuses every call', async () => {
    const store = new SqliteStore({ path, clock: () => T0 })
    await expect(store.get(['a'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    const tables = openTables()
    tables.connection.close()
    expect(codeOf(() => get(tables, ['a']))).toBe('STORE_UNAVAILABLE')
  })
})

describe('translated', () => {
  it.each([
    [{ errcode: 10, systemErrno: 28 }, 'STORE_FULL'],
    [{ errcode: 266 }, 'STORE_UNAVAILABLE'],
    [{ errcode: 11 }, 'STORE_CORRUPT'],
    [{ errcode: 1032 }, 'STORE_READ_ONLY'],
  ])('%o is %s', (fields, code) => {
    const error = Object.assign(new Error('failed'), fields)
    expect(translated(error, path)).toMatchObject({ code, cause: error })
  })

  it('passes on what is no matter of the database', () => {
    const error = new TypeError('a fault')
    expect(translated(error, path)).toBe(error)
    const constraint = Object.assign(new Error('constraint'), { errcode: 19 })
    expect(translated(constraint, path)).toBe(constraint)
  })
})
