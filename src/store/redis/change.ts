// A change as the scripts take it.

import type { Change } from '../../core/change.ts'
import type { Instant } from '../../core/time.ts'
import { attemptText, oddExpiry } from './attempt.ts'
import { coldText } from './cold.ts'
import { jobArgs } from './insert.ts'
import { recordArgs } from './records.ts'
import { leaseText, rowParts } from './row.ts'
import { toKey } from '../shared/text.ts'

/** What `takeChange` takes. */
export function changeArgs(change: Change, now: Instant): string[] {
  const { job, token, attempt, drop, skips, inserts } = change
  const [front, back] = rowParts(job, now)
  return [
    toKey(job.id),
    String(change.expectedVersion),
    token === null ? '-' : `=${toKey(token)}`,
    front,
    back,
    String(job.version),
    leaseText(job),
    change.specChanged ? coldText(job) : '',
    change.clearsCheckpoint ? '1' : '0',
    drop === null ? '' : String(drop.number),
    drop === null ? '' : String(drop.finishedBefore),
    ...(attempt === null
      ? ['0']
      : ['1', String(attempt.number), toKey(attempt.id), oddExpiry(attempt), attemptText(attempt)]),
    String(skips.length),
    ...skips.flatMap(({ from, to, count, reason }) => [
      String(from),
      String(to + job.spec.retention.ageMs),
      `${from}\0${to}\0${count}\0${reason}`,
    ]),
    String(inserts.length),
    ...inserts.flatMap(made => jobArgs(made, coldText(made), now)),
    ...recordArgs(change.records),
  ]
}
