// Jobs by status: the numbers of a page, led to by their marks and by what claims hold.

import { numberMark } from '../../core/query.ts'
import { marksOf } from '../shared/marks.ts'
import { RUNNING, states } from '../shared/codes.ts'
import type { JobFilter, PageRequest } from '../port.ts'
import { numbers } from './arrays.ts'
import { Query, wholeOf } from './paging.ts'

export interface Listed {
  readonly filter: JobFilter
  readonly page: PageRequest
  /** The shares they are in; null for any. */
  readonly shares: readonly number[] | null
}

/** A select of at least those numbers `p.seq` the page is made of; null when no mark leads there. */
export function listedSql(
  s: string,
  query: Query,
  { filter, page, shares }: Listed,
): string | null {
  const sought = marksOf(filter)
  if (sought === null) return null
  const isPlaced = [filter.tenant, filter.queue, filter.handler].some(field => field !== undefined)
  if (isPlaced && shares === null) return null
  const whole = wholeOf(page)
  const within = shares === null ? null : query.value(numbers(shares))
  const parts: string[] = []
  if (sought.marks.length > 0) {
    const inner = new Query(query.values)
    const marks = inner.value(numbers(sought.marks.map(({ mark }) => mark)))
    const codes = filter.states!.filter(state => state !== 'running')
    const wanted = `${inner.value(numbers(codes.map(code)))}::smallint[]`
    inner.where('l.mark between k.mark and k.mark')
    if (within !== null) inner.where('l.share = h.share')
    const end = inner.cut('l.seq', whole, numberMark, 'l.mark')
    const lanes = within === null ? '' : `unnest(${within}::int[]) h (share) cross join`
    parts.push(`select p.seq from ${lanes} unnest(${marks}::smallint[]) k (mark)
      cross join lateral (select l.seq from ${s}.listed l cross join lateral (
          select 1 from ${s}.jobs j where j.seq = l.seq and j.state = any (${wanted}) offset 0) held
        ${inner.conditions} ${end}) p`)
  }
  if (sought.isRunning) {
    const inner = new Query(query.values)
    inner.where(`j.state = ${RUNNING} and j.kind = 0`)
    if (within !== null) inner.where(`j.share = any (${within}::int[])`)
    const end = inner.cut('j.seq', whole, numberMark)
    parts.push(`(select j.seq from (select distinct unnest(seqs) as seq from ${s}.leases) r
      cross join lateral (select * from ${s}.jobs j where j.seq = r.seq offset 0) j
      ${inner.conditions} ${end})`)
  }
  return parts.length === 0 ? null : parts.join(' union all ')
}

function code(state: (typeof states)[number]): number {
  return states.indexOf(state)
}
