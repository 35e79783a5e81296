// The one-time way from the layout before this one (schema versions 1 to 4): in place and in the
// transaction of the migration, so that the file holds all of the old or all of the new.

import { NODE_KIND } from '../../../core/record.ts'
import type { Instant } from '../../../core/time.ts'
import { toKey } from '../../shared/text.ts'
import { inUseError } from '../schema-version.ts'
import type { Database } from './driver.ts'

/** Only the newest of the earlier layouts: the program that wrote it brings older ones there. */
export const upgradableVersion = 4

const earlierTables = [
  'jobs',
  'specs',
  'lines',
  'queues',
  'leases',
  'attempts',
  'marks',
  'skips',
  'tallies',
  'progress',
  'logs',
  'logged',
  'records',
  'capped',
  'rates',
  'sequence',
] as const

/** Inside a transaction; `createSchema` makes the tables that are filled. */
export function upgrade(db: Database, path: string, createSchema: () => void): void {
  refuseInUse(db, path)
  setAside(db)
  createSchema()
  for (const sql of copies) db.exec(sql)
  decodeJobs(db)
  db.exec("insert or replace into sqlite_sequence select 'jobs', next - 1 from earlier_sequence")
  for (const table of earlierTables) db.exec(`drop table earlier_${table}`)
}

function refuseInUse(db: Database, path: string): void {
  const row = db.prepare(`select max(expire_at) from records where kind = '${NODE_KIND}'`).get()
  const until = row?.[0] as Instant | null
  const now = db.prepare("select cast(unixepoch('subsec') * 1000 as integer)").get()![0] as number
  if (until !== null && until > now) throw inUseError(path, until)
}

/** Their names are those of the new tables and indexes. */
function setAside(db: Database): void {
  const indexes = db
    .prepare("select name from sqlite_schema where type = 'index' and sql is not null")
    .all()
  for (const [name] of indexes) db.exec(`drop index ${String(name)}`)
  for (const table of earlierTables) db.exec(`alter table ${table} rename to earlier_${table}`)
}

const kinds = ['job', 'task']
const states = ['waiting', 'running', 'paused', 'completed', 'failed', 'cancelled']
const waits = ['start', 'firing', 'retry']
const origins = ['schedule', 'manual', 'retry', 'backfill']
const outcomes =
  'succeeded failed timedOut cancelled abandoned interrupted skipped deferred released'.split(' ')
const endReasons =
  'completed exhausted final crash_loop missed cancelled archived invalid damaged'.split(' ')

/** The name of a code, in SQL. */
function named(column: string, names: readonly string[]): string {
  return `case ${column} ${names.map((name, i) => `when ${i} then '${name}'`).join(' ')} end`
}

const jobsOfRoutes = 'earlier_jobs j join earlier_lines l on l.id = j.line'

/** Names of jobs, what they wait for and their detail are decoded afterwards. */
const copies = [
  // A spec that was lost stays so: the job is read as damaged.
  `insert into jobs select j.seq, j.id, ${named('j.kind', kinds)}, j.series,
      coalesce(s.tenant, substr(j.lane, 1, instr(j.lane || '/', '/') - 1)), l.queue, l.handler, j.lane,
      l.handler, s.app, s.definition, s.declared, coalesce(s.spec, ''), coalesce(s.created_at, 0)
    from ${jobsOfRoutes} left join earlier_specs s on s.seq = j.seq`,
  `insert into job_states (seq, queue, handler, lane, kind, state, waiting_for, ready, rank, due_at,
      until_at, expire_at, attempts, fence, version, token, owner, attempt_id, claimed_at, detail)
    select j.seq, l.queue, l.handler, j.lane, ${named('j.kind', kinds)}, ${named('j.state', states)},
      '${waits[0]}', j.ready, j.rank, j.due_at, j.until_at, j.expire_at, j.attempts, j.fence, j.version,
      j.token, j.owner, j.attempt_id, j.claimed_at, j.body
    from ${jobsOfRoutes}`,
  `insert into attempts select id, job, number, run, attempt, fence, retries,
      ${named('origin', origins)}, retry_of, occurrence, missed, owner, claimed_at, started_at,
      finished_at, ${named('outcome', outcomes)}, coalesce(detail ->> '$.clockEpoch', 0), expire_at, 0,
      case when detail ->> '$.clockEpoch' is null then detail
        else nullif(json_remove(detail, '$.clockEpoch'), '{}') end
    from earlier_attempts`,
  `insert into skips select job, first_at, last_at, count, reason, 0, expire_at from earlier_skips`,
  'insert into progress select job, attempt, fraction, note, checkpoint, at from earlier_progress',
  `insert into log_lines select l.attempt, l.n, g.job, l.at, l.level, l.message, l.fields
    from earlier_logs l join earlier_logged g on g.attempt = l.attempt`,
  'insert into records select kind, key, value, version, expire_at from earlier_records',
  'insert into queues select queue, paused, cursor, taken from earlier_queues',
  `insert into job_counts select tenant, queue, handler, ${named('kind', kinds)},
      ${named('state', states)}, n, pruned
    from earlier_tallies t join earlier_lines l on l.id = t.line`,
  'insert into lane_running select lane, seq, token from earlier_capped',
  'insert into lane_rates select lane, whole_at from earlier_rates',
]

