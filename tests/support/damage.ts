// Damages the stored record of one job, by the names its store has for the parts: the one place in
// tests that knows where a spec, a state and counters are kept.

import pg from 'pg'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { linkTo } from './redis.ts'

export const damageKinds = [
  'spec not JSON',
  'spec junk',
  'trigger null',
  'row junk',
  'row missing',
  'spec missing',
  'counters garbage',
  'requests garbage',
  'time of no calendar',
  'cron invalid',
  'zone invalid',
] as const
export type DamageKind = (typeof damageKinds)[number]

/** Parts of one stored job, as text. */
interface Parts {
  spec(edit: (text: string) => string | null): Promise<void>
  /** Something else altogether in place of the spec. */
  junk(): Promise<void>
  row(edit: (text: string) => string | null): Promise<void>
  counters(): Promise<void>
  requests(): Promise<void>
  times(): Promise<void>
  close(): Promise<void>
}

/** `url` is that of the store; for SQLite the process under test may have the file open. */
export async function damage(url: string, jobId: string, kind: DamageKind): Promise<void> {
  const parts = await partsOf(url, jobId)
  try {
    await carryOut(parts, kind)
  } finally {
    await parts.close()
  }
}

function carryOut(parts: Parts, kind: DamageKind): Promise<void> {
  switch (kind) {
    case 'spec not JSON':
      return parts.spec(text => `${text.slice(0, -2)},,`)
    case 'spec junk':
      return parts.junk()
    case 'trigger null':
      return parts.spec(editing(spec => ({ ...spec, trigger: null })))
    case 'row junk':
      return parts.row(() => 'junk')
    case 'row missing':
      return parts.row(() => null)
    case 'spec missing':
      return parts.spec(() => null)
    case 'counters garbage':
      return parts.counters()
    case 'requests garbage':
      return parts.requests()
    case 'time of no calendar':
      return parts.times()
    case 'cron invalid':
      return parts.spec(editing(spec => withTrigger(spec, { expression: '99 99 * * *' })))
    case 'zone invalid':
      return parts.spec(editing(spec => withTrigger(spec, { zone: 'Mars/Phobos' })))
  }
}

type Json = Record<string, unknown>

function editing(edit: (spec: Json) => Json): (text: string) => string {
  return text => JSON.stringify(edit(JSON.parse(text) as Json))
}

function withTrigger(spec: Json, parts: Json): Json {
  return { ...spec, trigger: { ...(spec['trigger'] as Json), ...parts } }
}

/** The numbers of a stored state. */
function garbled(detail: string): string {
  const held = JSON.parse(detail) as Json
  return JSON.stringify(Object.fromEntries(Object.keys(held).map(key => [key, 'x'])))
}

function partsOf(url: string, jobId: string): Promise<Parts> {
  if (url.startsWith('sqlite:')) return sqliteParts(url.slice('sqlite:'.length), jobId)
  if (url.startsWith('postgres')) return postgresParts(url, jobId)
  return redisParts(url, jobId)
}

type Ask = (sql: string, ...values: string[]) => Promise<unknown[][]>

const fields: Readonly<Record<'spec' | 'row', readonly [table: string, column: string]>> = {
  spec: ['jobs', 'spec'],
  row: ['job_states', 'detail'],
}

interface SqlPlace {
  readonly seq: string
  readonly schema: string
}

function sqlParts(ask: Ask, close: () => Promise<void>, { seq, schema }: SqlPlace): Parts {
  const at = (table: string) => `from ${schema}${table} where seq = ${seq}`
  const edit = async (part: 'spec' | 'row', work: (text: string) => string | null) => {
    const [table, column] = fields[part]
    const [row] = await ask(`select ${column} ${at(table)}`)
    const text = work(String(row![0]))
    const update = `update ${schema}${table} set ${column} = $1 where seq = ${seq}`
    // The spec is in the row that has the id: without it there is no job.
    if (text === null && part === 'spec') await ask(update, '')
    else if (text === null) await ask(`delete ${at(table)}`)
    else await ask(update, text)
  }
  return {
    spec: work => edit('spec', work),
    junk: () => edit('spec', () => '{"a":1}'),
    row: work => edit('row', work),
    times: () =>
      edit(
        'row',
        editing(detail => ({ ...detail, updatedAt: NEVER })),
      ),
    counters: () => edit('row', garbled),
    requests: () =>
      edit(
        'row',
        editing(detail => ({ ...detail, requests: [{}] })),
      ),
    close,
  }
}

async function sqliteParts(path: string, jobId: string): Promise<Parts> {
  const db = openDatabase(path)
  const ask: Ask = async (sql, ...values) => db.prepare(sql.replace('$1', '?')).all(...values)
  db.exec('pragma busy_timeout = 2000')
  const seq = await numberOf(ask, jobId, '')
  return sqlParts(ask, async () => db.close(), { seq, schema: '' })
}

async function postgresParts(url: string, jobId: string): Promise<Parts> {
  const { ask, schema, client } = await postgresPlace(url)
  const seq = await numberOf(ask, jobId, schema)
  return sqlParts(ask, () => client.end(), { seq, schema })
}

