// The limit the store is measured against: claim, complete and history over a minimal table, with
// batched prepared statements and the same durability.

import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'

const pragmas = [
  'pragma journal_mode = wal',
  'pragma synchronous = full',
  'pragma cache_size = -65536',
  'pragma wal_autocheckpoint = 4000',
]

const schema = [
  `create table jobs (seq integer primary key, id text not null, state integer not null,
    due_at integer, token text, until_at integer, version integer not null)`,
  'create index due on jobs (due_at) where state = 0',
  `create table history (id text not null, job integer not null, started integer not null,
    finished integer not null, outcome integer not null)`,
]

/** Rows per second of one pass over all rows. */
export function rawCycle(path: string, rows: number, batch: number): number {
  const db = openDatabase(path)
  for (const sql of [...pragmas, ...schema]) db.exec(sql)
  const insert = db.prepare('insert into jobs values (?, ?, 0, ?, null, null, 1)')
  db.exec('begin immediate')
  for (let i = 1; i <= rows; i++) insert.run(i, `0195c3d2-0000-7000-8000-${i}`, 1_000 + i)
  db.exec('commit')
  const pick = db.prepare('select seq, id, due_at, version from jobs where state = 0 limit ?')
  const lease =
    db.prepare(`update jobs set state = 1, token = ?, until_at = ?, version = version + 1
    where seq in (select value from json_each(?))`)
  const complete = db.prepare(`update jobs set state = 2, token = null, until_at = null,
    due_at = null, version = version + 1 where seq = ? and version = ? and token = ?`)
  const history = db.prepare('insert into history values (?, ?, ?, ?, ?)')
  const from = performance.now()
  for (let done = 0; done < rows;) {
    const token = `token-${done}`
    db.exec('begin immediate')
    const taken = pick.all(batch) as [number, string, number, number][]
    lease.run(token, 2_000, JSON.stringify(taken.map(row => row[0])))
    db.exec('commit')
    db.exec('begin immediate')
    for (const [seq, id, , version] of taken) {
      complete.run(seq, version + 1, token)
      history.run(id, seq, 1_000, 1_001, 0)
    }
    db.exec('commit')
    done += taken.length
  }
  const ms = performance.now() - from
  db.close()
  return Math.round((rows / ms) * 1000)
}
