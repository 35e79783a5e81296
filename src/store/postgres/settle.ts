// The common end of an attempt claimed here: one call for all of them, fenced row by row.

import type { Change } from '../../core/change.ts'
import type { Instant } from '../../core/time.ts'
import { documents, nullable, numbers, texts } from './arrays.ts'
import { bodyOf } from './body.ts'
import { origins, outcomes, states } from './columns.ts'
import type { Value } from './connection.ts'
import { isTaken } from './errors.ts'
import { attemptBody, oddCode } from './history.ts'
import { momentOf } from './record.ts'
import { restValues } from './rest.ts'
import { parameters } from './rows.ts'
import type { Tables } from './tables.ts'
import { toKey } from './text.ts'

export interface Plain {
  readonly index: number
  readonly seq: number
  readonly change: Change
}

/** Nothing but the job, its attempt and skips, written by the holder of a lease it gives up. */
export function plainSeq(tables: Tables, change: Change): number | null {
  const { job, token } = change
  const isPlain =
    token !== null &&
    job.lease === null &&
    !change.specChanged &&
    change.inserts.length === 0 &&
    change.records.length === 0
  return isPlain ? (tables.leased.get(job.id) ?? null) : null
}

/** Whether each was written. False may have many reasons. */
export async function settle(
  tables: Tables,
  given: readonly Plain[],
  now: Instant,
): Promise<boolean[]> {
  const plain = given.toSorted((a, b) => a.seq - b.seq)
  const values = valuesOf(plain, now)
  const sql = `select unnest(${tables.schema}.settle_1(${parameters(values.length + 1)})) is not null`
  const rows = await settled(tables, sql, values)
  const written = new Map(plain.map(({ index }, i) => [index, rows[i]![0] === 't']))
  return given.map(({ index }) => written.get(index)!)
}

/** A number that was used already must not keep a batch from ever being written. */
async function settled(tables: Tables, sql: string, values: readonly Value[]) {
  try {
    return await tables.connection.call(sql, [...values, false])
  } catch (error) {
    if (!isTaken(error)) throw error
    return tables.connection.call(sql, [...values, true])
  }
}

/** One list per column of `settleFields`, filled in one pass. */
class Lists {
  readonly seqs: number[] = []
  readonly expected: number[] = []
  readonly holders: number[] = []
  readonly states: number[] = []
  readonly whats: (number | null)[] = []
  readonly ats: (number | null)[] = []
  readonly ranks: (number | null)[] = []
  readonly expires: (number | null)[] = []
  readonly attempts: number[] = []
  readonly fences: number[] = []
  readonly revisions: number[] = []
  readonly versions: number[] = []
  readonly numbers: (number | null)[] = []
  readonly runs: (number | null)[] = []
  readonly origins: (number | null)[] = []
  readonly retryOfs: (number | null)[] = []
  readonly occurrences: (number | null)[] = []
  readonly claims: (number | null)[] = []
  readonly finishes: (number | null)[] = []
  readonly outcomes: (number | null)[] = []
  readonly ends: (number | null)[] = []
  readonly odds: (number | null)[] = []
  readonly ids: (string | null)[] = []
  readonly bodies: string[] = []
  readonly details: string[] = []
}

function valuesOf(plain: readonly Plain[], now: Instant): Value[] {
  const lists = new Lists()
  const holders = new Map<string, number>()
  for (const { seq, change } of plain) {
    const token = change.token!
    const holder = holders.get(token) ?? holders.size + 1
    holders.set(token, holder)
    lists.seqs.push(seq)
    lists.expected.push(change.expectedVersion)
    lists.holders.push(holder)
    pushState(lists, change, now)
    pushAttempt(lists, change)
  }
  return [
    numbers(lists.seqs),
    numbers(lists.expected),
    numbers(lists.holders),
    numbers(lists.states),
    ...[lists.whats, lists.ats, lists.ranks, lists.expires].map(nullable),
    ...[lists.attempts, lists.fences, lists.revisions, lists.versions].map(numbers),
    ...[lists.numbers, lists.runs, lists.origins, lists.retryOfs].map(nullable),
    ...[lists.occurrences, lists.claims, lists.finishes, lists.outcomes].map(nullable),
    ...[lists.ends, lists.odds].map(nullable),
    texts(lists.ids),
    documents(lists.bodies),
    documents(lists.details),
    texts([...holders.keys()].map(toKey)),
    ...restValues(plain.map(({ change }) => change)),
  ]
}

function pushState(lists: Lists, { job }: Change, now: Instant): void {
  const { what, at, rank } = momentOf(job, now)
  lists.states.push(states.indexOf(job.state))
  lists.whats.push(what)
  lists.ats.push(at)
  lists.ranks.push(rank)
  lists.expires.push(job.expireAt)
  lists.attempts.push(job.counters.attempts)
  lists.fences.push(job.counters.fence)
  lists.revisions.push(job.revision)
  lists.versions.push(job.version)
  lists.bodies.push(bodyOf(job))
}

function pushAttempt(lists: Lists, { attempt }: Change): void {
  lists.ids.push(attempt === null ? null : toKey(attempt.id))
  lists.numbers.push(attempt === null ? null : attempt.number)
  lists.runs.push(attempt === null ? null : attempt.run)
  lists.origins.push(attempt === null ? null : origins.indexOf(attempt.origin))
  lists.retryOfs.push(attempt === null ? null : attempt.retryOf)
  lists.occurrences.push(attempt === null ? null : attempt.occurrence)
  lists.claims.push(attempt === null ? null : attempt.claimedAt)
  lists.finishes.push(attempt === null ? null : attempt.finishedAt)
  lists.outcomes.push(attempt === null ? null : outcomes.indexOf(attempt.outcome))
  lists.ends.push(attempt === null ? null : attempt.expireAt)
  lists.odds.push(attempt === null ? null : oddCode(attempt))
  lists.details.push(attempt === null ? '' : attemptBody(attempt))
}
