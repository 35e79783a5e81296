// What lanes and tenants with rules have used up, kept by claims and forgotten in time.

import type { Json } from '../../core/json.ts'
import {
  LANE_KIND,
  plainRule,
  tenantOfLane,
  toRule,
  wholeAfter,
  type LaneRule,
  type LaneUse,
} from '../../core/lane.ts'
import type { Instant } from '../../core/time.ts'
import type { ClaimRequest } from '../store.ts'
import { toKey } from '../shared/text.ts'
import type { DueRow } from './columns.ts'
import type { Tables } from './tables.ts'

/** A ready job, with its lane as it is stored. */
export interface Placed {
  readonly lane: string
  readonly row: DueRow
}

export function ruleOf(tables: Tables, lane: string, now: Instant): LaneRule {
  const row = tables
    .statement(
      `select value from records
        where kind = '${LANE_KIND}' and key = ? and (expire_at is null or expire_at > ?)`,
    )
    .get(lane, now)
  return row ? toRule(JSON.parse(row[0] as string) as Json) : plainRule
}

const isOver =
  'not exists (select 1 from jobs j where j.seq = capped.seq and j.token = capped.token)'

export function useOf(tables: Tables, lane: string): LaneUse {
  tables.statement(`delete from capped where lane = ? and ${isOver}`).run(lane)
  const held = tables.statement('select count(*) from capped where lane = ?').get(lane)
  const rate = tables.statement('select whole_at from rates where lane = ?').get(lane)
  return { running: held![0] as number, wholeAt: rate ? (rate[0] as number) : 0 }
}

/** Under the name of the lane, and under that of its tenant. */
export function spend(tables: Tables, taken: readonly Placed[], request: ClaimRequest): void {
  const bySeq = new Map<string, number[]>()
  for (const { lane, row } of taken) {
    for (const name of new Set([lane, tenantOfLane(lane)])) {
      const seqs = bySeq.get(name)
      if (seqs) seqs.push(row[0])
      else bySeq.set(name, [row[0]])
    }
  }
  for (const [name, seqs] of bySeq) spendOf(tables, name, seqs, request)
}

function spendOf(
  tables: Tables,
  name: string,
  seqs: readonly number[],
  request: ClaimRequest,
): void {
  const { runningMax, rate } = ruleOf(tables, name, request.now)
  if (rate !== null) {
    const started = { now: request.now, count: seqs.length }
    const wholeAt = wholeAfter(rate, useOf(tables, name), started)
    tables.statement('insert or replace into rates values (?, ?)').run(name, wholeAt)
  }
  if (runningMax === null) return
  const token = toKey(request.token)
  for (const seq of seqs) {
    tables.statement('insert or replace into capped values (?, ?, ?)').run(name, seq, token)
  }
}

/** Of lanes whose rule is gone, and rates that are whole again anyway. */
export function forgetCapped(tables: Tables, now: number, limit: number): void {
  tables
    .statement(
      `delete from capped where (lane, seq) in
        (select lane, seq from capped where ${isOver} limit ?)`,
    )
    .run(limit)
  tables
    .statement(
      'delete from rates where lane in (select lane from rates where whole_at <= ? limit ?)',
    )
    .run(now, limit)
}
