// What lanes and tenants with limits have used up, kept by claims and pruned in time.

import type { Json } from '../../../core/json.ts'
import {
  LANE_KIND,
  plainRule,
  tenantOfLane,
  toRule,
  wholeAfter,
  type LaneRule,
  type LaneUse,
} from '../../../core/fairness/lane.ts'
import type { Instant } from '../../../core/time.ts'
import type { ClaimRequest } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import type { Session } from './session.ts'

/** A job that is ready, with its lane as it is stored. */
export interface Ready {
  readonly seq: number
  readonly lane: string
  readonly rank: number
}

export function ruleOf(session: Session, lane: string, now: Instant): LaneRule {
  const row = session
    .statement(
      `select value from records
        where kind = '${LANE_KIND}' and key = ? and (expire_at is null or expire_at > ?)`,
    )
    .get(lane, now)
  return row ? toRule(JSON.parse(row[0] as string) as Json) : plainRule
}

const isOver = `not exists (select 1 from job_states s
  where s.seq = lane_running.job and s.token = lane_running.token)`

export function useOf(session: Session, lane: string): LaneUse {
  session.statement(`delete from lane_running where lane = ? and ${isOver}`).run(lane)
  const held = session.statement('select count(*) from lane_running where lane = ?').get(lane)
  const rate = session.statement('select full_at from lane_rates where lane = ?').get(lane)
  return { running: held![0] as number, wholeAt: rate ? (rate[0] as number) : 0 }
}

/** Under the name of the lane, and under that of its tenant. */
export function spend(session: Session, taken: readonly Ready[], request: ClaimRequest): void {
  const byName = new Map<string, number[]>()
  for (const { lane, seq } of taken) {
    for (const name of new Set([lane, tenantOfLane(lane)])) {
      const seqs = byName.get(name)
      if (seqs) seqs.push(seq)
      else byName.set(name, [seq])
    }
  }
  for (const [name, seqs] of byName) spendOf(session, name, seqs, request)
}

// oxlint-disable-next-line max-params -- where, whose, what, when
function spendOf(
  session: Session,
  name: string,
  seqs: readonly number[],
  request: ClaimRequest,
): void {
  const { runningMax, rate } = ruleOf(session, name, request.now)
  if (rate !== null) {
    const started = { now: request.now, count: seqs.length }
    const fullAt = wholeAfter(rate, useOf(session, name), started)
    session.statement('insert or replace into lane_rates values (?, ?)').run(name, fullAt)
  }
  if (runningMax === null) return
  const token = toKey(request.token)
  for (const seq of seqs) {
    session.statement('insert or replace into lane_running values (?, ?, ?)').run(name, seq, token)
  }
}
