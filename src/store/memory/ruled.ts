// Claims where lanes have rules, or only some lanes are asked for.

import { inRank, type Candidate } from '../../core/fair.ts'
import {
  LANE_KIND,
  openOf,
  toRule,
  wholeAfter,
  type LaneRule,
  type LaneUse,
} from '../../core/lane.ts'
import {
  serveRing,
  toTurn,
  TURN_KEPT_MS,
  TURN_KIND,
  turnKey,
  type Ring,
  type Turn,
} from '../../core/turns.ts'
import type { ClaimRequest } from '../store.ts'
import { getRecords, putRecord } from './records.ts'
import type { Row, Rows } from './rows.ts'

interface Due extends Candidate {
  readonly row: Row
}

export function claimRuled(rows: Rows, due: readonly Due[], request: ClaimRequest): Due[] {
  const { limit } = request
  const lanes = sortedLanes(due, request)
  const names = [...lanes.keys()].sort((a, b) => (a < b ? -1 : 1))
  const ring: Ring<Due> = {
    next: (lane, isBehind) => names.find(name => (isBehind ? name > lane : name >= lane)) ?? null,
    room: lane => {
      const rule = ruleOf(rows, lane, request)
      return { weight: rule.weight, open: openOf(rule, useOf(rows, lane), request.now) }
    },
    give: (lane, count) => lanes.get(lane)!.splice(0, count),
  }
  const before = turnOf(rows, request)
  const { taken, turn } = serveRing(ring, before, limit)
  if (turn !== before) keepTurn(rows, request, turn)
  spend(rows, taken, request)
  return taken
}

function turnOf(rows: Rows, { queue, within, now }: ClaimRequest): Turn {
  if (within) {
    const [record] = getRecords(rows, TURN_KIND, [turnKey(queue, within.scope)], now)
    return toTurn(record?.value ?? null)
  }
  return { lane: rows.cursors.get(queue) ?? '', taken: rows.turnsTaken.get(queue) ?? 0 }
}

function keepTurn(rows: Rows, { queue, within, now }: ClaimRequest, turn: Turn): void {
  if (within) {
    const key = turnKey(queue, within.scope)
    const expireAt = now + TURN_KEPT_MS
    putRecord(
      rows,
      { kind: TURN_KIND, key, value: { ...turn }, expectedVersion: null, expireAt },
      now,
    )
    return
  }
  rows.cursors.set(queue, turn.lane)
  rows.turnsTaken.set(queue, turn.taken)
}

function sortedLanes(due: readonly Due[], { within }: ClaimRequest): Map<string, Due[]> {
  const lanes = new Map<string, Due[]>()
  for (const one of due) {
    const { lane } = one
    if (within && !within.spans.some(({ from, until }) => lane >= from && lane < until)) continue
    const held = lanes.get(lane)
    if (held) held.push(one)
    else lanes.set(lane, [one])
  }
  for (const held of lanes.values()) held.sort(inRank)
  return lanes
}

function ruleOf(rows: Rows, lane: string, { now }: ClaimRequest): LaneRule {
  return toRule(getRecords(rows, LANE_KIND, [lane], now)[0]?.value ?? null)
}

/** Jobs that are no longer held under the lease they were claimed with are forgotten. */
function useOf(rows: Rows, lane: string): LaneUse {
  const held = rows.capped.get(lane)
  for (const [id, token] of held ?? []) {
    if (rows.jobs.get(id)?.job.lease?.token !== token) held!.delete(id)
  }
  return { running: held?.size ?? 0, wholeAt: rows.rates.get(lane) ?? 0 }
}

function spend(rows: Rows, taken: readonly Due[], request: ClaimRequest): void {
  for (const [lane, jobs] of sortedLanes(taken, request)) {
    const { runningMax, rate } = ruleOf(rows, lane, request)
    if (rate !== null) {
      const started = { now: request.now, count: jobs.length }
      rows.rates.set(lane, wholeAfter(rate, useOf(rows, lane), started))
    }
    if (runningMax === null) continue
    const held = rows.capped.get(lane) ?? new Map<string, string>()
    rows.capped.set(lane, held)
    for (const { row } of jobs) held.set(row.job.id, request.token)
  }
}
