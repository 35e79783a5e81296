// Due and waiting → running: what has become due is made ready, then ready jobs are taken in turns.
// Core decides who; the indexes of ready jobs find them.

import { takeTurns } from '../../../core/fairness/fair.ts'
import type { Job } from '../../../core/job.ts'
import type { ClaimRequest, InsertAnswer, InsertOptions } from '../../port.ts'
import { leasedJob } from '../../shared/job.ts'
import { toKey } from '../../shared/text.ts'
import { countKeyOf } from '../counts.ts'
import type { Sql } from '../dialect.ts'
import { insert } from '../insert.ts'
import { jobColumns, jobOrNull, type JobRow } from '../job-row.ts'
import { takeInTurns } from './claim-turns.ts'
import type { Ready } from './lane-use.ts'
import { anyReady, isAnyDue, promote, wantedOf, type Wanted } from './ready.ts'
import type { Session } from './session.ts'
import { queueRow } from './turns.ts'

export function claim(session: Session, request: ClaimRequest): Job[] {
  const wanted = wantedOf(request)
  if (request.limit <= 0 || wanted.handlers.length === 0) return []
  if (!session.connection.glance(() => isAnyDue(session, wanted))) return []
  return session.writeWith(sql => claimIn(session, sql, request, wanted))
}

export function insertAndClaim(
  session: Session,
  jobs: readonly Job[],
  options: InsertOptions,
  request: ClaimRequest,
): InsertAnswer {
  const wanted = wantedOf(request)
  return session.writeWith(sql => {
    const results = session.run(insert(sql, jobs, options))
    const isIdle = request.limit <= 0 || wanted.handlers.length === 0
    return { results, claimed: isIdle ? [] : claimIn(session, sql, request, wanted) }
  })
}

// oxlint-disable-next-line max-params -- where twice, what
function claimIn(session: Session, sql: Sql, request: ClaimRequest, wanted: Wanted): Job[] {
  const { limit } = request
  const { isPaused, turn } = queueRow(session, request.queue)
  if (isPaused) return []
  promote(session, wanted, limit)
  const isPlain = !request.hasLimits && !request.laneScope && !request.shares
  const ready = isPlain ? anyReady(session, wanted, limit + 1) : []
  const isAll = isPlain && ready.length <= limit
  // Nobody has to wait for a turn: the turns stay where they are.
  const taken = isAll
    ? takeTurns(ready, turn.lane, limit).taken
    : takeInTurns(session, request, { wanted, turn })
  return lease(session, sql, taken, request)
}

const readSql = `select ${jobColumns} from json_each(?) e
  cross join job_states s on s.seq = e.value cross join jobs j on j.seq = s.seq`
const leaseSql = `update job_states set state = 'running', ready = null, rank = null, due_at = null,
    attempts = attempts + 1, fence = fence + 1, version = version + 1,
    token = ?, owner = ?, claimed_at = ?, until_at = ?, attempt_id = ?
  where seq = ?`

// oxlint-disable-next-line max-params -- where twice, what, for whom
function lease(session: Session, sql: Sql, taken: readonly Ready[], request: ClaimRequest): Job[] {
  if (taken.length === 0) return []
  const rows = session.statement(readSql).all(JSON.stringify(taken.map(({ seq }) => seq)))
  const { token, owner, now, leaseMs } = request
  const held = [toKey(token), toKey(owner), now, now + leaseMs] as const
  const update = session.statement(leaseSql)
  const jobs: Job[] = []
  for (const row of rows as JobRow[]) {
    const job = jobOrNull(sql, row)
    if (job === null) continue
    const attemptId = request.attemptIds[jobs.length]!
    update.all(...held, toKey(attemptId), row[0])
    session.claimed.set(job.id, row[0])
    jobs.push(leasedJob(job, { token, owner, attemptId, claimedAt: now, until: now + leaseMs }))
    sql.counts.add(countKeyOf(job), -1)
    sql.counts.add(countKeyOf(job, 'running'), 1)
  }
  return jobs
}
