// Due and waiting → running: the script chooses and leases, here the jobs are put together.

import { DamagedRecord } from '../../core/damage.ts'
import type { Job, Lease } from '../../core/job.ts'
import type { ClaimRequest } from '../store.ts'
import { NUL } from './codes.ts'
import { type Cold } from '../shared/job.ts'
import { claimedJob } from './row.ts'
import { DAMAGED_ROW } from './scripts/lease.ts'
import type { Shelf } from './shelf.ts'
import { toKey } from '../shared/text.ts'

interface Taken {
  readonly seq: string
  readonly fields: readonly string[]
  readonly lease: Lease
}

export async function claim(shelf: Shelf, request: ClaimRequest): Promise<Job[]> {
  if (!canGive(request)) return []
  const name = isRuled(request) ? 'claimRuled' : 'claim'
  return claimedJobs(shelf, request, (await shelf.run(name, claimArgs(shelf, request))) as string[])
}

export function canGive({ limit, handlers }: ClaimRequest): boolean {
  return limit > 0 && handlers.length > 0
}

export function isRuled(request: ClaimRequest): boolean {
  const { isRuled: hasRules, within, shares } = request
  return hasRules === true || within !== undefined || shares !== undefined
}

/** What the scripts take. */
export function claimArgs(shelf: Shelf, request: ClaimRequest): string[] {
  const handlers = [...new Set(request.handlers)]
  return [
    toKey(request.queue),
    String(request.now),
    shelf.judge,
    String(request.limit),
    String(request.leaseMs),
    toKey(request.token),
    toKey(request.owner),
    String(handlers.length),
    ...handlers.map(toKey),
    ...(isRuled(request) ? ruledArgs(request) : []),
    ...request.attemptIds.map(toKey),
  ]
}

/** What the scripts answer with. */
export function claimedJobs(
  shelf: Shelf,
  { leaseMs, token, owner, attemptIds }: ClaimRequest,
  answer: readonly string[],
): Promise<Job[]> {
  const claimedAt = Number(answer[0])
  const taken: Taken[] = []
  let fields: readonly string[] = []
  for (let i = 1; i < answer.length; i += 2) {
    if (answer[i + 1] === DAMAGED_ROW) {
      const why = 'the stored row of the job is missing or has lost fields'
      shelf.damaged.set(answer[i]!, new DamagedRecord('state', why))
      continue
    }
    const attemptId = attemptIds[(i - 1) / 2]!
    const lease = { token, owner, attemptId, claimedAt, until: claimedAt + leaseMs }
    // An empty row is the one before it.
    if (answer[i + 1] !== '') fields = answer[i + 1]!.split(NUL)
    taken.push({ seq: answer[i]!, fields, lease })
  }
  return jobsOf(shelf, taken)
}

function flag(is: boolean): string {
  return is ? '1' : '0'
}

/**
 * Whether rules hold, the scope, one tenant and how many of its spans with each of them, then what
 * each tenant may hold and what so many of them do.
 */
function ruledArgs({ isRuled: hasRules, within, shares }: ClaimRequest): string[] {
  const { tenant, spans } = within?.lanes ?? { tenant: '', spans: [] }
  const held = Object.entries(shares?.held ?? {})
  return [
    flag(hasRules === true || within !== undefined),
    toKey(within?.scope ?? ''),
    flag(within !== undefined),
    toKey(tenant),
    String(spans.length),
    ...spans.flatMap(({ from, until }) => [toKey(from), toKey(until)]),
    shares ? String(shares.most) : '',
    String(held.length),
    ...held.flatMap(([name, count]) => [toKey(name), String(count)]),
  ]
}

async function jobsOf(shelf: Shelf, taken: readonly Taken[]): Promise<Job[]> {
  const colds = new Map<string, Cold>()
  await shelf.readColds(taken, colds)
  const unfit = taken.filter(({ seq }) => !colds.has(seq) && !shelf.damaged.has(seq))
  const others = unfit.length === 0 ? null : await readAnew(shelf, unfit)
  return taken.flatMap(({ seq, fields, lease }): Job | [] => {
    const cold = colds.get(seq)
    if (cold === undefined) return others?.get(seq) ?? []
    shelf.remember(cold.id, { seq, fields })
    return shelf.decoded(seq, () => claimedJob(fields, cold, lease)) ?? []
  })
}

/** Given another spec since they were claimed. Whoever lost its job meanwhile is not told of it. */
async function readAnew(shelf: Shelf, unfit: readonly Taken[]): Promise<Map<string, Job | null>> {
  const leases = new Map(unfit.map(({ seq, lease }) => [seq, lease]))
  const found = shelf.found(await shelf.run('rows', [...leases.keys()]))
  const told = await shelf.told(found)
  const jobs = new Map<string, Job | null>([...leases.keys()].map(seq => [seq, null]))
  for (const { found: held, job } of told) {
    const lease = leases.get(held.seq)!
    const isOurs = job?.lease?.token === lease.token && job.lease.attemptId === lease.attemptId
    jobs.set(held.seq, isOurs ? job : null)
  }
  return jobs
}
