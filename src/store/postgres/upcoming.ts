// What waits, in the order it becomes due. The timed jobs of each line are in that order already;
// those that were made ready, and all of a small tenant, are read and sorted.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { UpcomingRequest } from '../store.ts'
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
  { queue, from, until, limit }: UpcomingRequest,
  tenant: string,
): string {
  query.where(`h.tenant = ${query.value(toKey(tenant))}`)
  if (queue !== undefined) query.where(`l.queue = ${query.value(toKey(queue))}`)
  query.where(`j.due_at >= ${query.value(from)} and j.due_at < ${query.value(until)}`)
  return `select j.seq from ${s}.shares h join ${s}.lines l on l.id = h.line
    join ${s}.jobs j on j.share = h.id ${query.conditions}
    order by j.due_at, j.seq limit ${query.value(limit)}`
}

function ofLines(
  { schema: s }: Tables,
  query: Query,
  { queue, tenant, from, until, limit }: UpcomingRequest,
): string {
  const lines =
    queue === undefined
      ? `${s}.lines l`
      : `(select * from ${s}.lines where queue = ${query.value(toKey(queue))}) l`
  const within = `m.at >= ${query.value(from)} and m.at < ${query.value(until)}`
  const most = query.value(tenant === undefined ? limit : limits.scannedMax)
  const sought =
    tenant === undefined
      ? ''
      : `where exists (select 1 from ${s}.jobs j join ${s}.shares h on h.id = j.share
          where j.seq = f.seq and h.tenant = ${query.value(toKey(tenant))})`
  return `select f.seq from (
      select m.seq, m.at from ${lines} cross join lateral (
        (select m.seq, m.at from ${s}.moments m
          where m.what = 0 and m.line = l.id and ${within} order by m.at, m.seq limit ${most})
        union all
        (select m.seq, m.at from (select * from ${s}.moments r
            where r.what = 1 and r.line = l.id limit ${limits.scannedMax}) m where ${within})
      ) m order by m.at, m.seq limit ${limits.scannedMax}
    ) f ${sought} order by f.at, f.seq limit ${query.value(limit)}`
}
