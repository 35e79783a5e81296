// What waits, in the order it becomes due. The timed jobs of each line are in that order already
// and are merged; those that were made ready, and all of a small tenant, are read and sorted.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { offsetOf, scanMaxOf } from '../../core/query.ts'
import type { Instant } from '../../core/time.ts'
import type { UpcomingRequest } from '../store.ts'
import { kinds } from '../shared/codes.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

type Waiting = [dueAt: Instant, seq: number]

/** Rows read of a line at a time. */
const BITE = 100

const timedSql = (more: string) => `select due_at, seq from jobs indexed by timed
  where line = ?1 and ready = 0 and due_at < ?2 and (due_at, seq) > (?3, ?4) ${more}
  order by due_at, seq limit ${BITE}`

const readySql = (more: string) => `select due_at, seq from (
    select due_at, seq from jobs indexed by ready where line = ?1 and ready = 1 ${more} limit ?2
  ) where due_at >= ?3 and due_at < ?4`

const ofTenantSql = (
  more: string,
) => `select jobs.seq from specs cross join jobs on jobs.seq = specs.seq
  where specs.tenant = ?1 and due_at >= ?2 and due_at < ?3
    and line in (select value from json_each(?4)) ${more}
  order by due_at, jobs.seq limit ?5 offset ?6`

/** The condition on the kind, where one is asked for. */
export function ofKind({ kind }: { readonly kind?: Job['kind'] }): string {
  return kind === undefined ? '' : `and kind = ${kinds.indexOf(kind)}`
}

export function upcoming(tables: Tables, request: UpcomingRequest): Job[] {
  const { queue, tenant } = request
  return tables.read(() => {
    const lines = queue === undefined ? tables.lines.all() : tables.lines.ofQueue(queue)
    const isSmall = tenant !== undefined && tables.tallies.count({ tenant }) <= limits.scannedMax
    const seqs = isSmall ? ofTenant(tables, tenant, lines, request) : merged(tables, lines, request)
    return tables.ofSeqs(seqs)
  })
}

/** All of its jobs are looked at, so it is never hidden behind the many of others. */
function ofTenant(
  tables: Tables,
  tenant: string,
  lines: readonly number[],
  request: UpcomingRequest,
): number[] {
  const { from, until, limit } = request
  const rows = tables.statement(ofTenantSql(ofKind(request)))
  return rows
    .all(toKey(tenant), from, until, JSON.stringify(lines), limit, offsetOf(request) ?? 0)
    .map(row => row[0] as number)
}

function merged(tables: Tables, lines: readonly number[], request: UpcomingRequest): number[] {
  const { tenant, limit } = request
  const seqs: number[] = []
  const scanMax = scanMaxOf(request)
  let left = offsetOf(request) ?? 0
  let looked = 0
  for (const seq of inOrder(tables, lines, request)) {
    if (seqs.length >= limit || looked++ >= scanMax) break
    if (tenant !== undefined && !isOf(tables, seq, tenant)) continue
    if (left > 0) left--
    else seqs.push(seq)
  }
  return seqs
}

function isOf(tables: Tables, seq: number, tenant: string): boolean {
  const sql = 'select 1 from specs where seq = ? and tenant = ?'
  return tables.statement(sql).get(seq, toKey(tenant)) !== undefined
}

/** A line's next waiting jobs, and how to get more. */
interface Stream {
  readonly held: Waiting[]
  at: number
  readonly line: number | null
}

function* inOrder(
  tables: Tables,
  lines: readonly number[],
  request: UpcomingRequest,
): Generator<number> {
  const streams: Stream[] = [{ held: readyOf(tables, lines, request), at: 0, line: null }]
  for (const line of lines) {
    const held = timedOf(tables, line, request, [request.from, -1])
    streams.push({ held, at: 0, line })
  }
  for (;;) {
    let first: Stream | null = null
    for (const stream of streams) {
      if (stream.at < stream.held.length && (first === null || isBefore(stream, first))) {
        first = stream
      }
    }
    if (first === null) return
    const next = first.held[first.at++]!
    if (first.line !== null && first.at === first.held.length && first.at === BITE) {
      first.held.splice(0, BITE, ...timedOf(tables, first.line, request, next))
      first.at = 0
    }
    yield next[1]
  }
}

function isBefore(a: Stream, b: Stream): boolean {
  return compare(a.held[a.at]!, b.held[b.at]!) < 0
}

function compare(a: Waiting, b: Waiting): number {
  return a[0] - b[0] || a[1] - b[1]
}

function timedOf(
  tables: Tables,
  line: number,
  request: UpcomingRequest,
  [dueAt, seq]: Waiting,
): Waiting[] {
  const sql = timedSql(ofKind(request))
  return tables.statement(sql).all(line, request.until, dueAt, seq) as Waiting[]
}

function readyOf(tables: Tables, lines: readonly number[], request: UpcomingRequest): Waiting[] {
  const { from, until } = request
  const most = Math.ceil(scanMaxOf(request) / Math.max(1, lines.length))
  const rows = tables.statement(readySql(ofKind(request)))
  return lines.flatMap(line => rows.all(line, most, from, until) as Waiting[]).sort(compare)
}
