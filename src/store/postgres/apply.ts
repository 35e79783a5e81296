// Bundles: the usual calls one after another in one transaction, taken back if any was refused.

import {
  bornIn,
  faultsOf,
  fullRefusals,
  recordsRefused,
  type Bundle,
  type Refusal,
} from '../../core/bundle.ts'
import type { Removal } from '../../core/change.ts'
import type { InsertOptions } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { numbers, texts } from './arrays.ts'
import { commit } from './commit.ts'
import { insert } from './insert.ts'
import { recordsJson } from './records.ts'
import type { Tables } from './tables.ts'

export async function apply(
  tables: Tables,
  bundle: Bundle,
  options: InsertOptions,
): Promise<Refusal[]> {
  const faults = faultsOf(bundle)
  if (faults.length > 0) return faults
  // Numbers of places are given for good: had the transaction given them, they could be taken back.
  await tables.places.of([...bundle.changes.map(({ job }) => job), ...bornIn(bundle)])
  return tables.connection.together(
    inside => written(tables.inside(inside), bundle, options),
    refusals => refusals.length === 0,
  )
}

/** Queues and records are held first, as every other call does. */
async function written(tables: Tables, bundle: Bundle, options: InsertOptions): Promise<Refusal[]> {
  const { now } = options
  const records = recordsJson(options.records)
  const fits = records === null || (await recordsFit(tables, records, now))
  await roomIn(tables, bundle, options)
  const removes = await remove(tables, bundle.removes)
  const committed = await commit(tables, bundle.changes, { now })
  const changes = committed.flatMap((reason, i): Refusal[] => {
    const { id } = bundle.changes[i]!.job
    return reason === 'committed' ? [] : [{ part: 'change', id, reason }]
  })
  const inserted = await insert(tables, bundle.inserts, { now })
  const inserts = inserted.flatMap((reason, i): Refusal[] => {
    const { id } = bundle.inserts[i]!
    return reason === 'inserted' ? [] : [{ part: 'insert', id, reason }]
  })
  const found = [...removes, ...changes, ...inserts, ...(fits ? [] : [recordsRefused])]
  if (found.length > 0) return found
  if (records !== null) {
    await tables.connection.call(
      `select ${tables.connection.functionName('records_put')}($1, $2)`,
      [records, now],
    )
  }
  const room = await roomIn(tables, bundle, options)
  return fullRefusals(bundle, queue => (room.get(queue) ?? 0) < 0)
}

async function recordsFit(tables: Tables, records: string, now: number): Promise<boolean> {
  const sql = `select ${tables.connection.functionName('records_fit')}($1, $2)`
  const [row] = await tables.connection.call(sql, [records, now])
  return row![0] === 't'
}

/** How many more each queue takes, where there is a bound; nobody else fills them meanwhile. */
async function roomIn(
  tables: Tables,
  bundle: Bundle,
  { waitingMax = null }: InsertOptions,
): Promise<Map<string, number>> {
  const queues = [...new Set(bornIn(bundle).map(({ spec }) => spec.queue))]
  if (waitingMax === null || queues.length === 0) return new Map()
  const sql = `select unnest(${tables.connection.functionName('room')}($1, $2))`
  const rows = await tables.connection.call(sql, [texts(queues.map(toKey)), waitingMax])
  return new Map(queues.map((queue, i) => [queue, Number(rows[i]![0])]))
}

interface Going {
  readonly seq: number
  readonly waits: boolean
}

/** Jobs that go with one statement: what it costs grows faster than their number. */
const REMOVED_MAX = 250

async function remove(tables: Tables, removals: readonly Removal[]): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (let at = 0; at < removals.length; at += REMOVED_MAX) {
    refusals.push(...(await removeSome(tables, removals.slice(at, at + REMOVED_MAX))))
  }
  return refusals
}

/** What a job waits for is taken first, as a claim does: at most one of them goes on. */
async function removeSome(tables: Tables, removals: readonly Removal[]): Promise<Refusal[]> {
  const { refusals, going } = await looked(tables, removals)
  const { connection } = tables
  const waiting = going.filter(({ waits }) => waits).map(({ seq }) => seq)
  const taken = new Set<number>()
  // What was just made ready is met at the second look.
  for (let look = 0; look < 2 && taken.size < waiting.length; look++) {
    const left = waiting.filter(seq => !taken.has(seq))
    const rows = await connection.call(`select unnest(${connection.functionName('take')}($1))`, [
      numbers(left),
    ])
    for (const [seq] of rows) taken.add(Number(seq))
  }
  const isWhole = taken.size === waiting.length && (await stillSo(tables, removals))
  if (refusals.length > 0) return refusals
  // Someone was at one of them in this moment; which one is seen at the next look.
  if (!isWhole) return removals.map(({ id }) => ({ part: 'remove', id, reason: 'conflict' }))
  const seqs = numbers(going.map(({ seq }) => seq))
  await connection.call(`select ${connection.functionName('drop')}($1, -1::smallint)`, [seqs])
  return []
}

async function looked(
  tables: Tables,
  removals: readonly Removal[],
): Promise<{ refusals: Refusal[]; going: Going[] }> {
  const rows = await tables.connection.call(
    `select j.seq, j.version, case j.state when 0 then j.due_at is not null when 1 then false
        when 2 then j.until_at is not null else j.expire_at is not null end
      from unnest($1::text[]) with ordinality g (id, n)
      left join ${tables.schema}.jobs j on j.id = g.id order by g.n`,
    [texts(removals.map(({ id }) => toKey(id)))],
  )
  const refusals: Refusal[] = []
  const going: Going[] = []
  for (const [i, { id, expectedVersion }] of removals.entries()) {
    const [seq, version, waits] = rows[i]!
    if (seq === null) refusals.push({ part: 'remove', id, reason: 'missing' })
    else if (Number(version) !== expectedVersion) {
      refusals.push({ part: 'remove', id, reason: 'conflict' })
    } else going.push({ seq: Number(seq), waits: waits === 't' })
  }
  return { refusals, going }
}

/** Held from here on. */
async function stillSo(tables: Tables, removals: readonly Removal[]): Promise<boolean> {
  const rows = await tables.connection.call(
    `select j.seq from unnest($1::text[], $2::bigint[]) g (id, version)
      join ${tables.schema}.jobs j on j.id = g.id and j.version = g.version
      order by j.seq for update of j`,
    [
      texts(removals.map(({ id }) => toKey(id))),
      numbers(removals.map(({ expectedVersion }) => expectedVersion)),
    ],
  )
  return rows.length === removals.length
}
