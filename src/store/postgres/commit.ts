// Changes: each is written as a whole or not at all, many in one call. Few kinds of change need a
// call of their own: those with records, and those whose inserts have a bound to keep.

import type { Change } from '../../core/change.ts'
import type { Job } from '../../core/job.ts'
import { specText } from '../../core/spec-text.ts'
import type { Instant } from '../../core/time.ts'
import type { CommitResult, WriteOptions } from '../port.ts'
import { numbers, texts } from './arrays.ts'
import { bodyOf } from '../shared/body.ts'
import { outcomes } from '../shared/codes.ts'
import { attemptBody, ledgerOccurrence } from './history.ts'
import type { Place } from './places.ts'
import { heldUntil, stateCode } from '../shared/job.ts'
import { hasOnlyPuts } from '../shared/plain.ts'
import { momentOf } from './record.ts'
import { putsJson, recordsJson, withPuts } from './records.ts'
import { restValues } from './rest.ts'
import { insertValues, newRows, parameters, queuesOf, soughtText } from './rows.ts'
import { plainSeq, settle, type Plain } from './settle.ts'
import type { Tables } from './tables.ts'
import { toKey, toKeyOrNull } from '../shared/text.ts'

interface Listed {
  readonly index: number
  readonly change: Change
  /** The number of its job where the change is a plain end of an attempt. */
  readonly seq: number | null
}

const isPlain = (listed: Listed): listed is Plain => listed.seq !== null

export async function commit(
  tables: Tables,
  changes: readonly Change[],
  options: WriteOptions,
): Promise<CommitResult[]> {
  const results: CommitResult[] = []
  let left = changes.map((change, index): Listed => {
    return { index, change, seq: plainSeq(tables, change) }
  })
  while (left.length > 0) {
    const { wave, later } = firstOfEach(left)
    await commitWave(tables, wave, options, results)
    left = later
  }
  return results
}

/** Two changes of one job come one after the other, as they were given. */
function firstOfEach(given: Listed[]): { wave: Listed[]; later: Listed[] } {
  // Of those that end a lease at most one can be written, whichever comes first.
  if (given.every(isPlain)) return { wave: given, later: [] }
  const seen = new Set<string>()
  const wave: Listed[] = []
  const later: Listed[] = []
  for (const listed of given) {
    const { id } = listed.change.job
    if (seen.has(id)) later.push(listed)
    else {
      seen.add(id)
      wave.push(listed)
    }
  }
  return { wave, later }
}

async function commitWave(
  tables: Tables,
  wave: readonly Listed[],
  options: WriteOptions,
  results: CommitResult[],
): Promise<void> {
  const plain: Plain[] = []
  const others: Listed[] = []
  const alone: Listed[] = []
  const isBounded = (options.waitingMax ?? null) !== null
  for (const listed of wave) {
    const { change } = listed
    if (isPlain(listed)) plain.push(listed)
    else if (!hasOnlyPuts(change) || (isBounded && change.inserts.length > 0)) alone.push(listed)
    else others.push(listed)
  }
  if (plain.length > 0) {
    const written = await settle(tables, plain, options.now)
    for (const settled of plain) {
      if (written.has(settled)) keep(tables, settled, results)
      // Why it was not is told apart where every kind of change is.
      else others.push(settled)
    }
  }
  for (const batch of [...(others.length > 0 ? [others] : []), ...alone.map(one => [one])]) {
    const codes = await commitBatch(tables, batch, options)
    for (const [i, listed] of batch.entries()) {
      results[listed.index] = codes[i]!
      if (codes[i] === 'committed' && listed.change.job.lease === null) {
        tables.leased.delete(listed.change.job.id)
      }
    }
  }
}

function keep(tables: Tables, { index, seq, change }: Plain, results: CommitResult[]): void {
  results[index] = 'committed'
  tables.leased.delete(change.job.id)
  // Most of what ends is never looked at again.
  if (change.job.ended !== null) tables.specs.drop(seq)
}

const codes: readonly CommitResult[] = ['committed', 'conflict', 'missing', 'full']

