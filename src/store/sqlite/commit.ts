// Changes: each is checked as a whole before its first write, so none is ever half done.

import type { Change } from '../../core/change.ts'
import type { CommitResult, InsertOptions } from '../store.ts'
import { appendHistory } from './history.ts'
import { exists, insertOne, isFull } from './insert.ts'
import { RUNNING, settleJobSql, updateJobSql } from './columns.ts'
import { kindCode, stateCode, stateValues, updateValues } from './record.ts'
import { putRecord, recordFits } from './records.ts'
import type { Tables } from './tables.ts'
import { toKey, toKeyOrNull } from './text.ts'

export function commit(
  tables: Tables,
  changes: readonly Change[],
  options: InsertOptions,
): CommitResult[] {
  if (changes.length === 0) return []
  return tables.write(() =>
    changes.map(change =>
      settled(tables, change, options) ? 'committed' : committed(tables, change, options),
    ),
  )
}

/**
 * The common end of an attempt claimed here: nothing to check but the fence, which the statement
 * does itself. False says only that it was not that simple, and nothing was written.
 */
function settled(tables: Tables, change: Change, { now }: InsertOptions): boolean {
  const { job, token } = change
  const isPlain =
    token !== null &&
    job.lease === null &&
    !change.specChanged &&
    change.inserts.length === 0 &&
    change.records.length === 0
  const seq = isPlain ? tables.leased.get(job.id) : undefined
  if (seq === undefined) return false
  const { changes } = tables
    .statement(settleJobSql)
    .run(...stateValues(job, now), seq, change.expectedVersion, toKey(token!))
  if (Number(changes) === 0) return false
  const line = tables.lines.idOf(job.spec.queue, job.spec.handler)
  moved(tables, change, { line, state: RUNNING }, line)
  appendHistory(tables, seq, change)
  // Most of what ends is never looked at again.
  if (job.ended !== null) tables.specs.drop(seq)
  return true
}

interface Stored {
  readonly seq: number
  readonly version: number
  readonly token: string | null
  readonly state: number
  readonly line: number
  readonly specAt: number
}

function committed(tables: Tables, change: Change, options: InsertOptions): CommitResult {
  const { job, records, inserts } = change
  const stored = find(tables, job.id)
  if (stored === null) return 'missing'
  const isCurrent =
    stored.version === change.expectedVersion && stored.token === toKeyOrNull(change.token)
  if (!isCurrent || !records.every(write => recordFits(tables, write, options.now))) {
    return 'conflict'
  }
  if (inserts.some(made => isFull(tables, made, options) && !exists(tables, made.id))) return 'full'
  writeJob(tables, change, stored, options)
  for (const made of inserts) insertOne(tables, made, options.now)
  appendHistory(tables, stored.seq, change)
  for (const write of records) putRecord(tables, write)
  return 'committed'
}

function find(tables: Tables, id: string): Stored | null {
  const row = tables
    .statement('select seq, version, token, state, line, spec_at from jobs where id = ?')
    .get(toKey(id)) as [number, number, string | null, number, number, number] | undefined
  if (!row) return null
  const [seq, version, token, state, line, specAt] = row
  return { seq, version, token, state, line, specAt }
}

function writeJob(tables: Tables, change: Change, stored: Stored, { now }: InsertOptions): void {
  const { job, specChanged } = change
  const { seq } = stored
  const line = specChanged ? tables.lines.idOf(job.spec.queue, job.spec.handler) : stored.line
  const specAt = specChanged ? job.version : stored.specAt
  const place = { seq, line, specAt }
  tables.statement(updateJobSql).run(...updateValues(job, place, now), seq)
  if (specChanged) tables.specs.write(job, place)
  moved(tables, change, stored, line)
}

function moved(
  tables: Tables,
  { job }: Change,
  before: { readonly line: number; readonly state: number },
  line: number,
): void {
  const kind = kindCode(job)
  tables.tallies.add(before.line, kind, before.state, -1)
  tables.tallies.add(line, kind, stateCode(job), 1)
  if (job.lease === null) tables.leased.delete(job.id, 1)
}
