// Claims where lanes have rules, or only some lanes are asked for: the ring of core/turns over seeks
// in the index of ready jobs. What lanes have used up is kept here and forgotten in time.

import type { Json } from '../../core/json.ts'
import {
  LANE_KIND,
  openOf,
  plainRule,
  toRule,
  wholeAfter,
  type LaneRule,
  type LaneUse,
} from '../../core/lane.ts'
import {
  firstTurn,
  serveRing,
  toTurn,
  TURN_KEPT_MS,
  TURN_KIND,
  turnKey,
  type LaneRoom,
  type Ring,
  type Turn,
} from '../../core/turns.ts'
import type { ClaimRequest, Within } from '../store.ts'
import { toKey } from '../shared/text.ts'
import { dueColumns, type DueRow } from './columns.ts'
import type { Row } from './driver.ts'
import { putRecord } from './records.ts'
import type { Tables } from './tables.ts'

/** Names of lanes and the turn are keys, as they are stored. */
interface Ask {
  readonly request: ClaimRequest
  readonly lines: readonly number[]
  readonly spans: readonly { readonly from: string; readonly until: string }[] | null
}

const freeRoom: LaneRoom = { weight: 1, open: Infinity }

/** Rows of jobs in the order of their turns. Inside a write. */
export function takeRuled(tables: Tables, lines: readonly number[], request: ClaimRequest): Row[] {
  const { queue, within, limit } = request
  const spans = within?.spans.map(({ from, until }) => ({ from: toKey(from), until: toKey(until) }))
  const ask: Ask = { request, lines, spans: spans ?? null }
  const given = new Map<string, DueRow[]>()
  const ring: Ring<Row> = {
    next: (lane, isBehind) => nextLane(tables, ask, lane, isBehind),
    room: lane => {
      const rule = ruleOf(tables, lane, request)
      if (rule === plainRule) return freeRoom
      return { weight: rule.weight, open: openOf(rule, useOf(tables, lane), request.now) }
    },
    give: (lane, count) => {
      const before = given.get(lane) ?? []
      given.set(lane, before)
      const rows = rowsBehind(tables, ask, { lane, last: before.at(-1), count })
      before.push(...rows)
      return rows
    },
  }
  const turn = within ? scopeTurn(tables, request, within) : turnOf(tables, queue)
  const served = serveRing(ring, turn, limit)
  if (!within) keepTurn(tables, queue, served.turn)
  else if (served.turn !== turn) keepScopeTurn(tables, request, within, served.turn)
  for (const [lane, rows] of given) spend(tables, lane, rows, request)
  return served.taken
}

function turnOf(tables: Tables, queue: string): Turn {
  const row = tables.statement('select cursor, taken from queues where queue = ?').get(toKey(queue))
  return row ? { lane: row[0] as string, taken: row[1] as number } : { lane: '', taken: 0 }
}

function keepTurn(tables: Tables, queue: string, { lane, taken }: Turn): void {
  tables
    .statement(
      `insert into queues (queue, cursor, taken) values (?, ?, ?)
        on conflict (queue) do update set cursor = excluded.cursor, taken = excluded.taken`,
    )
    .run(toKey(queue), lane, taken)
}

function scopeTurn(tables: Tables, { queue, now }: ClaimRequest, { scope }: Within): Turn {
  const row = tables
    .statement(
      `select value from records
        where kind = '${TURN_KIND}' and key = ? and (expire_at is null or expire_at > ?)`,
    )
    .get(toKey(turnKey(queue, scope)), now)
  return row ? toTurn(JSON.parse(row[0] as string) as Json) : firstTurn
}

function keepScopeTurn(
  tables: Tables,
  { queue, now }: ClaimRequest,
  { scope }: Within,
  turn: Turn,
): void {
  const key = turnKey(queue, scope)
  const expireAt = now + TURN_KEPT_MS
  putRecord(
    tables,
    { kind: TURN_KIND, key, value: { ...turn }, expectedVersion: null, expireAt },
    now,
  )
}

const laneSql = (sign: string, until: string) => `select lane from jobs indexed by ready
  where line = ?1 and ready = 1 and due_at <= ?2 and lane ${sign} ?3 ${until}
  order by lane limit 1`

/** In all lines, and in the spans asked for. */
function nextLane(tables: Tables, ask: Ask, lane: string, isBehind: boolean): string | null {
  if (ask.spans === null) return firstOf(tables, ask, { from: lane, isBehind, until: null })
  let first: string | null = null
  for (const { from, until } of ask.spans) {
    const isInside = lane >= from
    if (isInside && lane >= until) continue
    const seek = { from: isInside ? lane : from, isBehind: isInside && isBehind, until }
    const found = firstOf(tables, ask, seek)
    if (found !== null && (first === null || found < first)) first = found
  }
  return first
}

interface Seek {
  readonly from: string
  readonly isBehind: boolean
  readonly until: string | null
}

function firstOf(tables: Tables, { lines, request }: Ask, seek: Seek): string | null {
  const sql = laneSql(seek.isBehind ? '>' : '>=', seek.until === null ? '' : 'and lane < ?4')
  const end = seek.until === null ? [] : [seek.until]
  let first: string | null = null
  for (const line of lines) {
    const row = tables.statement(sql).get(line, request.now, seek.from, ...end)
    const found = row ? (row[0] as string) : null
    if (found !== null && (first === null || found < first)) first = found
  }
  return first
}

const behindSql = `select ${dueColumns} from jobs indexed by ready
  where line = ?1 and ready = 1 and due_at <= ?2 and lane = ?3
    and (rank, seq) > (?4, ?5)
  order by rank, seq limit ?6`

interface Behind {
  readonly lane: string
  readonly last: DueRow | undefined
  readonly count: number
}

/** The next of a lane in the order of rank, whichever line they are of. */
function rowsBehind(tables: Tables, ask: Ask, { lane, last, count }: Behind): DueRow[] {
  const { lines, request } = ask
  const [seq, , rank] = last ?? [-1, 0, Number.MIN_SAFE_INTEGER]
  const found = lines.flatMap(line => {
    return tables.statement(behindSql).all(line, request.now, lane, rank, seq, count)
  }) as DueRow[]
  if (lines.length > 1) found.sort((a, b) => a[2] - b[2] || a[0] - b[0])
  return found.slice(0, count)
}

function ruleOf(tables: Tables, lane: string, { now }: ClaimRequest): LaneRule {
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

function useOf(tables: Tables, lane: string): LaneUse {
  tables.statement(`delete from capped where lane = ? and ${isOver}`).run(lane)
  const held = tables.statement('select count(*) from capped where lane = ?').get(lane)
  const rate = tables.statement('select whole_at from rates where lane = ?').get(lane)
  return { running: held![0] as number, wholeAt: rate ? (rate[0] as number) : 0 }
}

function spend(tables: Tables, lane: string, rows: readonly DueRow[], request: ClaimRequest): void {
  const { runningMax, rate } = ruleOf(tables, lane, request)
  if (rate !== null) {
    const started = { now: request.now, count: rows.length }
    const wholeAt = wholeAfter(rate, useOf(tables, lane), started)
    tables.statement('insert or replace into rates values (?, ?)').run(lane, wholeAt)
  }
  if (runningMax === null) return
  const token = toKey(request.token)
  for (const [seq] of rows) {
    tables.statement('insert or replace into capped values (?, ?, ?)').run(lane, seq, token)
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
