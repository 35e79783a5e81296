// A file that another process has locked: calls wait without stopping the thread, in their order.

import { mkdtempSync, rmSync, renameSync, copyFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { job, T0 } from '../../../../tests/support/builders.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { openDatabase, type Database } from './driver.ts'
import { SqliteStore } from './store.ts'

const after = (ms: number, callback: () => void) => systemClock.after(ms, callback)

let folder: string
let path: string
let store: SqliteStore
let other: Database
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  path = join(folder, 'jobs.db')
  store = new SqliteStore({ path, clock: () => T0, after, busyMs: 300 })
  await store.open()
  other = openDatabase(path)
})
afterEach(async () => {
  await store.close()
  other.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('a locked file', () => {
  it('holds writes up without stopping the thread, and keeps their order', async () => {
    other.exec('begin immediate')
    const began = systemClock.now()
    const done: string[] = []
    const calls = ['a', 'b', 'c'].map(async id => {
      await store.insert([job(id)], { now: T0 })
      done.push(id)
    })
    // Each call stops the thread at most for the moment SQLite itself waits, and only the first does.
    expect(systemClock.now() - began).toBeLessThan(250)
    expect((await store.list({}, { limit: 10 })).items).toEqual([])
    expect(done).toEqual([])
    other.exec('rollback')
    await Promise.all(calls)
    expect(done).toEqual(['a', 'b', 'c'])
    expect((await store.list({}, { limit: 10 })).items.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  it('is named after a bounded time, and forgotten when it is free again', async () => {
    other.exec('begin immediate')
    await expect(store.insert([job('a')], { now: T0 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('locked by another process'),
    })
    other.exec('rollback')
    expect((await store.insert([job('a')], { now: T0 })).results).toEqual(['inserted'])
  })
})

describe('a file that is gone', () => {
  it.each([
    ['deleted', () => rmSync(path)],
    ['log .*-wal was deleted', () => rmSync(`${path}-wal`)],
    [
      'replaced',
      () => {
        copyFileSync(path, `${path}.new`)
        renameSync(`${path}.new`, path)
      },
    ],
  ])('%s: takes on no work and says what to do', async (what, act) => {
    await store.insert([job('a')], { now: T0 })
    act()
    const lost = { code: 'STORE_LOST', message: expect.stringMatching(`${what}.*restore a backup`) }
    await expect(store.insert([job('b')], { now: T0 })).rejects.toMatchObject(lost)
    const request = { queue: 'default', handlers: ['work'], now: T0, limit: 1, owner: 'n' }
    const claim = store.claim({ ...request, leaseMs: 1_000, token: 't', attemptIds: ['x'] })
    await expect(claim).rejects.toMatchObject(lost)
    expect(await store.get(['a'])).toHaveLength(1)
  })
})
