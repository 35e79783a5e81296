// Changes. The usual end of attempts goes as prepared commands behind one check of all leases; what
// is not that simple, or did not go through, is decided change by change in the script.

import type { Change } from '../../core/change.ts'
import type { CommitResult, InsertOptions } from '../store.ts'
import { changeArgs } from './change.ts'
import { recordArgs } from './records.ts'
import { COMMITTED, CONFLICT, FULL, MISSING } from './scripts/commit.ts'
import { addSettle, forget, plainOf, type Plain } from './settle.ts'
import type { Shelf } from './shelf.ts'

const meanings: Readonly<Record<number, CommitResult>> = {
  [COMMITTED]: 'committed',
  [CONFLICT]: 'conflict',
  [MISSING]: 'missing',
  [FULL]: 'full',
}

/** Changes in one script. They are independent of each other, so more go in several. */
const CHANGES_MAX = 1_000

export async function commit(
  shelf: Shelf,
  changes: readonly Change[],
  options: InsertOptions,
): Promise<CommitResult[]> {
  const results: CommitResult[] = []
  for (let from = 0; from < changes.length; from += CHANGES_MAX) {
    const some = changes.slice(from, from + CHANGES_MAX)
    results.push(...(await commitSome(shelf, some, options)))
  }
  return results
}

interface Split {
  readonly plain: readonly Plain[]
  /** The places of all others in the list of changes. */
  readonly others: readonly number[]
}

async function commitSome(
  shelf: Shelf,
  changes: readonly Change[],
  options: InsertOptions,
): Promise<CommitResult[]> {
  const results: CommitResult[] = []
  const split = splitPlain(shelf, changes)
  const answer = await send(shelf, changes, split, options)
  const isSettled = answer[0] === 1
  for (const { index, seq, change } of split.plain) {
    if (isSettled) forget(shelf, change.job, seq)
    results[index] = 'committed'
  }
  for (const [i, index] of split.others.entries()) {
    results[index] = meanings[answer[i + 1]!]!
    // Its spec may be another one now.
    shelf.known.delete(changes[index]!.job.id)
  }
  if (isSettled) return results
  // Some lease was not what was expected: the script finds out which, and why.
  const left = split.plain.map(({ index }) => index)
  const again = await send(shelf, changes, { plain: [], others: left }, options)
  for (const [i, index] of left.entries()) results[index] = meanings[again[i + 1]!]!
  return results
}

/** Where a job is changed twice the order counts, so all are decided one after another. */
function splitPlain(shelf: Shelf, changes: readonly Change[]): Split {
  const plain: Plain[] = []
  const others: number[] = []
  const seen = new Set<string>()
  for (const [index, change] of changes.entries()) {
    const one = plainOf(shelf, change, index)
    if (one === null) others.push(index)
    else plain.push(one)
    seen.add(change.job.id)
  }
  return seen.size === changes.length
    ? { plain, others }
    : { plain: [], others: [...changes.keys()] }
}

async function send(
  shelf: Shelf,
  changes: readonly Change[],
  { plain, others }: Split,
  { now, waitingMax }: InsertOptions,
): Promise<number[]> {
  const args = [shelf.sender, String(now), String(waitingMax ?? '')]
  addSettle(args, plain, now)
  args.push(String(others.length))
  for (const index of others) args.push(...changeArgs(changes[index]!, now))
  args.push(...recordArgs(plain.flatMap(({ change }) => change.records)))
  return (await shelf.run('commit', args)) as number[]
}
