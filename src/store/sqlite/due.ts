// How many waiting jobs are due in each part of a window, from the indexes claims go by.

import { emptyParts } from '../../core/query.ts'
import type { DueCountRequest } from '../store.ts'
import { toKey } from '../shared/text.ts'
import type { Tables } from './tables.ts'
import { ofKind } from './upcoming.ts'

const partSql = 'select cast((due_at - ?1) / ?2 as integer), count(*)'
const within = 'due_at >= ?1 and due_at < ?3'

const ofLineSql = (index: 'timed' | 'ready', more: string) => `${partSql}
  from jobs indexed by ${index}
  where line = ?4 and ready = ${index === 'timed' ? 0 : 1} and ${within} ${more} group by 1`

const ofTenantSql = (more: string) => `${partSql}
  from specs cross join jobs on jobs.seq = specs.seq
  where specs.tenant = ?4 and ready is not null and ${within}
    and line in (select value from json_each(?5)) ${more} group by 1`

type PartRow = [part: number, count: number]

export function countDue(tables: Tables, request: DueCountRequest): number[] {
  const { tenant, queue, from, until, widthMs } = request
  const counts = emptyParts(request)
  const more = ofKind(request)
  const rows = tables.read(() => {
    const lines = queue === undefined ? tables.lines.all() : tables.lines.ofQueue(queue)
    if (tenant !== undefined) {
      const ofTenant = tables.statement(ofTenantSql(more))
      return ofTenant.all(from, widthMs, until, toKey(tenant), JSON.stringify(lines))
    }
    return (['timed', 'ready'] as const).flatMap(index => {
      const ofLine = tables.statement(ofLineSql(index, more))
      return lines.flatMap(line => ofLine.all(from, widthMs, until, line))
    })
  })
  for (const [part, count] of rows as PartRow[]) counts[part]! += count
  return counts
}
