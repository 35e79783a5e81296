// Finding who is next when more is due than fits, at a cost that follows the number taken and not
// the backlog: seeks in the index of ready jobs, lane by lane, as deep as the turns go.

import type { Instant } from '../../core/time.ts'
import type { Row } from '../sql/sqlite/driver.ts'
import { dueColumns } from './columns.ts'
import type { Tables } from './tables.ts'

export interface Due {
  readonly line: number
  /** How many, counted up to the limit. */
  readonly timed: number
  readonly ready: number
}

interface Ring {
  /** The lane served last, as it is stored. */
  readonly cursor: string
  readonly now: Instant
  readonly limit: number
}

/** Timed jobs made ready in one claim; what is due later than these has to wait its turn. */
export const BITE = 2_000
const BITE_FACTOR = 4

const readyDue = 'ready = 1 and due_at <= ?2'

const dueSql = `select
  (select count(*) from (select 1 from jobs indexed by timed
    where line = ?1 and ready = 0 and due_at <= ?2 limit ?3)),
  (select count(*) from (select 1 from jobs indexed by ready
    where line = ?1 and ${readyDue} limit ?3))`

/** A clock that was set back may leave ready jobs that are not due: `due_at` is always asked. */
export function dueFrom(tables: Tables, line: number, now: Instant, limit: number): Due {
  const [timed, ready] = tables.statement(dueSql).get(line, now, limit) as [number, number]
  return { line, timed, ready }
}

/** The earliest due of all lines first. */
export function promote(
  tables: Tables,
  due: readonly Due[],
  { now, limit }: { now: Instant; limit: number },
): void {
  const bite = Math.max(BITE, BITE_FACTOR * limit)
  const earliest = due
    .filter(({ timed }) => timed > 0)
    .flatMap(({ line }) =>
      tables
        .statement(
          `select due_at, seq from jobs indexed by timed
            where line = ? and ready = 0 and due_at <= ? order by due_at, seq limit ?`,
        )
        .all(line, now, bite),
    ) as [number, number][]
  if (earliest.length > bite) earliest.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const seqs = earliest.slice(0, bite).map(([, seq]) => seq)
  if (seqs.length === 0) return
  tables
    .statement('update jobs set ready = 1 where seq in (select value from json_each(?))')
    .run(JSON.stringify(seqs))
}

/**
 * Rows enough for `takeTurns` to come to the same end as over everything that is ready: the lanes
 * that can have a turn, each as deep as the last round.
 */
export function laneCandidates(tables: Tables, lines: readonly number[], ring: Ring): Row[] {
  const { now, limit } = ring
  let open = lanesInTurn(tables, lines, ring)
  const found: Row[] = []
  let turns = 0
  for (let depth = 0; turns < limit && open.length > 0;) {
    const step = Math.ceil((limit - turns) / open.length)
    const deeper: Lane[] = []
    const byLane = rowsOf(tables, open, { now, step, from: depth })
    for (const [i, rows] of byLane.entries()) {
      for (const row of rows) found.push(row)
      // A lane in several lines gives more rows than it may have turns.
      turns += Math.min(rows.length, step)
      if (rows.length >= step) deeper.push(open[i]!)
    }
    open = deeper
    depth += step
  }
  return found
}

interface Lane {
  readonly key: string
  readonly lines: number[]
}

interface Slice {
  readonly now: Instant
  readonly step: number
  readonly from: number
}

const deepSql = `from jobs indexed by ready
  where line = ?1 and ${readyDue} and lane = ?3 order by rank, seq limit ?4 offset ?5`

/** All lanes of a line at once, one row of each; the last column says which lane. */
const shallowSql = `select ${dueColumns}, lanes.key from json_each(?3) lanes
  cross join jobs on jobs.seq = (
    select seq from jobs indexed by ready
      where line = ?1 and ${readyDue} and lane = lanes.value
      order by rank, seq limit 1 offset ?4
  )`

/** Up to here one statement for many lanes costs less than one for each of them. */
const SHALLOW = 4

/** For each lane, `step` rows of it in each of its lines, behind the first `from`. */
function rowsOf(tables: Tables, lanes: readonly Lane[], slice: Slice): Row[][] {
  const { now, step, from } = slice
  if (lanes.length === 1 || from + step > SHALLOW) {
    return lanes.map(({ key, lines }) =>
      lines.flatMap(line => tables.packedAll(dueColumns, deepSql, line, now, key, step, from)),
    )
  }
  const byLane: Row[][] = lanes.map(() => [])
  for (const line of new Set(lanes.flatMap(lane => lane.lines))) {
    const asked = [...lanes.keys()].filter(i => lanes[i]!.lines.includes(line))
    const keys = JSON.stringify(asked.map(i => lanes[i]!.key))
    for (let offset = from; offset < from + step; offset++) {
      for (const row of tables.statement(shallowSql).all(line, now, keys, offset)) {
        byLane[asked[row.at(-1) as number]!]!.push(row)
      }
    }
  }
  return byLane
}

const nextLane = (bound: string) => `(select lane from jobs indexed by ready
  where line = ?1 and ${readyDue} and lane > ${bound} order by lane limit 1)`

/** Lanes behind ?3, the nearest first. */
const lanesBehindSql = `with recursive ring (lane) as (
    select ${nextLane('?3')} union all
    select ${nextLane('ring.lane')} from ring where ring.lane is not null limit ?4 + 1
  ) select lane from ring where lane is not null limit ?4`

/** The lane without a name comes before all others and is behind none. */
const hasNamelessSql = `select exists (select 1 from jobs indexed by ready
  where line = ?1 and ${readyDue} and lane = '')`

/** At most `limit` lanes: more cannot have a turn. */
function lanesInTurn(tables: Tables, lines: readonly number[], ring: Ring): Lane[] {
  const { cursor, now, limit } = ring
  const behind = new Map<string, number[]>()
  for (const line of lines) {
    for (const [lane] of tables.statement(lanesBehindSql).all(line, now, cursor, limit)) {
      addLine(behind, lane as string, line)
    }
  }
  const lanes = sorted(behind).slice(0, limit)
  if (lanes.length >= limit) return lanes
  const wrapped = new Map<string, number[]>()
  const left = limit - lanes.length
  for (const line of lines) {
    if (tables.statement(hasNamelessSql).get(line, now)![0] === 1) addLine(wrapped, '', line)
    if (cursor === '') continue
    for (const [lane] of tables.statement(lanesBehindSql).all(line, now, '', left)) {
      if ((lane as string) > cursor) break
      addLine(wrapped, lane as string, line)
    }
  }
  return [...lanes, ...sorted(wrapped).slice(0, left)]
}

/** Whether all that is due is of tenants without users, and of fewer than can have a turn. */
export function areTenantsDue(
  tables: Tables,
  lines: readonly number[],
  now: Instant,
  limit: number,
): boolean {
  const lanes = lanesInTurn(tables, lines, { cursor: '', now, limit })
  return lanes.length < limit && lanes.every(({ key }) => !key.includes('/'))
}

function addLine(lanes: Map<string, number[]>, key: string, line: number): void {
  const held = lanes.get(key)
  if (held) held.push(line)
  else lanes.set(key, [line])
}

/** Stored lanes hold nothing between U+D800 and U+FFFF, so this order is also that of SQLite. */
function sorted(lanes: ReadonlyMap<string, number[]>): Lane[] {
  return [...lanes].map(([key, lines]) => ({ key, lines })).sort((a, b) => (a.key < b.key ? -1 : 1))
}
