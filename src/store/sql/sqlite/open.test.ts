// Opening: files and their modes, migrations both ways, and databases that must be refused.

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { T0, claimOne, finish, job, succeeded } from '../../../../tests/support/builders.ts'
import { checksumOf } from '../schema-version.ts'
import { openDatabase, type Database } from './driver.ts'
import {
  APPLICATION_ID,
  baselineChecksum,
  baselineText,
  latestVersion,
  migrate,
  schemaVersion,
} from './migrate.ts'
import { SqliteStore } from './store.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const storeAt = (path: string) => new SqliteStore({ path, clock: () => T0 })

function withDatabase<T>(path: string, work: (db: Database) => T): T {
  const db = openDatabase(path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

describe('files', () => {
  it('are readable by their owner only, and so is a folder made for them', async () => {
    const path = join(folder, 'inner', 'jobs.db')
    const store = storeAt(path)
    await store.open()
    await store.insert([job('a')], { now: T0 })
    expect(statSync(join(folder, 'inner')).mode & 0o777).toBe(0o700)
    for (const end of ['', '-wal', '-shm']) expect(statSync(path + end).mode & 0o777).toBe(0o600)
    await store.close()
  })

  it('are written through to the disk unless told otherwise', async () => {
    const path = join(folder, 'jobs.db')
    const store = storeAt(path)
    await store.open()
    await store.open()
    expect(store.promise).toContain('loss of power')
    await store.close()
    await store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
    const relaxed = new SqliteStore({ path, clock: () => T0, synchronous: 'NORMAL' })
    expect(relaxed.promise).toContain('may be lost')
  })

  it('keep what was stored', async () => {
    const path = join(folder, 'jobs.db')
    const store = storeAt(path)
    await store.open()
    await store.insert([job('a'), job('b')], { now: T0 })
    const done = await finish(store, await claimOne(store, T0), succeeded, T0 + 5)
    await store.close()
    await store.open()
    expect(await store.get(['a', 'b'])).toEqual([done, job('b')])
    expect((await store.attempts({ jobId: 'a' }, { limit: 9 })).items).toHaveLength(1)
    await store.close()
  })
})

describe('migrations', () => {
  it('make the schema whose text is frozen, and every statement of it parses', () => {
    const text = baselineText()
    expect(checksumOf(text)).toBe(baselineChecksum)
    withDatabase(join(folder, 'jobs.db'), db => {
      const statements = text
        .replaceAll(/--.*$/gm, '')
        .split(';')
        .filter(part => part.trim() !== '')
      expect(statements.length).toBeGreaterThan(20)
      for (const statement of statements) {
        db.prepare(statement)
        db.exec(statement)
      }
    })
  })

  it('refuse to go back behind the baseline, but for an empty database', () => {
    const path = join(folder, 'jobs.db')
    withDatabase(path, db => {
      migrate(db)
      expect(() => migrate(db, latestVersion - 1)).toThrow('cannot go to schema version 4')
      expect(schemaVersion(db, path)).toBe(latestVersion)
    })
  })

  it('leave nothing behind on the way down and can start over', async () => {
    const path = join(folder, 'jobs.db')
    withDatabase(path, db => {
      migrate(db)
      const schema = () =>
        // SQLite keeps its own table of the numbers it gave out.
        db
          .prepare(
            "select type, name, sql from sqlite_schema where name <> 'sqlite_sequence' order by name",
          )
          .all()
      const first = schema()
      migrate(db, 0)
      expect(schema()).toEqual([])
      migrate(db)
      expect(schema()).toEqual(first)
      expect(schemaVersion(db, path)).toBe(latestVersion)
      expect(db.prepare('pragma application_id').get()).toEqual([APPLICATION_ID])
    })
  })

  it('change nothing when a step fails', () => {
    withDatabase(join(folder, 'jobs.db'), db => {
      db.exec(`pragma application_id = ${APPLICATION_ID}`)
      db.exec('create view current_counts as select 1')
      expect(() => migrate(db)).toThrow('already exists')
      expect(schemaVersion(db, '')).toBe(0)
      expect(db.prepare("select 1 from sqlite_schema where name = 'jobs'").get()).toBeUndefined()
    })
  })
})

describe('refuses', () => {
  it('a database of something else, and leaves it as it was', async () => {
    const path = join(folder, 'other.db')
    withDatabase(path, db => {
      db.exec('pragma journal_mode = wal')
      db.exec('create table people (name)')
    })
    const before = readFileSync(path)
    await expect(storeAt(path).open()).rejects.toMatchObject({ code: 'STORE_FOREIGN' })
    expect(readFileSync(path)).toEqual(before)
  })

  it('a database marked by something else, and a table called meta that is not ours', async () => {
    const marked = join(folder, 'marked.db')
    withDatabase(marked, db => db.exec('pragma application_id = 77'))
    await expect(storeAt(marked).open()).rejects.toMatchObject({ code: 'STORE_FOREIGN' })
    const meta = join(folder, 'meta.db')
    withDatabase(meta, db => db.exec('create table meta (a, b)'))
    await expect(storeAt(meta).open()).rejects.toMatchObject({ code: 'STORE_FOREIGN' })
  })

  it('a schema from the future', async () => {
    const path = join(folder, 'jobs.db')
    withDatabase(path, db => {
      migrate(db)
      db.exec('update meta set schema_version = 99')
    })
    await expect(storeAt(path).open()).rejects.toMatchObject({
      code: 'STORE_NEWER',
      details: { version: 99, known: latestVersion },
    })
  })

  it('a file that is no database or a damaged one', async () => {
    const text = join(folder, 'text.db')
    writeFileSync(text, 'no database, but long enough to be looked at. '.repeat(100))
    await expect(storeAt(text).open()).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    const broken = join(folder, 'broken.db')
    withDatabase(broken, db => migrate(db))
    const bytes = readFileSync(broken)
    writeFileSync(broken, bytes.fill(0xff, 100, 4_096))
    await expect(storeAt(broken).open()).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  })

  it('a folder in place of a file', async () => {
    await expect(storeAt(folder).open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it.skipIf(process.getuid?.() === 0)('what it may not write', async () => {
    const path = join(folder, 'jobs.db')
    withDatabase(path, db => migrate(db))
    await chmod(path, 0o400)
    await expect(storeAt(path).open()).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    await chmod(folder, 0o500)
    const inner = storeAt(join(folder, 'inner', 'jobs.db'))
    await expect(inner.open()).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    await chmod(folder, 0o700)
  })
})