async function postgresPlace(url: string) {
  const address = new URL(url)
  const schema = `"${address.searchParams.get('schema') ?? 'carillon'}".`
  address.search = ''
  const client = new pg.Client({ connectionString: address.href })
  // A server that goes away fails the query at hand; between queries it is no reason to end.
  client.on('error', () => {})
  await client.connect()
  const ask: Ask = async (text, ...values) =>
    (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows
  return { ask, schema, client }
}

async function numberOf(ask: Ask, jobId: string, schema: string): Promise<string> {
  const [row] = await ask(`select seq from ${schema}jobs where id = $1`, jobId)
  if (row === undefined) throw new Error(`there is no job ${jobId} to damage`)
  return String(row[0])
}

/** Beyond what a Date can hold. */
const NEVER = 9e15
/** Where the second line of a row in Redis has the time of the last change. */
const UPDATED_AT = 19
/** Where the first line of a row in Redis has the number of attempts. */
const ATTEMPTS_AT = 12

/** A stored text of Redis: a line of JSON, and what is behind it. */
function split(text: string): [head: string, rest: string] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end + 1)]
}

async function redisParts(url: string, jobId: string): Promise<Parts> {
  const link = await linkTo(url)
  const prefix = `{${new URL(url).searchParams.get('namespace') ?? 'carillon'}}:`
  const send = (...words: string[]) => link.send(words)
  const seq = String(await send('HGET', `${prefix}ids`, jobId))
  const edit = async (key: string, work: (text: string) => string | null) => {
    const text = work(String(await send('HGET', prefix + key, seq)))
    if (text === null) await send('HDEL', prefix + key, seq)
    else await send('HSET', prefix + key, seq, text)
  }
  return {
    spec: work =>
      edit('definitions', text => {
        const held = JSON.parse(text) as Json
        const spec = work(JSON.stringify(held['spec']))
        if (spec === null) return null
        return JSON.stringify({ ...held, spec: '?' }).replace('"?"', () => spec)
      }),
    junk: () => edit('definitions', () => 'junk'),
    row: work => edit('jobs', work),
    counters: () =>
      edit('jobs', text => {
        const [head, rest] = split(text)
        const damaged = (JSON.parse(head) as unknown[]).with(ATTEMPTS_AT, 'many')
        return `${JSON.stringify(damaged)}\n${rest}`
      }),
    times: () =>
      edit('jobs', text => {
        const [head, rest] = split(text)
        const body = (JSON.parse(rest) as unknown[]).with(UPDATED_AT, NEVER)
        return `${head}\n${JSON.stringify(body)}`
      }),
    requests: () =>
      edit('jobs', text => {
        const [head, rest] = split(text)
        const body = JSON.parse(rest) as unknown[]
        return `${head}\n${JSON.stringify([...body.slice(0, 21), { requests: [{}] }])}`
      }),
    close: async () => link.destroy(),
  }
}

export const besideKinds = ['record', 'attempt', 'checkpoint', 'log line'] as const
export type BesideKind = (typeof besideKinds)[number]

/** Tables and columns of texts that belong to a job or to nobody. */
const besideColumns: Readonly<Record<BesideKind, readonly [table: string, column: string]>> = {
  record: ['records', 'value'],
  attempt: ['attempts', 'detail'],
  checkpoint: ['progress', 'checkpoint'],
  'log line': ['log_lines', 'fields'],
}

/** Damages every text of one sort: the records of kind `k`, or what belongs to the only job. */
export async function damageBeside(url: string, kind: BesideKind): Promise<void> {
  const [table, column] = besideColumns[kind]
  const where = kind === 'record' ? "where kind = 'k'" : ''
  const text = (schema: string) => `update ${schema}${table} set ${column} = '{"cut' ${where}`
  if (url.startsWith('redis')) return damageBesideInRedis(url, kind)
  if (url.startsWith('sqlite:')) {
    const db = openDatabase(url.slice('sqlite:'.length))
    db.exec('pragma busy_timeout = 2000')
    db.exec(text(''))
    db.close()
    return
  }
  const { ask, schema, client } = await postgresPlace(url)
  await ask(text(schema))
  await client.end()
}

async function damageBesideInRedis(url: string, kind: BesideKind): Promise<void> {
  const link = await linkTo(url)
  const prefix = `{${new URL(url).searchParams.get('namespace') ?? 'carillon'}}:`
  const key =
    prefix +
    { record: 'records:k', attempt: 'attempts', checkpoint: 'progress' }[
      kind as Exclude<BesideKind, 'log line'>
    ]
  if (kind === 'log line') {
    const [name] = (await link.send(['KEYS', `${prefix}log:*`])) as string[]
    await link.send(['LSET', name!, '0', '{"cut'])
  } else {
    for (const field of (await link.send(['HKEYS', key])) as string[])
      await link.send(['HSET', key, field, '{"cut'])
  }
  link.destroy()
}
