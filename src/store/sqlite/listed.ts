// Jobs by status, led to by an index: as many numbers of each mark as a page needs, then merged.

import { numberMark, offsetOf } from '../../core/query.ts'
import { kinds, RUNNING } from '../shared/codes.ts'
import { markOf, marksOf } from '../shared/marks.ts'
import type { JobFilter, Page, PageRequest } from '../store.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { cutBy, whereAll } from './paging.ts'
import type { Tables } from './tables.ts'

/** What else must hold of a row of `jobs`, and of `specs` if it is joined. */
export interface More {
  readonly where: readonly string[]
  readonly values: readonly Value[]
  readonly needsSpecs: boolean
}

/** Null when no index leads there, or the jobs of the tenant are fewer than those it leads to. */
export function listedPage(
  tables: Tables,
  filter: JobFilter,
  page: PageRequest,
  more: More,
): Page<number> | null {
  const sought = runningOf(filter) ?? marksOf(filter)
  if (sought === null || isTenantShorter(tables, filter)) return null
  const offset = offsetOf(page) ?? 0
  const cut = cutBy('jobs.seq', { ...page, offset: 0 }, numberMark)
  const needed = page.limit + offset + 1
  const specs = more.needsSpecs ? 'cross join specs on specs.seq = jobs.seq' : ''
  const read = (lead: string, conditions: readonly string[]) => {
    const where = whereAll([...conditions, ...more.where, cut.where])
    const sql = `select jobs.seq from ${lead} ${specs} ${where}
      order by jobs.seq ${cut.order} limit ?`
    const rows = tables.statement(sql).all(...more.values, ...cut.values, needed)
    return rows.map(row => row[0] as number)
  }
  const found = sought.marks.flatMap(({ mark, state }) =>
    read('jobs indexed by listed', [
      'jobs.kind = 0',
      `(${markOf('jobs.')}) = ${mark}`,
      `jobs.state = ${state}`,
    ]),
  )
  if (sought.isRunning) {
    const { kind } = filter
    const ofKind = kind === undefined ? [] : [`jobs.kind = ${kinds.indexOf(kind)}`]
    found.push(...read(runningSql, [`jobs.state = ${RUNNING}`, ...ofKind]))
  }
  found.sort((a, b) => (cut.order === 'asc' ? a - b : b - a))
  const items = found.slice(offset, offset + page.limit)
  const hasMore = found.length > offset + items.length
  return { items, cursor: hasMore ? String(items.at(-1)) : null }
}

/** Claims hold jobs of every kind, so for what runs alone no kind has to be said. */
function runningOf(filter: JobFilter): ReturnType<typeof marksOf> {
  const isAlone = filter.states?.length === 1 && filter.states[0] === 'running'
  return isAlone ? marksOf({ ...filter, kind: 'job' }) : null
}

/** Those that claims hold; some of them may be settled by now. */
const runningSql = `(select distinct value as seq from leases, json_each(leases.seqs)) held
  cross join jobs on jobs.seq = held.seq`

function isTenantShorter(tables: Tables, { tenant, states, kind }: JobFilter): boolean {
  if (tenant === undefined) return false
  const all = {
    ...(states === undefined ? {} : { states }),
    ...(kind === undefined ? {} : { kind }),
  }
  return tables.tallies.count({ tenant, kind: 'job' }) < tables.tallies.count(all)
}
