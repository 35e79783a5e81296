// Entries as the rows they become, one statement for all of a type.

import type { Entry, EntryType } from '../../core/entry.ts'
import { documents, fromDocuments, nullable, numbers, texts } from './arrays.ts'
import { outcomes, states } from '../shared/codes.ts'
import type { Value } from './connection.ts'
import { functionIn } from './functions.ts'
import { attemptBody, ledgerOccurrence } from './history.ts'
import { toKey, toKeyOrNull } from '../shared/text.ts'

export interface Owned {
  /** Numbers of jobs by their ids. */
  readonly owners: ReadonlyMap<string, number>
  /** Of the pruned, in their order. */
  readonly shares: readonly number[]
}

interface Statement {
  readonly sql: string
  readonly values: Value[]
}

type Loader<T extends EntryType> = (
  s: string,
  entries: readonly Extract<Entry, { type: T }>[],
  owned: Owned,
) => Statement

const queue: Loader<'queue'> = (s, entries) => ({
  sql: `insert into ${s}.queues (queue, paused, cursor)
    select * from unnest($1::text[], $2::boolean[], $3::text[])
    on conflict (queue) do update set paused = excluded.paused, cursor = excluded.cursor`,
  values: [
    texts(entries.map(entry => toKey(entry.queue))),
    texts(entries.map(entry => String(entry.isPaused))),
    texts(entries.map(entry => toKey(entry.lane))),
  ],
})

/** Pruning walks the attempts behind a mark: those that came in before it must be seen too. */
const attempt: Loader<'attempt'> = (s, entries, { owners }) => {
  const made = entries.map(entry => entry.attempt)
  return {
    sql: `with written as (
        insert into ${s}.attempts (job, number, id, run, occurrence, claimed_at, finished_at,
          outcome, expire_at, odd, body)
        select g.job, g.number, g.id, g.run, g.occurrence, g.claimed_at, g.finished_at, g.outcome,
          g.expire_at, ${functionIn(s, 'odd_expiry')}(g.expire_at, g.finished_at, g.claimed_at), g.body
        from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[],
          $6::bigint[], $7::bigint[], $8::smallint[], $9::bigint[], ${fromDocuments('$10')})
          g (job, number, id, run, occurrence, claimed_at, finished_at, outcome, expire_at, body)
        returning id
      ) update ${s}.marks set value = '' where value >= (select min(id) from written)`,
    values: [
      numbers(made.map(({ jobId }) => owners.get(jobId)!)),
      numbers(made.map(({ number }) => number)),
      texts(made.map(({ id }) => toKey(id))),
      numbers(made.map(({ run }) => run)),
      nullable(made.map(ledgerOccurrence)),
      numbers(made.map(({ claimedAt }) => claimedAt)),
      numbers(made.map(({ finishedAt }) => finishedAt)),
      numbers(made.map(({ outcome }) => outcomes.indexOf(outcome))),
      numbers(made.map(({ expireAt }) => expireAt)),
      documents(made.map(attemptBody)),
    ],
  }
}

const skip: Loader<'skip'> = (s, entries, { owners }) => ({
  sql: `insert into ${s}.skips (job, first_at, last_at, count, reason, expire_at)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[],
      $6::bigint[])`,
  values: [
    numbers(entries.map(entry => owners.get(entry.skip.jobId)!)),
    numbers(entries.map(entry => entry.skip.from)),
    numbers(entries.map(entry => entry.skip.to)),
    numbers(entries.map(entry => entry.skip.count)),
    texts(entries.map(entry => entry.skip.reason)),
    numbers(entries.map(entry => entry.expireAt)),
  ],
})

const progress: Loader<'progress'> = (s, entries, { owners }) => ({
  sql: `insert into ${s}.progress (job, attempt, fraction, note, checkpoint, at)
    select g.job, g.attempt, g.fraction, g.note, nullif(g.checkpoint, ''), g.at from unnest(
      $1::bigint[], $2::text[], $3::float8[], $4::text[], ${fromDocuments('$5')}, $6::bigint[])
      g (job, attempt, fraction, note, checkpoint, at)`,
  values: [
    numbers(entries.map(entry => owners.get(entry.jobId)!)),
    texts(entries.map(entry => toKey(entry.progress.attemptId))),
    nullable(entries.map(entry => entry.progress.fraction)),
    texts(entries.map(entry => toKeyOrNull(entry.progress.note))),
    documents(entries.map(entry => JSON.stringify(entry.progress.checkpoint) ?? '')),
    numbers(entries.map(entry => entry.progress.at)),
  ],
})

const log: Loader<'log'> = (s, entries, { owners }) => ({
  sql: `insert into ${s}.logs (job, attempt, n, at, level, message, fields)
    select g.job, g.attempt, g.n, g.at, g.level, g.message, nullif(g.fields, '') from unnest(
      $1::bigint[], $2::text[], $3::int[], $4::bigint[], $5::text[], $6::text[],
      ${fromDocuments('$7')}) g (job, attempt, n, at, level, message, fields)`,
  values: [
    numbers(entries.map(entry => owners.get(entry.jobId)!)),
    texts(entries.map(entry => toKey(entry.attemptId))),
    numbers(entries.map(entry => entry.n)),
    numbers(entries.map(entry => entry.line.at)),
    texts(entries.map(entry => entry.line.level)),
    texts(entries.map(entry => toKey(entry.line.message))),
    documents(
      entries.map(({ line: { fields } }) => (fields === null ? '' : JSON.stringify(fields))),
    ),
  ],
})

const pruned: Loader<'pruned'> = (s, entries, { shares }) => ({
  sql: `insert into ${s}.tallies as t (share, state, n, pruned)
    select g.share, g.state, 0, g.pruned
      from unnest($1::int[], $2::smallint[], $3::bigint[]) g (share, state, pruned)
    on conflict (share, state) do update set pruned = t.pruned + excluded.pruned`,
  values: [
    numbers(shares),
    numbers(entries.map(entry => states.indexOf(entry.state))),
    numbers(entries.map(entry => entry.count)),
  ],
})

const record: Loader<'record'> = (s, entries) => ({
  sql: `insert into ${s}.records (kind, key, value, version, expire_at)
    select * from unnest($1::text[], $2::text[], ${fromDocuments('$3')}, $4::bigint[],
      $5::bigint[])`,
  values: [
    texts(entries.map(entry => toKey(entry.record.kind))),
    texts(entries.map(entry => toKey(entry.record.key))),
    documents(entries.map(entry => JSON.stringify(entry.record.value ?? null))),
    numbers(entries.map(entry => entry.record.version)),
    nullable(entries.map(entry => entry.record.expireAt)),
  ],
})

const typed = { queue, attempt, skip, progress, log, pruned, record }

/** Jobs are inserted as always. */
export const loaders = typed as unknown as Readonly<
  Record<
    Exclude<EntryType, 'job'>,
    (s: string, entries: readonly Entry[], owned: Owned) => Statement
  >
>
