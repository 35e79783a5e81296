// What waits, in the order it becomes due. The timed jobs of each line are in that order already;
// those that were made ready, and all of a small tenant, are read and sorted.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { emptyParts, offsetOf, scanMaxOf } from '../../core/query.ts'
import { kinds } from '../shared/codes.ts'
import type { DueCountRequest, UpcomingRequest } from '../port.ts'
import { countTallied } from './tallies.ts'
import { Query } from './paging.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export async function upcoming(tables: Tables, request: UpcomingRequest): Promise<Job[]> {
  const { tenant } = request
  const isSmall =
    tenant !== undefined && (await countTallied(tables, { tenant })) <= limits.scannedMax
  const query = new Query()
  const sql = isSmall ? ofTenant(tables, query, request, tenant) : ofLines(tables, query, request)
  const rows = await tables.connection.rows(sql, query.values)
  const seqs = rows.map(([seq]) => Number(seq))
  const found = new Map((await tables.numbered(seqs)).map(({ seq, job }) => [seq, job]))
  // Between the two looks a job may have been claimed.
  return seqs.flatMap(seq => found.get(seq) ?? []).filter(job => job.dueAt !== null)
}

/** All of its jobs are looked at, so it is never hidden behind the many of others. */
function ofTenant(
  { schema: s }: Tables,
  query: Query,
  request: UpcomingRequest,
  tenant: string,
): string {
  const { queue, kind, from, until, limit } = request
  if (kind !== undefined) query.where(`h.kind = ${query.value(kinds.indexOf(kind))}`)
  query.where(`h.tenant = ${query.value(toKey(tenant))}`)
  if (queue !== undefined) query.where(`l.queue = ${query.value(toKey(queue))}`)
  query.where(`j.due_at >= ${query.value(from)} and j.due_at < ${query.value(until)}`)
  return `select j.seq from ${s}.shares h join ${s}.lines l on l.id = h.line
    join ${s}.jobs j on j.share = h.id ${query.conditions}
    order by j.due_at, j.seq limit ${query.value(limit)} offset ${query.value(offsetOf(request) ?? 0)}`
}

function ofLines({ schema: s }: Tables, query: Query, request: UpcomingRequest): string {
  const { queue, tenant, kind, from, until, limit } = request
  const scanMax = scanMaxOf(request)
  const offset = offsetOf(request) ?? 0
  const lines =
    queue === undefined
      ? `${s}.lines l`
      : `(select * from ${s}.lines where queue = ${query.value(toKey(queue))}) l`
  const within = `m.at >= ${query.value(from)} and m.at < ${query.value(until)}`
  const isAny = tenant === undefined && kind === undefined
  const most = query.value(isAny ? offset + limit : scanMax)
  const wanted = new Query(query.values)
  if (tenant !== undefined) wanted.where(`h.tenant = ${wanted.value(toKey(tenant))}`)
  if (kind !== undefined) wanted.where(`h.kind = ${wanted.value(kinds.indexOf(kind))}`)
  const sought = isAny
    ? ''
    : `where exists (select 1 from ${s}.jobs j join ${s}.shares h on h.id = j.share
        ${wanted.conditions} and j.seq = f.seq)`
  return `select f.seq from (
      select m.seq, m.at from ${lines} cross join lateral (
        (select m.seq, m.at from ${s}.moments m
          where m.what = 0 and m.line = l.id and ${within} order by m.at, m.seq limit ${most})
        union all
        (select m.seq, m.at from (select * from ${s}.moments r
            where r.what = 1 and r.line = l.id limit ${scanMax}) m where ${within})
      ) m order by m.at, m.seq limit ${scanMax}
    ) f ${sought} order by f.at, f.seq limit ${query.value(limit)} offset ${query.value(offset)}`
}

/** Counted over the rows of what waits, or over the jobs of the shares asked for. */
export async function countDue(tables: Tables, request: DueCountRequest): Promise<number[]> {
  const { schema: s } = tables
  const { from, until, widthMs, tenant, queue, kind } = request
  const counts = emptyParts(request)
  const query = new Query()
  const isAny = tenant === undefined && kind === undefined
  const at = isAny ? 'm.at' : 'j.due_at'
  const start = query.value(from)
  const part = `(${at} - ${start}) / ${query.value(widthMs)}::bigint`
  query.where(`${at} >= ${start} and ${at} < ${query.value(until)}`)
  if (isAny) query.where('m.what in (0, 1)')
  if (tenant !== undefined) query.where(`h.tenant = ${query.value(toKey(tenant))}`)
  if (kind !== undefined) query.where(`h.kind = ${query.value(kinds.indexOf(kind))}`)
  if (queue !== undefined) {
    const lines = `select l.id from ${s}.lines l where l.queue = ${query.value(toKey(queue))}`
    query.where(`${isAny ? 'm' : 'h'}.line in (${lines})`)
  }
  const source = isAny ? `${s}.moments m` : `${s}.shares h join ${s}.jobs j on j.share = h.id`
  const rows = await tables.connection.rows(
    `select ${part}, count(*) from ${source} ${query.conditions} group by 1`,
    query.values,
  )
  for (const [nth, count] of rows) counts[Number(nth)]! += Number(count)
  return counts
}
