// Changes of jobs, the ends of their runs above all: written by one script, each if it still applies.

import type { Change } from '../../core/change.ts'
import type { CommitResult, WriteOptions } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { encodeAttempt, encodeSkip } from './attempt.ts'
import { recordArgs } from './records.ts'
import { encodeDefinition, encodeLease, encodeRow, jobArgs } from './row.ts'
import type { RedisSession } from './session.ts'
import { flag } from './script-args.ts'

const results: readonly CommitResult[] = ['committed', 'conflict', 'missing', 'full']

/** Changes in one script. They are independent of each other, so more go in several. */
const CHANGES_MAX = 1_000

export async function commit(
  session: RedisSession,
  changes: readonly Change[],
  { now, waitingMax }: WriteOptions,
): Promise<CommitResult[]> {
  const all: CommitResult[] = []
  for (let from = 0; from < changes.length; from += CHANGES_MAX) {
    const some = changes.slice(from, from + CHANGES_MAX)
    const args = [session.sender, String(now), String(waitingMax ?? ''), ...changesArgs(some)]
    const answer = (await session.run('commit', args)) as number[]
    for (const code of answer) all.push(results[code]!)
  }
  return all
}

/** What `takeChanges` takes. */
export function changesArgs(changes: readonly Change[]): string[] {
  const args = [String(changes.length)]
  for (const change of changes) args.push(...changeArgs(change))
  return args
}

function changeArgs(change: Change): string[] {
  const { job, token, attempt } = change
  return [
    toKey(job.id),
    String(change.expectedVersion),
    token === null ? '-' : `=${toKey(token)}`,
    encodeRow(job),
    attempt === null ? '' : encodeAttempt(attempt),
    ...restArgs(change),
  ]
}

/** What few changes have, behind a flag. */
function restArgs(change: Change): string[] {
  const { job, drop, skips, inserts, records, specChanged, clearsCheckpoint } = change
  const hasLists = skips.length + inserts.length + records.length > 0
  const hasRest = hasLists || drop !== null || specChanged || clearsCheckpoint
  if (!hasRest && job.lease === null) return [flag(false)]
  return [
    flag(true),
    specChanged ? encodeDefinition(job) : '',
    encodeLease(job),
    flag(clearsCheckpoint),
    drop === null ? '' : String(drop.number),
    drop === null ? '' : String(drop.finishedBefore),
    String(skips.length),
    ...skips.flatMap(skip => [
      String(skip.from),
      String(skip.to + job.spec.retention.ageMs),
      encodeSkip(skip),
    ]),
    String(inserts.length),
    ...inserts.flatMap(jobArgs),
    ...recordArgs(records),
  ]
}
