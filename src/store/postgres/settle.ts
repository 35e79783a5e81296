// The common end of an attempt claimed here: one call for all of them, fenced row by row.

import type { Change } from '../../core/change.ts'
import type { Instant } from '../../core/time.ts'
import { documents, nullable, numbers, texts } from './arrays.ts'
import { bodyOf } from '../shared/body.ts'
import { outcomes, states } from '../shared/codes.ts'
import type { Value } from './connection.ts'
import { isTaken } from './errors.ts'
import { attemptBody, ledgerOccurrence } from './history.ts'
import { momentOf } from './record.ts'
import { restValues } from './rest.ts'
import { parameters } from './rows.ts'
import type { Leased, Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export interface Plain {
  readonly index: number
  readonly seq: number
  readonly change: Change
}

/**
 * Nothing but the job, its attempt and skips, written by the holder of a lease it gives up, and as
 * the row itself would have it: then little needs to be sent.
 */
export function plainSeq(tables: Tables, change: Change): number | null {
  const { job, token } = change
  const isPlain =
    token !== null &&
    job.lease === null &&
    !change.specChanged &&
    change.inserts.length === 0 &&
    change.records.length === 0 &&
    job.version === change.expectedVersion + 1 &&
    (job.expireAt === null || job.ended !== null)
  const held = isPlain ? tables.leased.get(job.id) : undefined
  return held !== undefined && isOfLease(change, held) ? held.seq : null
}

function isOfLease({ job, attempt }: Change, { fence, attemptId, claimedAt }: Leased): boolean {
  if (job.counters.fence !== fence) return false
  if (attempt === null) return true
  return (
    attempt.id === attemptId &&
    attempt.claimedAt === claimedAt &&
    attempt.number === job.counters.attempts
  )
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
  readonly tokens: string[] = []
  readonly states: number[] = []
  readonly whats: (number | null)[] = []
  readonly ats: (number | null)[] = []
  readonly ranks: (number | null)[] = []
  readonly attempts: number[] = []
  readonly runs: (number | null)[] = []
  readonly occurrences: (number | null)[] = []
  readonly finishes: (number | null)[] = []
  readonly outcomes: (number | null)[] = []
  readonly ends: (number | null)[] = []
  readonly bodies: string[] = []
  readonly details: string[] = []
}

function valuesOf(plain: readonly Plain[], now: Instant): Value[] {
  const lists = new Lists()
  for (const { seq, change } of plain) {
    lists.seqs.push(seq)
    lists.expected.push(change.expectedVersion)
    lists.tokens.push(toKey(change.token!))
    pushState(lists, change, now)
    pushAttempt(lists, change)
  }
  return [
    numbers(lists.seqs),
    numbers(lists.expected),
    texts(lists.tokens),
    numbers(lists.states),
    ...[lists.whats, lists.ats, lists.ranks].map(nullable),
    numbers(lists.attempts),
    ...[lists.runs, lists.occurrences, lists.finishes, lists.outcomes, lists.ends].map(nullable),
    documents(lists.bodies),
    documents(lists.details),
    ...restValues(plain.map(({ change }) => change)),
  ]
}

function pushState(lists: Lists, { job }: Change, now: Instant): void {
  const { what, at, rank } = momentOf(job, now)
  lists.states.push(states.indexOf(job.state))
  lists.whats.push(what)
  lists.ats.push(at)
  lists.ranks.push(rank)
  lists.attempts.push(job.counters.attempts)
  lists.bodies.push(bodyOf(job))
}

function pushAttempt(lists: Lists, { attempt }: Change): void {
  lists.runs.push(attempt === null ? null : attempt.run)
  lists.occurrences.push(attempt === null ? null : ledgerOccurrence(attempt))
  lists.finishes.push(attempt === null ? null : attempt.finishedAt)
  lists.outcomes.push(attempt === null ? null : outcomes.indexOf(attempt.outcome))
  lists.ends.push(attempt === null ? null : attempt.expireAt)
  lists.details.push(attempt === null ? '' : attemptBody(attempt))
}
