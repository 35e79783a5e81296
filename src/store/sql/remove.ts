// Jobs that go, with everything that belongs to them.

import type { State } from '../../core/job.ts'
import type { RemoveOptions } from '../port.ts'
import { fromKey, toKey } from '../shared/text.ts'
import type { CountKey, Sql } from './dialect.ts'
import { rowsOf, type Operation } from './operation.ts'
import { putRecords } from './records.ts'

export function* remove(
  sql: Sql,
  ids: readonly string[],
  options?: RemoveOptions,
): Operation<boolean[]> {
  const found = yield* removeFound(sql, ids)
  // The second of two with one id finds nothing.
  const existed = ids.map(id => found.delete(id))
  if (options && existed.includes(true)) yield* putRecords(sql, options.records, options.now)
  return existed
}

type FoundRow = [
  seq: number,
  id: string,
  tenant: string,
  queue: string,
  handler: string,
  kind: CountKey['kind'],
  state: State,
]

/** Ids of those that existed. */
export function* removeFound(sql: Sql, ids: readonly string[]): Operation<Set<string>> {
  const { crossJoin, lockStates } = sql.dialect
  const table = sql.dialect.table(
    'id',
    [...new Set(ids)].map(id => [toKey(id)]),
    'e',
  )
  const rows = yield* rowsOf<FoundRow>(
    `select s.seq, j.id, j.tenant, s.queue, s.handler, s.kind, s.state
      from ${table.sql} ${crossJoin} jobs j on j.id = e.id
      ${crossJoin} job_states s on s.seq = j.seq ${lockStates}`,
    ...table.params,
  )
  for (const [, , tenant, queue, handler, kind, state] of rows) {
    sql.counts.add({ tenant, queue, handler, kind, state }, -1)
  }
  yield* deleteJobs(
    sql,
    rows.map(([seq]) => seq),
  )
  return new Set(rows.map(([, id]) => fromKey(id)))
}

const tables = [
  ['attempts', 'job'],
  ['skips', 'job'],
  ['progress', 'job'],
  ['log_lines', 'job'],
  ['job_states', 'seq'],
  ['jobs', 'seq'],
] as const

export function* deleteJobs({ dialect }: Sql, seqs: readonly number[]): Operation<void> {
  if (seqs.length === 0) return
  for (const [table, column] of tables) {
    const among = dialect.amongNumbers(column, seqs)
    yield* rowsOf(`delete from ${table} where ${among.sql}`, ...among.params)
  }
}
