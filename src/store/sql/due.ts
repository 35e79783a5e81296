// When jobs are due: the next time of some routes, what is ahead, and how much of it.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { emptyParts, offsetOf, scanMaxOf } from '../../core/stored/query.ts'
import { earlier, type Instant } from '../../core/time.ts'
import type { DueCountRequest, Route, UpcomingRequest } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { countOf, routes } from './counts.ts'
import type { Sql } from './dialect.ts'
import { jobsOfSeqs } from './jobs-query.ts'
import { rowsOf, type Operation } from './operation.ts'

/** Of more ready jobs than this the earliest is not sought: that one of them is due says enough. */
const READY_SOUGHT = 64

const delayedSql = `(select s.due_at from job_states s
  where s.queue = g.queue and s.handler = g.handler and s.ready = 0 order by s.due_at limit 1)`
const readySql = `(select min(r.due_at) from (select s.due_at from job_states s
  where s.queue = g.queue and s.handler = g.handler and s.ready = 1 limit ${READY_SOUGHT}) r)`

/** What a claim has seen is ready since, so with `seenAt` only what is delayed can be news. */
export function* nextDueAt(
  { dialect }: Sql,
  served: readonly Route[],
  seenAt?: Instant,
): Operation<Instant | null> {
  const rows = served.map(({ queue, handler }) => [toKey(queue), toKey(handler)])
  const table = dialect.table('queue, handler', rows, 'g')
  const [next] = yield* rowsOf<[delayed: number | null, ready: number | null]>(
    `select min(${delayedSql}), ${seenAt === undefined ? `min(${readySql})` : 'null'}
      from ${table.sql}
      where not exists (select 1 from queues q where q.queue = g.queue and q.paused = 1)`,
    ...table.params,
  )
  return earlier(next![0], next![1])
}

type Waiting = [dueAt: Instant, seq: number]

/** Rows read of a route at a time. */
const BATCH = 100

/** All of a small tenant are looked at, so it is never hidden behind the many of others. */
export function* upcoming(sql: Sql, request: UpcomingRequest): Operation<Job[]> {
  const { queue, tenant } = request
  const isSmall = tenant !== undefined && (yield* countOf({ tenant })) <= limits.scannedMax
  if (isSmall) return yield* jobsOfSeqs(sql, yield* ofTenant(sql, tenant, request))
  return yield* jobsOfSeqs(sql, yield* merged(yield* routes(queue), request))
}

const ofKind = ({ kind }: { readonly kind?: Job['kind'] }): string =>
  kind === undefined ? '' : `and s.kind = '${kind}'`
const ofQueue = ({ queue }: { readonly queue?: string | undefined }): string =>
  queue === undefined ? '' : 'and s.queue = ?'

function* ofTenant(sql: Sql, tenant: string, request: UpcomingRequest): Operation<number[]> {
  const { from, until, limit, queue } = request
  const rows = yield* rowsOf<[number]>(
    `select s.seq from jobs j ${sql.dialect.crossJoin} job_states s on s.seq = j.seq
      where j.tenant = ? and s.ready is not null and s.due_at >= ? and s.due_at < ?
        ${ofKind(request)} ${ofQueue(request)} order by s.due_at, s.seq limit ? offset ?`,
    toKey(tenant),
    from,
    until,
    ...(queue === undefined ? [] : [toKey(queue)]),
    limit,
    offsetOf(request) ?? 0,
  )
  return rows.map(([seq]) => seq)
}

/** A route's next waiting jobs, and how to get more; without a route all that are ready. */
interface Stream {
  held: Waiting[]
  at: number
  readonly route: Route | null
}

/** The delayed jobs of each route are in order already and are merged. */
function* merged(all: readonly Route[], request: UpcomingRequest): Operation<number[]> {
  const { tenant, limit, from } = request
  const streams: Stream[] = [{ held: yield* readyOf(all, request), at: 0, route: null }]
  for (const route of all) {
    streams.push({ held: yield* delayedOf(route, request, [from, -1]), at: 0, route })
  }
  const seqs: number[] = []
  let left = offsetOf(request) ?? 0
  const scanMax = scanMaxOf(request)
  for (let looked = 0; seqs.length < limit && looked < scanMax; looked++) {
    const stream = firstOf(streams)
    if (stream === null) break
    const next = stream.held[stream.at++]!
    if (stream.route !== null && stream.at === BATCH && stream.held.length === BATCH) {
      stream.held = yield* delayedOf(stream.route, request, next)
      stream.at = 0
    }
    if (tenant !== undefined && !(yield* isOf(next[1], tenant))) continue
    if (left > 0) left--
    else seqs.push(next[1])
  }
  return seqs
}

