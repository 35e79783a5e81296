// When the disk or another process is in the way: a clear error, nothing half done, and on it goes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { T0, job } from '../../../../tests/support/builders.ts'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { Damages } from '../../shared/damage.ts'
import { differences } from '../counts.ts'
import { insert as insertJobs } from '../insert.ts'
import { get as getJobs } from '../jobs-query.ts'
import { Connection } from './connection.ts'
import { openDatabase } from './driver.ts'
import { translated } from './errors.ts'
import { SqliteStore } from './store.ts'
import { Session } from './session.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  path = join(folder, 'jobs.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function openSession(): Session {
  return new Session(Connection.open({ path, synchronous: 'FULL', busyMs: 20 }), new Damages())
}

const insert = (session: Session, jobs: readonly Job[]) =>
  session.write(sql => insertJobs(sql, jobs, { now: T0 }))
const get = (session: Session, ids: readonly string[]) => session.read(sql => getJobs(sql, ids))
const countFaults = (session: Session) => session.read(() => differences())

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
    const session = openSession()
    insert(session, many(0, 10))
    session.statement('pragma max_page_count = 60').get()
    expect(codeOf(() => insert(session, many(100, 500)))).toBe('STORE_FULL')
    expect(get(session, ['job-100', 'job-599'])).toEqual([])
    expect(get(session, ['job-3'])).toHaveLength(1)
    expect(countFaults(session)).toEqual([])
    session.statement('pragma max_page_count = 100000').get()
    expect(insert(session, many(100, 500))).not.toContain('exists')
    expect(get(session, ['job-100', 'job-599'])).toHaveLength(2)
    expect(countFaults(session)).toEqual([])
    session.connection.close()
  })
})

describe('a database that may only be read', () => {
  it('is named and can still be read', () => {
    const session = openSession()
    insert(session, many(0, 1))
    session.statement('pragma query_only = on').get()
    expect(codeOf(() => insert(session, many(1, 1)))).toBe('STORE_READ_ONLY')
    expect(get(session, ['job-0', 'job-1'])).toHaveLength(1)
    session.connection.close()
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
    expect((await store.insert([job('a')], { now: T0 })).results).toEqual(['inserted'])
    other.close()
    await store.close()
  })
})

describe('a table that is gone', () => {
  it('is damage', () => {
    const session = openSession()
    session.connection.write(() => session.statement('drop table job_states').get())
    expect(codeOf(() => insert(session, many(0, 1)))).toBe('STORE_CORRUPT')
    session.connection.close()
  })
})

describe('a closed store', () => {
  it('refuses every call', async () => {
    const store = new SqliteStore({ path, clock: () => T0 })
    await expect(store.get(['a'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    const session = openSession()
    session.connection.close()
    expect(codeOf(() => get(session, ['a']))).toBe('STORE_UNAVAILABLE')
  })
})

describe('translated', () => {
  it.each([
    [{ errcode: 10, systemErrno: 28 }, 'STORE_FULL'],
    [{ errcode: 266 }, 'STORE_UNAVAILABLE'],
    [{ errcode: 11 }, 'STORE_CORRUPT'],
    [{ errcode: 1032 }, 'STORE_READ_ONLY'],
    [{ code: 'ERR_SQLITE_ERROR', message: 'database or disk is full' }, 'STORE_FULL'],
    [{ code: 'ERR_SQLITE_ERROR', message: 'no such table: jobs' }, 'STORE_CORRUPT'],
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
