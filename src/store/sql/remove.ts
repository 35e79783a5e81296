// Jobs that go, with everything that belongs to them.

import type { State } from '../../core/job.ts'
import type { RemoveOptions } from '../port.ts'
import { toKey } from '../shared/text.ts'
import type { CountKey } from './counts.ts'
import type { Sql } from './dialect.ts'
import { rowOf, rowsOf, type Operation } from './operation.ts'
import { putRecords } from './records.ts'

export function* remove(
  sql: Sql,
  ids: readonly string[],
  options?: RemoveOptions,
): Operation<boolean[]> {
  const existed: boolean[] = []
  for (const id of ids) existed.push(yield* removeOne(sql, id))
  if (options && existed.includes(true)) yield* putRecords(options.records, options.now)
  return existed
}

type FoundRow = [
  seq: number,
  tenant: string,
  queue: string,
  handler: string,
  kind: CountKey['kind'],
  state: State,
]

export function* removeOne(sql: Sql, id: string): Operation<boolean> {
  const row = yield* rowOf<FoundRow>(
    `select s.seq, j.tenant, s.queue, s.handler, s.kind, s.state
      from jobs j join job_states s on s.seq = j.seq where j.id = ? ${sql.dialect.lockStates}`,
    toKey(id),
  )
  if (row === undefined) return false
  const [seq, tenant, queue, handler, kind, state] = row
  sql.counts.add({ tenant, queue, handler, kind, state }, -1)
  yield* deleteJob(seq)
  return true
}

const tables = ['attempts', 'skips', 'progress', 'log_lines'] as const

export function* deleteJob(seq: number): Operation<void> {
  for (const table of tables) yield* rowsOf(`delete from ${table} where job = ?`, seq)
  yield* rowsOf('delete from job_states where seq = ?', seq)
  yield* rowsOf('delete from jobs where seq = ?', seq)
}
