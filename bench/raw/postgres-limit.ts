// The limit the store is measured against: claim, complete and history over a minimal table, with
// batched statements on two connections and the same durability.

import pg from 'pg'

const schema = (s: string) => `
  create schema ${s};
  create table ${s}.jobs (seq bigint primary key, id text not null, state smallint not null,
    due_at bigint, token text, until_at bigint, version bigint not null) with (fillfactor = 80);
  create index due on ${s}.jobs (due_at) where state = 0;
  create table ${s}.history (id text not null, job bigint not null, started bigint not null,
    finished bigint not null, outcome smallint not null)`

const claimSql = (s: string) => `update ${s}.jobs set state = 1, token = $1, until_at = 2000,
    version = version + 1
  where seq = any (array(select seq from ${s}.jobs where state = 0 and due_at <= $2
    order by due_at limit $3 for update skip locked))
  returning seq, id, version`

const completeSql = (s: string) => `with c as (
    select * from unnest($1::bigint[], $2::bigint[], string_to_array($3, ',')) c (seq, version, token)
  ), done as (
    update ${s}.jobs j set state = 2, token = null, until_at = null, due_at = null,
      version = j.version + 1
      from c where j.seq = c.seq and j.version = c.version and j.token = c.token
      returning j.id, j.seq
  ), kept as (insert into ${s}.history select id, seq, 1000, 1001, 0 from done)
  select count(*) from done`

const CONNECTIONS = 2

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: '-c jit=off' })
  await client.connect()
  return client
}

async function drain(client: pg.Client, s: string, batch: number): Promise<number> {
  for (let done = 0, round = 0; ; round++) {
    const token = `token-${round}`
    const claim = { name: 'claim', text: claimSql(s), rowMode: 'array' as const }
    const taken = await client.query<[string, string, string]>({
      ...claim,
      values: [token, 1e15, batch],
    })
    if (taken.rows.length === 0) return done
    await client.query({
      name: 'complete',
      text: completeSql(s),
      values: [
        `{${taken.rows.map(row => row[0]).join(',')}}`,
        `{${taken.rows.map(row => row[2]).join(',')}}`,
        taken.rows.map(() => token).join(','),
      ],
    })
    done += taken.rows.length
  }
}

/** Rows per second of one pass over all rows, in a schema that is removed afterwards. */
export async function rawCycle(url: string, rows: number, batch: number): Promise<number> {
  const s = 'carillon_raw'
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(url)))
  const [first] = clients
  await first!.query(`drop schema if exists ${s} cascade; ${schema(s)}`)
  await first!.query(`insert into ${s}.jobs select i, '0195c3d2-0000-7000-8000-' || i, 0, 1000 + i,
    null, null, 1 from generate_series(1, ${rows}) i`)
  await first!.query(`vacuum analyze ${s}.jobs`)
  const from = performance.now()
  await Promise.all(clients.map(client => drain(client, s, batch)))
  const ms = performance.now() - from
  await first!.query(`drop schema ${s} cascade`)
  for (const client of clients) await client.end()
  return Math.round((rows / ms) * 1000)
}
