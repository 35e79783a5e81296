// The limit of inserting: batches of 500 rows as large as a job's, with nothing but the statement.

import { createClient } from '@redis/client'
import pg from 'pg'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'

const BATCH = 500
const spec = JSON.stringify({ handler: 'noop', payload: 'x'.repeat(700) })
const idOf = (i: number) => `0195c3d2-0000-7000-8000-${i}`

function sqlite(url: string, rows: number): number {
  const db = openDatabase(url.replace('sqlite:', ''))
  db.exec('pragma journal_mode = wal')
  db.exec('pragma synchronous = full')
  db.exec('create table jobs (seq integer primary key, id text unique, due_at integer, spec text)')
  const insert = db.prepare('insert into jobs values (?, ?, ?, ?)')
  const from = performance.now()
  for (let i = 0; i < rows; i += BATCH) {
    db.exec('begin immediate')
    for (let j = i; j < i + BATCH; j++) insert.run(j, idOf(j), 1_000 + j, spec)
    db.exec('commit')
  }
  const ms = performance.now() - from
  db.close()
  return ms
}

async function postgres(url: string, rows: number): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table jobs (id text primary key, due_at bigint, spec text)')
  const insert = `insert into jobs select id, due_at, $3
    from unnest(string_to_array($1, ','), $2::bigint[]) j (id, due_at)`
  const from = performance.now()
  for (let i = 0; i < rows; i += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, j) => i + j)
    const values = [numbers.map(idOf).join(','), `{${numbers.join(',')}}`, spec]
    await client.query({ name: 'insert', text: insert, values })
  }
  const ms = performance.now() - from
  await client.end()
  return ms
}

const addLua = `
local due = {}
for i = 2, #ARGV do
  redis.call('HSET', 'raw:job:' .. ARGV[i], 'v', '1', 'spec', ARGV[1])
  due[#due + 1] = i
  due[#due + 1] = ARGV[i]
end
redis.call('ZADD', KEYS[1], unpack(due))`

async function redis(url: string, rows: number): Promise<number> {
  const client = createClient({ url, RESP: 2 })
  await client.connect()
  const from = performance.now()
  for (let i = 0; i < rows; i += BATCH) {
    const ids = Array.from({ length: BATCH }, (_, j) => idOf(i + j))
    await client.sendCommand(['EVAL', addLua, '1', 'raw:due', spec, ...ids])
  }
  const ms = performance.now() - from
  client.destroy()
  return ms
}

/** Rows per second into the empty place. */
export async function rawInsert(
  store: 'sqlite' | 'postgres' | 'redis',
  url: string,
  rows: number,
): Promise<number> {
  const insert = { sqlite, postgres, redis }[store]
  return (rows / (await insert(url, rows))) * 1_000
}
