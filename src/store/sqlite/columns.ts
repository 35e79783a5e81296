// The columns of `jobs` and their order in statements.
// A row holds what is searched, counted or fenced by; everything else is in its `body`.

import { RUNNING } from '../shared/codes.ts'

/** Given once. */
const birthColumns = ['seq', 'id', 'kind', 'series']
/** Follow from the spec. */
const placeColumns = ['line', 'lane', 'spec_at']
/** Written with every change. */
const stateColumns = [
  'state',
  'ready',
  'rank',
  'due_at',
  'until_at',
  'expire_at',
  'attempts',
  'fence',
  'version',
  'body',
]
const leaseColumns = ['token', 'owner', 'attempt_id', 'claimed_at']

const columns = [...birthColumns, ...placeColumns, ...stateColumns, ...leaseColumns]
const sets = (names: readonly string[]) => names.map(name => `${name} = ?`).join(', ')

export const jobWidth = columns.length
export const insertJobsSql = (rows: string) =>
  `insert into jobs (${columns.join(', ')}) values ${rows} on conflict (id) do nothing`

/** Of each: the row and what it must still be, then what differs between jobs that end alike. */
export const settleWidth = 7
/**
 * For jobs that rest alike and whose specs stayed; fenced, so it may be tried without looking.
 * Takes what all of them come to, the rows, and the token that holds them: to hand over a value
 * costs as much as to write it.
 */
export const settleJobsSql = (rows: string) => `update jobs
  set state = ?, ready = ?, until_at = ?, expire_at = ?, version = version + 1,
    rank = v.column3, due_at = v.column4, attempts = v.column5, fence = v.column6, body = v.column7,
    token = null, owner = null, attempt_id = null, claimed_at = null
  from (values ${rows}) v
  where jobs.seq = v.column1 and jobs.version = v.column2 and jobs.token = ?`
/** The same for jobs that differ in nothing but their bodies, such as tasks that ran once. */
export const settleSameWidth = 2
export const settleSameSql = (rows: string) => `update jobs
  set state = ?, ready = ?, until_at = ?, expire_at = ?, rank = ?, due_at = ?, attempts = ?,
    fence = ?, version = version + 1, body = v.column2,
    token = null, owner = null, attempt_id = null, claimed_at = null
  from (values ${rows}) v
  where jobs.seq = v.column1 and jobs.version = ? and jobs.token = ?`
/** The same for jobs behind each other that differ in nothing. */
export const settleSpanSql = `update jobs
  set state = ?, ready = ?, until_at = ?, expire_at = ?, rank = ?, due_at = ?, attempts = ?,
    fence = ?, version = version + 1, body = ?,
    token = null, owner = null, attempt_id = null, claimed_at = null
  where seq between ? and ? and version = ? and token = ?`
export const updateJobSql = `update jobs
  set ${sets([...stateColumns, ...leaseColumns, ...placeColumns])} where seq = ?`
/** Takes pairs, the job and its attempt, and then what all of them share. */
export const leaseJobsSql = (rows: string) => `update jobs set state = ${RUNNING}, ready = null,
  rank = null, due_at = null, attempts = attempts + 1, fence = fence + 1, version = version + 1,
  attempt_id = v.column2, token = ?, owner = ?, claimed_at = ?, until_at = ?
  from (values ${rows}) v where jobs.seq = v.column1`

/** What a claim reads of a waiting job; with the rest of the row, which it knows, it is a JobRow. */
export const dueColumns = `jobs.seq, jobs.spec_at, jobs.rank, jobs.expire_at, jobs.attempts,
  jobs.fence, jobs.version, jobs.body`
export type DueRow = [
  seq: number,
  specAt: number,
  rank: number,
  expireAt: number | null,
  attempts: number,
  fence: number,
  version: number,
  body: string,
]

/** What every other query reads of a job. */
export const jobColumns = `jobs.seq, jobs.spec_at, jobs.state, jobs.due_at, jobs.until_at,
  jobs.expire_at, jobs.attempts, jobs.fence, jobs.version, jobs.body, jobs.token,
  jobs.owner, jobs.attempt_id, jobs.claimed_at`
export type JobRow = [
  seq: number,
  specAt: number,
  state: number,
  dueAt: number | null,
  untilAt: number | null,
  expireAt: number | null,
  attempts: number,
  fence: number,
  version: number,
  body: string,
  token: string | null,
  owner: string | null,
  attemptId: string | null,
  claimedAt: number | null,
]
