// Due and waiting → running, in one statement: a function chooses and locks jobs by the rules of
// core/fairness, another puts them under a lease.

import type { Job } from '../../../core/job.ts'
import type { ClaimRequest } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import { jobOrNull, type JobRow } from '../job-row.ts'
import type { Row, Value } from '../operation.ts'
import { texts } from './arrays.ts'
import type { Session } from './session.ts'

/** Delayed jobs made ready in one claim; what is due later than these has to wait its turn. */
const PROMOTED_MAX = 2_000
const PROMOTED_FACTOR = 4

export async function claim(session: Session, request: ClaimRequest): Promise<Job[]> {
  if (!canGive(request)) return []
  const { from, params } = claimFrom(session, request, '?::int')
  return claimedJobs(session, await session.statement(`select l.* from ${from}`, params), request)
}

export function canGive({ limit, handlers }: ClaimRequest): boolean {
  return limit > 0 && handlers.length > 0
}

interface ClaimSource {
  /** Tables of a select; `l` has the jobs. */
  readonly from: string
  readonly params: readonly Value[]
}

/** `limit` is an expression with one parameter. */
export function claimFrom(session: Session, request: ClaimRequest, limit: string): ClaimSource {
  const hasLimits = request.hasLimits === true || request.laneScope !== undefined
  const choice = hasLimits ? limitedChoice(request) : dueChoice(session, request)
  const name = session.functionName(hasLimits ? 'take_limited' : 'take_due')
  return {
    from: `${name}(?, ?::text[], ?::bigint, ${limit}, ?::int, ?::boolean, ${choice.marks}) t
      cross join lateral ${session.functionName('lease_jobs')}(
        t.p_seqs, ?, ?, ?::text[], t.p_at, ?::bigint) l`,
    params: [
      toKey(request.queue),
      texts([...new Set(request.handlers)].map(toKey)),
      request.now,
      request.limit,
      Math.max(PROMOTED_MAX, PROMOTED_FACTOR * request.limit),
      String(session.asksServer),
      ...choice.params,
      toKey(request.owner),
      toKey(request.token),
      texts(request.attemptIds.map(toKey)),
      request.leaseMs,
    ],
  }
}

interface Choice {
  readonly marks: string
  readonly params: readonly Value[]
}

function dueChoice({ saturated }: Session, request: ClaimRequest): Choice {
  const params = [String(saturated.has(request.queue)), ...shareParams(request)]
  return { marks: '?::boolean, ?::int, ?::jsonb', params }
}

function limitedChoice(request: ClaimRequest): Choice {
  const { laneScope, token } = request
  const { tenant, spans } = laneScope?.lanes ?? { tenant: null, spans: [] }
  return {
    marks: '?, ?, ?, ?::text[], ?::text[], ?::int, ?::jsonb',
    params: [
      toKey(token),
      laneScope ? toKey(laneScope.scope) : null,
      tenant === null ? null : toKey(tenant),
      texts(spans.map(({ from }) => toKey(from))),
      texts(spans.map(({ until }) => toKey(until))),
      ...shareParams(request),
    ],
  }
}

/** What a tenant may hold at most, and what each holds already. */
function shareParams({ shares }: ClaimRequest): Value[] {
  if (!shares) return [null, null]
  const held = Object.entries(shares.held).map(([name, count]) => [toKey(name), count])
  return [shares.most, JSON.stringify(Object.fromEntries(held))]
}

// prettier-ignore
type LeasedRow = [
  n: number, seq: number, id: string, kind: Job['kind'], seriesId: string | null, tenant: string,
  spec: string, declared: string | null, createdAt: number, handler: string, lane: string,
  waitingFor: Job['waitingFor'], attempts: number, fence: number, version: number, detail: string,
  claimedAt: number,
]

/** In the order they should start. Those that do not decode are noted: they are set aside after the call. */
export function claimedJobs(session: Session, rows: Row[], request: ClaimRequest): Job[] {
  // All that was asked for: there is more, and nobody need count it the next time.
  if (rows.length === request.limit && rows.length > 1) session.saturated.add(request.queue)
  else session.saturated.delete(request.queue)
  const jobs: Job[] = []
  for (const row of (rows as LeasedRow[]).sort((a, b) => a[0] - b[0])) {
    const job = leasedJob(session, row, request)
    if (job === null) continue
    session.claimed.set(job.id, row[1])
    jobs.push(job)
  }
  return jobs
}

function leasedJob(session: Session, row: LeasedRow, request: ClaimRequest): Job | null {
  // prettier-ignore
  const [
    n, seq, id, kind, seriesId, tenant, spec, declared, createdAt, handler, lane, waitingFor, attempts,
    fence, version, detail, claimedAt,
  ] = row
  const { queue, token, owner, attemptIds, leaseMs } = request
  // prettier-ignore
  const jobRow: JobRow = [
    seq, id, kind, seriesId, tenant, spec, declared, createdAt, toKey(queue), handler, lane, 'running',
    waitingFor, null, claimedAt + leaseMs, null, attempts, fence, version, detail, toKey(token),
    toKey(owner), toKey(attemptIds[n - 1]!), claimedAt,
  ]
  return jobOrNull(session, jobRow)
}
