// Changes: each is checked as a whole before its first write, so none is ever half done.

import type { Change } from '../../core/change.ts'
import type { CommitResult, InsertOptions } from '../store.ts'
import { appendHistory, appendRest, type Written } from './history.ts'
import { exists, insertOne, isFull } from './insert.ts'
import { updateJobSql } from './columns.ts'
import { states, WAITING } from '../shared/codes.ts'
import { kindCode, stateCode } from '../shared/job.ts'
import { updateValues } from './record.ts'
import { putRecord, recordFits } from './records.ts'
import { plainOf, settleAll, type Plain } from './settle.ts'
import type { Tables } from './tables.ts'
import { toKey, toKeyOrNull } from '../shared/text.ts'

export function commit(
  tables: Tables,
  changes: readonly Change[],
  options: InsertOptions,
): CommitResult[] {
  if (changes.length === 0) return []
  return tables.write(() => {
    const results: CommitResult[] = []
    const plain: Plain[] = []
    const written: Written[] = []
    for (const [index, change] of changes.entries()) {
      const one = plainOf(tables, change, index)
      if (one !== null) plain.push(one)
      else results[index] = committed(tables, change, options, written)
    }
    settleAll(tables, plain, {
      now: options.now,
      done: (row, hasHistory) => {
        results[row.index] = 'committed'
        for (const write of row.change.records) putRecord(tables, write, options.now)
        if (hasHistory) appendRest(tables, row)
        else written.push(row)
      },
      refused: ({ index, change }) => {
        results[index] = committed(tables, change, options, written)
      },
    })
    appendHistory(tables, written)
    return results
  })
}

interface Stored {
  readonly seq: number
  readonly version: number
  readonly token: string | null
  readonly state: number
  readonly line: number
  readonly specAt: number
}

function committed(
  tables: Tables,
  change: Change,
  options: InsertOptions,
  written: Written[],
): CommitResult {
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
  written.push({ seq: stored.seq, change })
  for (const write of records) putRecord(tables, write, options.now)
  return 'committed'
}

function find(tables: Tables, id: string): Stored | null {
  const row = tables
    .statement('select seq, version, token, state, line, spec_at from jobs where id = ?')
    .get(toKey(id)) as [number, number, string | null, number, number, number] | undefined
  if (!row) return null
  const [seq, version, token, state, line, specAt] = row
  return { seq, version, token, state: states[state] ? state : WAITING, line, specAt }
}

function writeJob(tables: Tables, change: Change, stored: Stored, { now }: InsertOptions): void {
  const { job, specChanged } = change
  const { seq } = stored
  const line = specChanged ? tables.lines.idOf(job.spec.queue, job.spec.handler) : stored.line
  const specAt = specChanged ? job.version : stored.specAt
  const place = { seq, line, specAt }
  tables.statement(updateJobSql).run(...updateValues(job, place, now), seq)
  const tenant = specChanged ? tables.specs.tenantOf(seq) : job.spec.tenant
  if (specChanged) tables.specs.write(job, place)
  moved(tables, change, { ...stored, tenant }, line)
}

function moved(
  tables: Tables,
  { job, token }: Change,
  before: Pick<Stored, 'line' | 'state'> & { readonly tenant: string },
  line: number,
): void {
  const kind = kindCode(job)
  tables.tallies.of(before.tenant).add(before.line, kind, before.state, -1)
  tables.tallies.of(job.spec.tenant).add(line, kind, stateCode(job), 1)
  if (job.lease !== null) return
  tables.leased.delete(job.id)
  if (token !== null) tables.leases.end(toKey(token), 1)
}