function firstOf(streams: readonly Stream[]): Stream | null {
  let first: Stream | null = null
  for (const stream of streams) {
    if (stream.at >= stream.held.length) continue
    if (first === null || compare(stream.held[stream.at]!, first.held[first.at]!) < 0) {
      first = stream
    }
  }
  return first
}

function compare(a: Waiting, b: Waiting): number {
  return a[0] - b[0] || a[1] - b[1]
}

function* isOf(seq: number, tenant: string): Operation<boolean> {
  const rows = yield* rowsOf('select 1 from jobs where seq = ? and tenant = ?', seq, toKey(tenant))
  return rows.length > 0
}

function* delayedOf(
  { queue, handler }: Route,
  request: UpcomingRequest,
  [dueAt, seq]: Waiting,
): Operation<Waiting[]> {
  return yield* rowsOf<Waiting>(
    `select s.due_at, s.seq from job_states s where s.queue = ? and s.handler = ? and s.ready = 0
      and s.due_at < ? and (s.due_at, s.seq) > (?, ?) ${ofKind(request)}
      order by s.due_at, s.seq limit ${BATCH}`,
    queue,
    handler,
    request.until,
    dueAt,
    seq,
  )
}

function* readyOf(all: readonly Route[], request: UpcomingRequest): Operation<Waiting[]> {
  const queues = [...new Set(all.map(({ queue }) => queue))]
  const most = Math.ceil(scanMaxOf(request) / Math.max(1, queues.length))
  const found: Waiting[] = []
  for (const queue of queues) {
    const rows = yield* rowsOf<Waiting>(
      `select due_at, seq from (select s.due_at, s.seq from job_states s
        where s.queue = ? and s.ready = 1 ${ofKind(request)} limit ?) r
        where due_at >= ? and due_at < ?`,
      queue,
      most,
      request.from,
      request.until,
    )
    for (const row of rows) found.push(row)
  }
  return found.sort(compare)
}

/** Rows of job_states (alias s) that wait, where an index leads to them. */
interface WaitingRows {
  readonly from: string
  readonly where: string
  readonly params: readonly string[]
}

function* waitingRows(
  { dialect }: Sql,
  { tenant, queue }: DueCountRequest,
): Operation<WaitingRows[]> {
  if (tenant !== undefined) {
    const from = `jobs j ${dialect.crossJoin} job_states s on s.seq = j.seq`
    const where = `j.tenant = ? and s.ready is not null ${ofQueue({ queue })}`
    return [{ from, where, params: [tenant, ...(queue === undefined ? [] : [queue])].map(toKey) }]
  }
  const all = yield* routes(queue)
  const from = 'job_states s'
  const delayed = all.map(route => {
    const where = 's.queue = ? and s.handler = ? and s.ready = 0'
    return { from, where, params: [route.queue, route.handler] }
  })
  const ready = [...new Set(all.map(route => route.queue))].map(name => {
    return { from, where: 's.queue = ? and s.ready = 1', params: [name] }
  })
  return [...delayed, ...ready]
}

/** How many waiting jobs are due in each part of a window. */
export function* countDue(sql: Sql, request: DueCountRequest): Operation<number[]> {
  const { from, until, widthMs } = request
  const parts = emptyParts(request)
  for (const source of yield* waitingRows(sql, request)) {
    const rows = yield* rowsOf<[number, number]>(
      `select cast((s.due_at - ?) / ? as bigint), count(*) from ${source.from}
        where ${source.where} and s.due_at >= ? and s.due_at < ? ${ofKind(request)} group by 1`,
      from,
      widthMs,
      ...source.params,
      from,
      until,
    )
    for (const [at, n] of rows) parts[at]! += n
  }
  return parts
}
