// Entries of another store, written as they are. What is there is compared first; then all that is
// missing is written in one transaction, with everything that belongs together in one statement.

import {
  entryOwnerless,
  entryTaken,
  entryTypes,
  isSameEntry,
  ownerOf,
  type Entry,
  type EntryType,
} from '../../core/entry.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { numbers, texts } from './arrays.ts'
import { kinds, states } from '../shared/codes.ts'
import type { Run } from './connection.ts'
import { sections } from './dump.ts'
import { loaders, type Owned } from './load-rows.ts'
import { insertValues, newRows, parameters } from './rows.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export async function load(tables: Tables, entries: readonly Entry[], now: Instant): Promise<void> {
  if (entries.length === 0) return
  const owners = await ownersOf(tables, entries)
  const missing = new Map<EntryType, Entry[]>()
  for (const type of entryTypes) {
    const given = entries.filter(entry => entry.type === type)
    if (given.length > 0) missing.set(type, await notThere(tables, type, given, owners))
  }
  const jobs = (missing.get('job') ?? []).map(entry => (entry as { job: Job }).job)
  const coming = new Set(jobs.map(job => job.id))
  for (const entry of entries) {
    const owner = ownerOf(entry)
    if (owner !== null && !owners.has(owner) && !coming.has(owner)) throw entryOwnerless(entry)
  }
  const places = await tables.places.of(jobs)
  const shares = await sharesOf(tables, missing.get('pruned') ?? [])
  await tables.connection.transaction(async run => {
    if (jobs.length > 0) {
      const values = [...insertValues(newRows(jobs, places), now), '{}', '{}', null, null, now]
      const call = `select unnest(${tables.connection.functionName('insert')}(${parameters(values.length)}))`
      const seqs = await run(call, values)
      for (const [i, job] of jobs.entries()) owners.set(job.id, Number(seqs[i]![0]))
    }
    await writeRest(tables, run, missing, { owners, shares })
  })
}

async function writeRest(
  tables: Tables,
  run: Run,
  missing: ReadonlyMap<EntryType, Entry[]>,
  owned: Owned,
): Promise<void> {
  for (const type of entryTypes) {
    const given = missing.get(type) ?? []
    if (type === 'job' || given.length === 0) continue
    const { sql, values } = loaders[type](tables.schema, given, owned)
    await run(sql, values)
  }
}

/** Numbers of the jobs that entries belong to, as far as they are there. */
async function ownersOf(tables: Tables, entries: readonly Entry[]): Promise<Map<string, number>> {
  const ids = [...new Set(entries.flatMap(entry => ownerOf(entry) ?? []))]
  if (ids.length === 0) return new Map()
  const rows = await tables.connection.rows(
    `select g.n, j.seq from unnest($1::text[]) with ordinality g (id, n)
      join ${tables.schema}.jobs j on j.id = g.id`,
    [texts(ids.map(toKey))],
  )
  return new Map(rows.map(([n, seq]) => [ids[Number(n) - 1]!, Number(seq)]))
}

/** A tenant's share of a line is asked for as a job of it would. */
async function sharesOf(tables: Tables, entries: readonly Entry[]): Promise<number[]> {
  const named = entries.flatMap(entry => (entry.type === 'pruned' ? [entry] : []))
  if (named.length === 0) return []
  const rows = await tables.connection.rows(
    `select share from ${tables.connection.functionName('places')}($1, $2, $3, $4)`,
    [
      texts(named.map(entry => toKey(entry.queue))),
      texts(named.map(entry => toKey(entry.handler))),
      texts(named.map(entry => toKey(entry.tenant))),
      numbers(named.map(entry => kinds.indexOf(entry.kind))),
    ],
  )
  return rows.map(([share]) => Number(share))
}

