// Faults, and the statements that plant them behind a store's back.

import { DAY } from '../../src/core/time.ts'
import { T0 } from '../support/builders.ts'

export interface Planted {
  readonly name: string
  readonly code: string
  /** `s` is what stands before the name of a table. */
  readonly sql: (s: string) => readonly string[]
  /** The one job whose entries may differ afterwards; null when all must be as before. */
  readonly job: string | null
}

const seq = (s: string, id: string) => `(select seq from ${s}jobs where id = '${id}')`

const state = (s: string, id: string) => `seq = ${seq(s, id)}`

/** In the tables of the relational store. */
export const relational: readonly Planted[] = [
  {
    name: 'an active job without a next moment',
    code: 'no-moment',
    sql: s => [
      `update ${s}job_states set due_at = null, rank = null, ready = null where ${state(s, 'daily')}`,
    ],
    job: 'daily',
  },
  {
    name: 'a job that waits for another moment than its schedule names',
    code: 'other-moment',
    sql: s => [`update ${s}job_states set due_at = due_at + 7 where ${state(s, 'daily')}`],
    job: 'daily',
  },
  {
    name: 'a running job that nobody holds',
    code: 'no-lease',
    sql: s => [
      `update ${s}job_states set token = null, owner = null, attempt_id = null
        where ${state(s, 'running')}`,
    ],
    job: 'running',
  },
  {
    name: 'a lease that ended and nobody reaps',
    code: 'ended-lease',
    sql: s => [`update ${s}job_states set until_at = ${T0 - DAY} where ${state(s, 'running')}`],
    job: 'running',
  },
  {
    name: 'a lease without an end',
    code: 'ended-lease',
    sql: s => [`update ${s}job_states set until_at = null where ${state(s, 'running')}`],
    job: 'running',
  },
  {
    name: 'a schedule that cannot be read',
    code: 'invalid-schedule',
    sql: s => [
      `update ${s}jobs set spec = replace(spec, '30 2 * * *', '99 2 * * *') where id = 'daily'`,
    ],
    job: 'daily',
  },
  {
    name: 'sums that differ from the attempts',
    code: 'wrong-sums',
    sql: s => [
      `update ${s}job_states set attempts = attempts + 2, fence = fence + 2
        where ${state(s, 'minutely')}`,
    ],
    job: 'minutely',
  },
  {
    name: 'counters that differ from the jobs',
    code: 'count',
    sql: s => [
      `insert into ${s}job_counts select tenant, queue, handler, kind, 'failed', 3, 0
        from ${s}current_counts where state = 'waiting' limit 1
        on conflict (tenant, queue, handler, kind, state) do update set count = excluded.count + 3`,
    ],
    job: null,
  },
  {
    name: 'a moment that claims cannot find',
    code: 'moment',
    sql: s => [`update ${s}job_states set ready = null, rank = null where ${state(s, 'daily')}`],
    job: null,
  },
  {
    name: 'a paused job that claims would find',
    code: 'moment',
    sql: s => [`update ${s}job_states set ready = 1, rank = 0 where ${state(s, 'paused')}`],
    job: null,
  },
  {
    name: 'a pause that ended and nobody resumed',
    code: 'ended-pause',
    sql: s => [
      `update ${s}job_states set detail = replace(detail, '${T0 + DAY}', '${T0 - DAY}'),
        until_at = ${T0 - DAY} where ${state(s, 'paused')}`,
    ],
    job: 'paused',
  },
  {
    name: 'an attempt of a job that is gone',
    code: 'orphan',
    sql: s => [
      `insert into ${s}attempts select 'zzz', 999, number, run, attempt, fence, retries, origin,
        retry_of, occurrence, missed, owner, claimed_at, started_at, finished_at, outcome, clock_epoch,
        expire_at, is_aged, detail from ${s}attempts limit 1`,
    ],
    job: null,
  },
  {
    name: 'skips of a job that is gone',
    code: 'orphan',
    sql: s => [`insert into ${s}skips values (999, 1, 1, 1, 'missed', 0, ${T0 + DAY})`],
    job: null,
  },
  {
    name: 'a report of progress of a job that is gone',
    code: 'orphan',
    sql: s => [`insert into ${s}progress values (999, 'x', 0.5, null, null, 1)`],
    job: null,
  },
  {
    name: 'log lines of a job that is gone',
    code: 'orphan',
    sql: s => [`insert into ${s}log_lines values ('zzz', 0, 999, 1, 'info', 'x', null)`],
    job: null,
  },
  {
    name: 'a state of a job that is gone',
    code: 'orphan',
    sql: s => [
      `insert into ${s}job_states (seq, queue, handler, lane, kind, state, waiting_for, attempts, fence,
        version, detail) values (999, 'q', 'h', 'l', 'job', 'paused', 'start', 0, 0, 1, '{}')`,
    ],
    job: null,
  },
  {
    name: 'the record of a node that died',
    code: 'dead-node',
    sql: s => [`insert into ${s}records values ('node', 'gone', '{}', 1, ${T0 - DAY})`],
    job: null,
  },
]

export const onlyPostgres: readonly Planted[] = [
  {
    name: 'a number that the next job would get',
    code: 'number',
    sql: s => [`select setval('${s}jobs_seq_seq', 1)`],
    job: null,
  },
  {
    name: 'changes of counts that nobody made',
    code: 'count',
    sql: s => [
      `insert into ${s}count_changes values ('default', 'default', 'work', 'job', 'failed', 3, 0)`,
    ],
    job: null,
  },
]

/** Words of one command; the line of every job is `default` and `work`. */
export const onRedis: readonly Planted[] = [
  {
    name: 'a moment that claims cannot find',
    code: 'moment',
    sql: s => [`DEL|${s}timed:default\0work`],
    job: null,
  },
  {
    name: 'a running job that claims would find',
    code: 'moment',
    sql: s => [`ZADD|${s}ready:jobs:default\0work\0default|1|<running>`],
    job: null,
  },
  {
    name: 'a running job that no record of leases has',
    code: 'lease',
    sql: s => [`DEL|${s}claims:by-end`, `DEL|${s}claims:jobs`, `DEL|${s}claims:open`],
    job: null,
  },
  {
    name: 'counters that differ from the jobs',
    code: 'count',
    sql: s => [
      `HINCRBY|${s}counts|${['default', 'work', '0', '0'].join('\0')}|3`,
      `DEL|${s}counts:by-tenant:default`,
    ],
    job: null,
  },
  {
    name: 'a job that is gone and still listed',
    code: 'orphan',
    sql: s => [`ZADD|${s}jobs:all|999|999`],
    job: null,
  },
  {
    name: 'the record of a node that died',
    code: 'dead-node',
    sql: () => [],
    job: null,
  },
]
