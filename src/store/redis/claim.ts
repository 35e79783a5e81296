// Due and waiting → running: the script chooses and leases, here the jobs are put together.

import { DamagedRecord } from '../../core/stored/damage.ts'
import type { Job } from '../../core/job.ts'
import type { ClaimRequest, InsertAnswer, InsertOptions } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { insert, insertArgs, insertResults } from './insert.ts'
import { claimedJob } from './row.ts'
import type { RedisSession } from './session.ts'
import { flag } from './script-args.ts'

export async function claim(session: RedisSession, request: ClaimRequest): Promise<Job[]> {
  if (!canGive(request)) return []
  return claimedJobs(session, request, await session.run('claim', claimArgs(session, request)))
}

export async function insertAndClaim(
  session: RedisSession,
  jobs: readonly Job[],
  options: InsertOptions,
  request: ClaimRequest,
): Promise<InsertAnswer> {
  if (!canGive(request)) return { results: await insert(session, jobs, options), claimed: [] }
  const args = [...insertArgs(session, jobs, options), ...claimArgs(session, request)]
  const answer = (await session.run('insert-and-claim', args)) as [unknown, unknown]
  return {
    results: insertResults(answer[0]),
    claimed: claimedJobs(session, request, answer[1]),
  }
}

function canGive({ limit, handlers }: ClaimRequest): boolean {
  return limit > 0 && handlers.length > 0
}

/** What `takeClaim` takes. */
function claimArgs(session: RedisSession, request: ClaimRequest): string[] {
  const { laneScope, shares } = request
  const handlers = [...new Set(request.handlers)]
  const { tenant, spans } = laneScope?.lanes ?? { tenant: '', spans: [] }
  const held = Object.entries(shares?.held ?? {})
  return [
    toKey(request.queue),
    String(request.now),
    session.judge,
    String(request.limit),
    String(request.leaseMs),
    toKey(request.token),
    toKey(request.owner),
    String(handlers.length),
    ...handlers.map(toKey),
    flag(request.hasLimits === true || laneScope !== undefined),
    toKey(laneScope?.scope ?? ''),
    flag(laneScope !== undefined),
    toKey(tenant),
    String(spans.length),
    ...spans.flatMap(({ from, until }) => [toKey(from), toKey(until)]),
    shares ? String(shares.most) : '',
    String(held.length),
    ...held.flatMap(([name, count]) => [toKey(name), String(count)]),
    ...request.attemptIds.map(id => JSON.stringify(toKey(id))),
  ]
}

/** Behind the time: number, row and definition of each, without a row where it is damaged. */
function claimedJobs(
  session: RedisSession,
  { leaseMs, token, owner, attemptIds }: ClaimRequest,
  answer: unknown,
): Job[] {
  const flat = answer as readonly string[]
  const claimedAt = Number(flat[0])
  const jobs: Job[] = []
  for (let i = 1; i < flat.length; i += 3) {
    const [seq, row, definition] = [flat[i]!, flat[i + 1]!, flat[i + 2]!]
    if (row === '') {
      const why = 'the stored row of the job is missing or has lost fields'
      session.damaged.set(seq, new DamagedRecord('state', why))
      continue
    }
    const attemptId = attemptIds[(i - 1) / 3]!
    const lease = { token, owner, attemptId, claimedAt, until: claimedAt + leaseMs }
    const job = session.decoded(seq, () => claimedJob(row, definition, lease))
    if (job !== null) jobs.push(job)
  }
  return jobs
}