/** What is where an entry belongs, by the texts that name the place; see `placesOf`. */
const found: Readonly<Record<EntryType, (parameter: number) => string>> = {
  queue: n => `q.queue = any ($${n}::text[])`,
  job: n => `j.id = any ($${n}::text[])`,
  attempt: n => `(a.id = any ($${n}::text[])
    or (a.job, a.number) in (select * from unnest($${n + 1}::bigint[], $${n + 2}::bigint[])))`,
  skip: n => `(k.job, k.first_at) in (
    select * from unnest($${n + 1}::bigint[], $${n + 2}::bigint[])) and $${n}::text[] is not null`,
  progress: n => `p.job = any ($${n + 1}::bigint[]) and $${n}::text[] is not null
    and $${n + 2}::bigint[] is not null`,
  log: n => `(l.attempt, l.n) in (select * from unnest($${n}::text[], $${n + 2}::bigint[]))
    and $${n + 1}::bigint[] is not null`,
  pruned: n => `(l.queue, h.kind * 10 + c.state) in (
    select * from unnest($${n}::text[], $${n + 2}::bigint[])) and $${n + 1}::bigint[] is not null`,
  record: n => `r.key = any ($${n}::text[])`,
}

async function notThere(
  tables: Tables,
  type: EntryType,
  given: readonly Entry[],
  owners: ReadonlyMap<string, number>,
): Promise<Entry[]> {
  const { select, where, toEntry } = sections[type]
  const named = given.map(entry => nameOf(entry, owners))
  const lists = [
    texts(named.map(name => toKey(name.text))),
    numbers(named.map(name => name.owner)),
    numbers(named.map(name => name.number)),
  ]
  const isShort = type === 'queue' || type === 'job' || type === 'record'
  const conditions = [found[type](1), ...(where === undefined ? [] : [where])].join(' and ')
  const rows = await tables.connection.rows(
    `${select(tables.schema)} where ${conditions}`,
    isShort ? lists.slice(0, 1) : lists,
  )
  const held = new Map<string, Entry[]>()
  for (const row of rows) {
    const entry = toEntry(tables, row)
    for (const key of keysOf(entry)) held.set(key, [...(held.get(key) ?? []), entry])
  }
  return given.filter(entry => {
    const others = keysOf(entry).flatMap(key => held.get(key) ?? [])
    if (others.some(other => !isSameEntry(other, entry))) throw entryTaken(entry)
    return others.length === 0
  })
}

interface Name {
  readonly text: string
  readonly owner: number
  readonly number: number
}

function nameOf(entry: Entry, owners: ReadonlyMap<string, number>): Name {
  const owner = owners.get(ownerOf(entry) ?? '') ?? 0
  switch (entry.type) {
    case 'queue':
      return { text: entry.queue, owner, number: 0 }
    case 'job':
      return { text: entry.job.id, owner, number: 0 }
    case 'attempt':
      return { text: entry.attempt.id, owner, number: entry.attempt.number }
    case 'skip':
      return { text: '', owner, number: entry.skip.from }
    case 'progress':
      return { text: '', owner, number: 0 }
    case 'log':
      return { text: entry.attemptId, owner, number: entry.n }
    case 'pruned':
      return { text: entry.queue, owner, number: placeOf(entry) }
    case 'record':
      return { text: entry.record.key, owner, number: 0 }
  }
}

function placeOf(entry: Extract<Entry, { type: 'pruned' }>): number {
  return kinds.indexOf(entry.kind) * 10 + states.indexOf(entry.state)
}

const key = (...parts: unknown[]): string => JSON.stringify(parts)

/** Entries that share one of these are in each other's place. */
function keysOf(entry: Entry): string[] {
  switch (entry.type) {
    case 'queue':
      return [entry.queue]
    case 'job':
      return [entry.job.id]
    case 'attempt':
      return [key(entry.attempt.id), key(entry.attempt.jobId, entry.attempt.number)]
    case 'skip':
      return [key(entry.skip.jobId, entry.skip.from)]
    case 'progress':
      return [entry.jobId]
    case 'log':
      return [key(entry.attemptId, entry.n)]
    case 'pruned':
      return [key(entry.tenant, entry.queue, entry.handler, entry.kind, entry.state)]
    case 'record':
      return [key(entry.record.kind, entry.record.key)]
  }
}