type EarlierJob = [seq: number, body: string, spec: string | null]

function decodeJobs(db: Database): void {
  const read = db.prepare(
    `select j.seq, j.body, s.spec from earlier_jobs j left join earlier_specs s on s.seq = j.seq
      where j.seq > ? order by j.seq limit 1000`,
  )
  const writeState = db.prepare('update job_states set waiting_for = ?, detail = ? where seq = ?')
  const writeName = db.prepare('update jobs set name = ? where seq = ?')
  for (let rows = read.all(0); rows.length > 0; rows = read.all(rows.at(-1)![0]!)) {
    for (const [seq, body, spec] of rows as EarlierJob[]) {
      const decoded = decodedBody(body)
      if (decoded !== null) writeState.run(decoded.waitingFor, decoded.detail, seq)
      const name = nameIn(spec)
      if (name !== null) writeName.run(name, seq)
    }
  }
}

/** A name that is the handler's was not written. */
function nameIn(spec: string | null): string | null {
  try {
    const { name } = JSON.parse(spec ?? '{}') as { name?: unknown }
    return typeof name === 'string' ? toKey(name) : null
  } catch {
    return null
  }
}

/** Null when it does not decode: it stays as it is, and the job is read as damaged. */
function decodedBody(text: string): { waitingFor: string; detail: string } | null {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return null
  }
  if (!Array.isArray(body) || body.length < 21) return null
  return { waitingFor: waits[body[0] as number] ?? waits[0]!, detail: detailOf(body) }
}

// prettier-ignore
type Body = [
  waitingFor: number, nextAt: number | null, retryAt: number | null, backlog: number,
  missed: number, runs: number, concluded: number, succeeded: number, failed: number,
  cancelled: number, other: number, skipped: number, durationMs: number,
  startedAt: number | null, finishedAt: number | null, outcome: number | null,
  succeededAt: number | null, endedAt: number | null, reason: number | null, updatedAt: number,
  revision: number, rest?: { readonly endedNote?: string; readonly series?: object },
]

const RELEASED = outcomes.indexOf('released')

function detailOf(body: unknown[]): string {
  // prettier-ignore
  const [
    , nextAt, retryAt, backlog, missed, runs, concluded, succeeded, failed, cancelled, other,
    skipped, durationMs, startedAt, finishedAt, outcome, succeededAt, endedAt, reason, updatedAt,
    revision, rest = {},
  ] = body as Body
  const { endedNote, ...more } = rest
  const totals = { succeeded, failed, cancelled, other, skipped, durationMs }
  const none = { succeeded: 0, failed: 0, cancelled: 0, other: 0, skipped: 0, durationMs: 0 }
  // Before series had sums, a firing was kept as a last attempt that was released.
  const isFiring = outcome === RELEASED
  const hasRun = startedAt !== null && !isFiring
  const note = endedNote === undefined ? {} : { note: endedNote }
  const fields = {
    updatedAt,
    revision,
    nextAt: nextAt ?? undefined,
    retryAt: retryAt ?? undefined,
    backlog: backlog || undefined,
    missed: missed || undefined,
    runs: runs || undefined,
    concluded: concluded || undefined,
    totals,
    ...(isFiring ? { series: { firedAt: startedAt, totals: none } } : {}),
    ended: endedAt === null ? undefined : { at: endedAt, reason: endReasons[reason!], ...note },
    last: hasRun ? { startedAt, finishedAt, outcome: outcomes[outcome!], succeededAt } : undefined,
    ...more,
  }
  return JSON.stringify(fields)
}
