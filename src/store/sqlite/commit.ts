// Changes: each is checked as a whole before its first write, so none is ever half done.

import type { Change } from '../../core/change.ts'
import type { Job } from '../../core/job.ts'
import type { CommitResult, InsertOptions } from '../store.ts'
import { rankOf } from '../../core/fair.ts'
import { bulkSql, groupsOf, inBulk } from './bulk.ts'
import type { Value } from './driver.ts'
import { appendHistory, type Written } from './history.ts'
import { exists, insertOne, isFull } from './insert.ts'
import {
  settleJobsSql,
  settleSameSql,
  settleSameWidth,
  settleWidth,
  updateJobSql,
} from './columns.ts'
import { bodyOf } from '../shared/body.ts'
import { RUNNING } from '../shared/codes.ts'
import { heldUntil, kindCode, stateCode } from '../shared/job.ts'
import { readyCode, updateValues, waitsUntil } from './record.ts'
import { putRecord, recordFits } from './records.ts'
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
      const seq = plainSeq(tables, change)
      if (seq !== null) plain.push({ index, seq, change })
      else results[index] = committed(tables, change, options, written)
    }
    const many = (group: readonly Plain[]) =>
      settledAll(tables, group, options) && keep(tables, group, results, written)
    const one = (row: Plain) => {
      if (!many([row])) results[row.index] = committed(tables, row.change, options, written)
    }
    for (const group of groupsOf(plain, endsAlike(options))) inBulk(tables, group, { many, one })
    appendHistory(tables, written)
    return results
  })
}

/** The common end of an attempt claimed here: nothing to check but the fence. */
interface Plain extends Written {
  readonly index: number
}

function plainSeq(tables: Tables, change: Change): number | null {
  const { job, token } = change
  const isPlain =
    token !== null &&
    job.lease === null &&
    !change.specChanged &&
    change.inserts.length === 0 &&
    change.records.length === 0 &&
    job.version === change.expectedVersion + 1
  return isPlain ? (tables.leased.get(job.id) ?? null) : null
}

/** Whether two come to the same, but for what each row says itself. */
function endsAlike({ now }: InsertOptions) {
  return ({ change: a }: Plain, { change: b }: Plain): boolean =>
    a.token === b.token &&
    a.job.state === b.job.state &&
    a.job.expireAt === b.job.expireAt &&
    readyCode(a.job, now) === readyCode(b.job, now) &&
    heldUntil(a.job) === heldUntil(b.job)
}

/** The statement checks the fence itself. False says only that it was not that simple for all. */
function settledAll(tables: Tables, group: readonly Plain[], { now }: InsertOptions): boolean {
  const first = group[0]!.change
  const { job, token } = first
  const values = [stateCode(job), readyCode(job, now), heldUntil(job), job.expireAt] as Value[]
  const isSame = group.every(({ change }) => isSameTurn(first, change))
  if (isSame) pushSame(values, group)
  else pushEach(values, group)
  values.push(toKey(token!))
  const sql = isSame
    ? bulkSql('settle same', settleSameWidth, group.length, settleSameSql)
    : bulkSql('settle jobs', settleWidth, group.length, settleJobsSql)
  return Number(tables.statement(sql).run(...values).changes) === group.length
}

function isSameTurn(one: Change, other: Change): boolean {
  const { job: a } = one
  const { job: b } = other
  return (
    one.expectedVersion === other.expectedVersion &&
    a.counters.attempts === b.counters.attempts &&
    a.counters.fence === b.counters.fence &&
    waitsUntil(a) === waitsUntil(b) &&
    a.spec.priority === b.spec.priority
  )
}

/** Every value that is handed over costs as much as writing it: what all share is given once. */
function pushSame(values: Value[], group: readonly Plain[]): void {
  const { job, expectedVersion } = group[0]!.change
  values.push(rankIn(job), waitsUntil(job), job.counters.attempts, job.counters.fence)
  for (const { seq, change } of group) values.push(seq, bodyOf(change.job))
  values.push(expectedVersion)
}

function pushEach(values: Value[], group: readonly Plain[]): void {
  for (const { seq, change } of group) {
    const { job, expectedVersion } = change
    const { attempts, fence } = job.counters
    values.push(seq, expectedVersion, rankIn(job), waitsUntil(job), attempts, fence, bodyOf(job))
  }
}

function rankIn(job: Job): number | null {
  const dueAt = waitsUntil(job)
  return dueAt === null ? null : rankOf(dueAt, job.spec.priority)
}

function keep(
  tables: Tables,
  group: readonly Plain[],
  results: CommitResult[],
  written: Written[],
): true {
  for (const row of group) {
    const { job } = row.change
    const { queue, handler, tenant } = job.spec
    const line = tables.lines.idOf(queue, handler)
    tables.tallies.moved({ tenant, line, kind: kindCode(job), from: RUNNING, to: stateCode(job) })
    tables.leased.delete(job.id)
    // Most of what ends is never looked at again.
    if (job.ended !== null) tables.specs.drop(row.seq)
    results[row.index] = 'committed'
    written.push(row)
  }
  endLeases(tables, group)
  return true
}

/** Rows of one claim mostly come together: they are counted before they are looked up. */
function endLeases(tables: Tables, group: readonly Plain[]): void {
  let token = group[0]!.change.token!
  let count = 0
  for (const { change } of group) {
    if (change.token !== token) {
      tables.leases.end(toKey(token), count)
      token = change.token!
      count = 0
    }
    count++
  }
  tables.leases.end(toKey(token), count)
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
  return { seq, version, token, state, line, specAt }
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