async function commitBatch(
  tables: Tables,
  batch: readonly Listed[],
  { now, waitingMax }: WriteOptions,
): Promise<CommitResult[]> {
  const changes = batch.map(({ change }) => change)
  const inserts = insertsOf(changes)
  const respecified = changes.filter(change => change.specChanged).map(change => change.job)
  const places = await tables.places.of([...respecified, ...inserts.jobs])
  const placed = new Map(respecified.map((job, i) => [job.id, places[i]!]))
  const rows = newRows(inserts.jobs, places.slice(respecified.length))
  const { queues, at } = queuesOf(inserts.jobs)
  const values = [
    JSON.stringify(changes.map((change, i) => changeJson(change, i + 1, placed, now))),
    ...restValues(changes),
    ...insertValues(rows, now),
    numbers(inserts.at),
    numbers(at),
    texts(queues),
    inserts.jobs.length === 0 ? null : (waitingMax ?? null),
    // One that looks at records is alone in its call.
    recordsJson(changes.flatMap(change => (hasOnlyPuts(change) ? [] : change.records))),
    now,
  ]
  const call = `${tables.connection.functionName('commit')}(${parameters(values.length)})`
  const puts = putsJson(changes)
  const parts = {
    puts: `$${values.length + 1}`,
    now: `$${values.length}`,
    isWritten: 'c.answer[g.n] = 0',
    select: 'unnest(c.answer)',
  }
  const sql = puts === null ? `select unnest(${call})` : withPuts(tables, call, parts)
  const sent = puts === null ? values : [...values, puts]
  const answers = await tables.connection.call(sql, sent, { isTakenWaited: true })
  return answers.map(([code]) => codes[Number(code)]!)
}

/** The first of each id, and the change it belongs to, counted from one. */
function insertsOf(changes: readonly Change[]): { jobs: Job[]; at: number[] } {
  const found = new Map<string, { job: Job; at: number }>()
  for (const [i, { inserts }] of changes.entries()) {
    for (const job of inserts) if (!found.has(job.id)) found.set(job.id, { job, at: i + 1 })
  }
  const listed = [...found.values()]
  return { jobs: listed.map(({ job }) => job), at: listed.map(({ at }) => at) }
}

function changeJson(
  change: Change,
  n: number,
  placed: ReadonlyMap<string, Place>,
  now: Instant,
): Record<string, unknown> {
  const { job, attempt } = change
  const { what, at, rank } = momentOf(job, now)
  return {
    n,
    id: toKey(job.id),
    expected: change.expectedVersion,
    holder: toKeyOrNull(change.token),
    ...(change.specChanged ? specJson(job, placed.get(job.id)!) : {}),
    state: stateCode(job),
    what,
    at,
    rank,
    until_at: heldUntil(job),
    expire_at: job.expireAt,
    attempts: job.counters.attempts,
    fence: job.counters.fence,
    version: job.version,
    body: bodyOf(job),
    ...(job.lease === null ? {} : leaseJson(job.lease)),
    ...(attempt === null ? {} : attemptJson(attempt)),
  }
}

function specJson(job: Job, { line, share }: Place): Record<string, unknown> {
  const { spec, declared } = job
  return {
    share,
    line,
    lane: toKey(spec.lane),
    spec_at: job.version,
    spec: specText(spec),
    declared: declared === null ? null : JSON.stringify(declared),
    app: declared === null ? null : toKey(declared.app),
    definition: declared === null ? null : toKey(declared.definition),
    kept: spec.retention.attempts,
    sought_name: soughtText(spec.name),
  }
}

function leaseJson(lease: NonNullable<Job['lease']>): Record<string, unknown> {
  return {
    token: toKey(lease.token),
    owner: toKey(lease.owner),
    attempt_id: toKey(lease.attemptId),
    claimed_at: lease.claimedAt,
  }
}

function attemptJson(attempt: NonNullable<Change['attempt']>): Record<string, unknown> {
  return {
    attempt: toKey(attempt.id),
    number: attempt.number,
    run: attempt.run,
    occurrence: ledgerOccurrence(attempt),
    begun_at: attempt.claimedAt,
    finished_at: attempt.finishedAt,
    outcome: outcomes.indexOf(attempt.outcome),
    ends: attempt.expireAt,
    detail: attemptBody(attempt),
  }
}
