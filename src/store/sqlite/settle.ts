// The usual end of attempts that were claimed here: nothing to check but the fence, so many are
// written at a time. What is not that simple for all of them is tried one by one.

import type { Change } from '../../core/change.ts'
import { rankOf } from '../../core/fair.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { bulkSql, groupsOf, inBulk, wentThrough } from './bulk.ts'
import {
  settleJobsSql,
  settleSameSql,
  settleSameWidth,
  settleSpanSql,
  settleWidth,
} from './columns.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { appendSpan, isSameAttempt, type Written } from './history.ts'
import { bodyOf } from '../shared/body.ts'
import { RUNNING } from '../shared/codes.ts'
import { heldUntil, kindCode, stateCode } from '../shared/job.ts'
import { isPlainEnd } from '../shared/plain.ts'
import { readyCode, waitsUntil } from './record.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export interface Plain extends Written {
  readonly index: number
  /** As its lease has it. */
  readonly attemptId: string
}

export function plainOf(tables: Tables, change: Change, index: number): Plain | null {
  const lent = isPlainEnd(change) ? tables.leased.get(change.job.id) : undefined
  return lent === undefined ? null : { seq: lent[0], attemptId: lent[1], index, change }
}

export interface Settling {
  readonly now: Instant
  /** `hasHistory` says whether its attempt is written too. */
  done(row: Plain, hasHistory: boolean): void
  /** It was not that simple. */
  refused(row: Plain): void
}

/** Inside a write. */
export function settleAll(tables: Tables, plain: readonly Plain[], settling: Settling): void {
  const { now } = settling
  const done = (group: readonly Plain[], hasHistory: boolean): true => {
    forget(tables, group)
    for (const row of group) settling.done(row, hasHistory)
    return true
  }
  const many = (group: readonly Plain[]) => settled(tables, group, now) && done(group, false)
  const one = (row: Plain) => {
    if (!many([row])) settling.refused(row)
  }
  for (const group of groupsOf(plain, endsAlike(now))) {
    const { spans, rest } = spansOf(group)
    for (const span of spans) {
      if (wentThrough(tables, () => settledSpan(tables, span, now))) done(span, true)
      else span.forEach(one)
    }
    inBulk(tables, rest, { many, one })
  }
}

/** Whether two come to the same, but for what each row says itself. */
function endsAlike(now: Instant) {
  return ({ change: a }: Plain, { change: b }: Plain): boolean =>
    a.token === b.token &&
    a.job.state === b.job.state &&
    a.job.expireAt === b.job.expireAt &&
    readyCode(a.job, now) === readyCode(b.job, now) &&
    heldUntil(a.job) === heldUntil(b.job)
}

/** Below this a list of rows costs as little. */
const SPAN_MIN = 4

interface Spans {
  readonly spans: readonly (readonly Plain[])[]
  readonly rest: readonly Plain[]
}

/** Rows that lie behind each other and come to the very same: their ends name them all. */
function spansOf(group: readonly Plain[]): Spans {
  const spans: Plain[][] = []
  const rest: Plain[] = []
  let span: Plain[] = []
  const close = () => {
    if (span.length >= SPAN_MIN) spans.push(span)
    else rest.push(...span)
    span = []
  }
  for (const row of group) {
    if (span.length > 0 && !isNext(span.at(-1)!, row)) close()
    span.push(row)
  }
  close()
  return { spans, rest }
}

function isNext(before: Plain, row: Plain): boolean {
  const { change } = row
  return (
    row.seq === before.seq + 1 &&
    (change.attempt === null || change.attempt.id === row.attemptId) &&
    isSameTurn(before.change, change) &&
    isSameAttempt(before.change.attempt, change.attempt) &&
    bodyOf(before.change.job) === bodyOf(change.job)
  )
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

/** What all of a group come to. */
function alikeValues(job: Job, now: Instant): Value[] {
  return [stateCode(job), readyCode(job, now), heldUntil(job), job.expireAt]
}

/** Of jobs that differ in nothing but their bodies. */
function sameValues(job: Job): Value[] {
  return [rankIn(job), waitsUntil(job), job.counters.attempts, job.counters.fence]
}

function rankIn(job: Job): number | null {
  const dueAt = waitsUntil(job)
  return dueAt === null ? null : rankOf(dueAt, job.spec.priority)
}

/** The attempts come from the rows themselves, as long as these still name them. */
function settledSpan(tables: Tables, span: readonly Plain[], now: Instant): boolean {
  const { seq, change } = span[0]!
  const { job, attempt, expectedVersion } = change
  const held = [seq, span.at(-1)!.seq, expectedVersion, toKey(change.token!)]
  if (attempt !== null && appendSpan(tables, attempt, held) !== span.length) return false
  const values = [...alikeValues(job, now), ...sameValues(job), bodyOf(job), ...held]
  return Number(tables.statement(settleSpanSql).run(...values).changes) === span.length
}

/** The statement checks the fence itself. False says only that it was not that simple for all. */
function settled(tables: Tables, group: readonly Plain[], now: Instant): boolean {
  const first = group[0]!.change
  const values = alikeValues(first.job, now)
  const isSame = group.every(({ change }) => isSameTurn(first, change))
  if (isSame) pushSame(values, group)
  else pushEach(values, group)
  values.push(toKey(first.token!))
  const sql = isSame
    ? bulkSql('settle same', settleSameWidth, group.length, settleSameSql)
    : bulkSql('settle jobs', settleWidth, group.length, settleJobsSql)
  return Number(tables.statement(sql).run(...values).changes) === group.length
}

/** Every value that is handed over costs as much as writing it: what all share is given once. */
function pushSame(values: Value[], group: readonly Plain[]): void {
  const { job, expectedVersion } = group[0]!.change
  values.push(...sameValues(job))
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

/** What was known of them as held jobs. */
function forget(tables: Tables, group: readonly Plain[]): void {
  for (const { seq, change } of group) {
    const { job } = change
    const { queue, handler, tenant } = job.spec
    const line = tables.lines.idOf(queue, handler)
    tables.tallies.moved({ tenant, line, kind: kindCode(job), from: RUNNING, to: stateCode(job) })
    tables.leased.delete(job.id)
    // Most of what ends is never looked at again.
    if (job.ended !== null) tables.specs.drop(seq)
  }
  // A group is of one claim.
  tables.leases.end(toKey(group[0]!.change.token!), group.length)
}
