// The common end of an attempt claimed here: one call for all of them, fenced row by row.

import type { Attempt } from '../../core/attempt.ts'
import type { Change } from '../../core/change.ts'
import type { Instant } from '../../core/time.ts'
import { alike, documents, fromNumbers, numbers, texts } from './arrays.ts'
import { bodyOf } from '../shared/body.ts'
import { outcomes } from '../shared/codes.ts'
import { stateCode } from '../shared/job.ts'
import { isPlainEnd } from '../shared/plain.ts'
import type { Row } from './columns.ts'
import type { Value } from './connection.ts'
import { isTaken } from './errors.ts'
import { attemptBody, ledgerOccurrence } from './history.ts'
import { momentOf } from './record.ts'
import { putsJson, withPuts } from './records.ts'
import { restValues } from './rest.ts'
import { parameters } from './rows.ts'
import type { Leased, Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export interface Plain {
  readonly index: number
  readonly seq: number
  readonly change: Change
}

/** A plain end that is as the row itself would have it: then little needs to be sent. */
export function plainSeq(tables: Tables, change: Change): number | null {
  const { job } = change
  const isPlain = isPlainEnd(change) && (job.expireAt === null || job.ended !== null)
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

/** Those that were written. Why one was not may have many reasons. */
export async function settle(
  tables: Tables,
  given: readonly Plain[],
  now: Instant,
): Promise<ReadonlySet<Plain>> {
  const plain = given.toSorted((a, b) => a.seq - b.seq)
  const values = valuesOf(plain, now)
  const call = `${tables.connection.functionName('settle')}(${parameters(values.length + 1)})`
  const puts = putsJson(plain.map(({ change }) => change))
  const more = puts === null ? [] : [puts, now]
  const at = values.length + 2
  const isWritten = 'c.answer is null or c.answer[g.n] is not null'
  const sql =
    puts === null
      ? `select ${call}`
      : withPuts(tables, call, { puts: `$${at}`, now: `$${at + 1}`, isWritten, select: 'c.answer' })
  // Nothing is told when all were, as nearly always: a row for each would cost more than it says.
  const [[told]] = (await tables.settling.next(() => settled(tables, sql, values, more))) as [Row]
  if (told == null) return new Set(plain)
  const seqs = fromNumbers(told)
  return new Set(plain.filter((_, i) => seqs[i] !== null))
}

/** A number that was used already must not keep a batch from ever being written. */
async function settled(
  tables: Tables,
  sql: string,
  values: readonly Value[],
  more: readonly Value[],
) {
  try {
    return await tables.connection.call(sql, [...values, false, ...more])
  } catch (error) {
    if (!isTaken(error)) throw error
    return tables.connection.call(sql, [...values, true, ...more])
  }
}

/** The tokens, then one list per column of `alikeFields`. */
function valuesOf(plain: readonly Plain[], now: Instant): Value[] {
  const changes = plain.map(({ change }) => change)
  const moments = changes.map(({ job }) => momentOf(job, now))
  const attempts = changes.map(({ attempt }) => attempt)
  const ofEach = (value: (attempt: Attempt) => number | null) =>
    alike(attempts.map(attempt => (attempt === null ? null : value(attempt))))
  const { tokens, at } = tokensOf(changes)
  return [
    texts(tokens),
    numbers(plain.map(({ seq }) => seq)),
    alike(changes.map(({ expectedVersion }) => expectedVersion)),
    alike(at),
    alike(changes.map(({ job }) => stateCode(job))),
    alike(moments.map(({ what }) => what)),
    alike(moments.map(moment => moment.at)),
    alike(moments.map(({ rank }) => rank)),
    alike(changes.map(({ job }) => job.counters.attempts)),
    ofEach(({ run }) => run),
    ofEach(ledgerOccurrence),
    ofEach(({ finishedAt }) => finishedAt),
    ofEach(({ outcome }) => outcomes.indexOf(outcome)),
    ofEach(({ expireAt }) => expireAt),
    documents(changes.map(({ job }) => bodyOf(job))),
    documents(attempts.map(attempt => (attempt === null ? null : attemptBody(attempt)))),
    ...restValues(changes),
  ]
}

/** Each token once, and for each change which of them it is, counted from one. */
function tokensOf(changes: readonly Change[]): { tokens: string[]; at: number[] } {
  const places = new Map<string, number>()
  const at = changes.map(({ token }) => {
    let place = places.get(token!)
    if (place === undefined) {
      place = places.size + 1
      places.set(token!, place)
    }
    return place
  })
  return { tokens: [...places.keys()].map(toKey), at }
}
