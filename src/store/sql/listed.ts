// Jobs by state, led to by an index: as many numbers of each class as a page needs, then merged.
// A class does not change while a schedule runs, so keeping the index costs running nothing.

import type { State } from '../../core/job.ts'
import { numberMark, offsetOf } from '../../core/stored/query.ts'
import type { JobFilter, Page, PageRequest } from '../port.ts'
import { countOf } from './counts.ts'
import type { Condition, Sql } from './dialect.ts'
import { rowsOf, type Operation } from './operation.ts'
import { cutBy, whereAll } from './paging.ts'

/** What else must hold of a row of job_states, and of jobs if it is joined. */
export interface ListedRest {
  readonly all: readonly Condition[]
  readonly needsJobs: boolean
}

/** As the index has it. */
const listClass = `(case when s.state = 'waiting' and s.waiting_for = 'start' then 'unstarted'
  when s.state in ('waiting', 'running') then 'live' else s.state end)`

interface Listed {
  readonly class: string
  readonly state: State
}

/** Null when no index leads there, or the jobs of the tenant are fewer than those it leads to. */
// oxlint-disable-next-line max-params -- where, what, which of it, what else
export function* listedSeqs(
  sql: Sql,
  filter: JobFilter,
  page: PageRequest,
  rest: ListedRest,
): Operation<Page<number> | null> {
  const classes = classesOf(filter)
  if (classes === null || (yield* isTenantShorter(filter))) return null
  const offset = offsetOf(page) ?? 0
  const cut = cutBy('s.seq', { ...page, offset: 0 }, numberMark)
  const needed = page.limit + offset + 1
  const join = rest.needsJobs ? `${sql.dialect.crossJoin} jobs j on j.seq = s.seq` : ''
  const seqs: number[] = []
  const read = function* (index: string, conditions: readonly string[]): Operation<void> {
    const where = whereAll([...conditions, ...rest.all.map(one => one.sql), cut.where])
    const rows = yield* rowsOf<[number]>(
      `select s.seq from job_states s ${sql.dialect.useIndex(index)} ${join} ${where}
        order by s.seq ${cut.order} limit ?`,
      ...rest.all.flatMap(({ params }) => params),
      ...cut.params,
      needed,
    )
    for (const [seq] of rows) seqs.push(seq)
  }
  for (const { class: name, state } of classes) {
    const ofClass = [`${listClass} = '${name}'`, `s.state = '${state}'`]
    yield* read('job_states_listed', ["s.kind = 'job'", ...ofClass])
  }
  if (filter.states!.includes('running')) {
    const ofKind = filter.kind === undefined ? [] : [`s.kind = '${filter.kind}'`]
    const isRunning = ["s.state = 'running'", 's.until_at is not null']
    yield* read('job_states_until', [...isRunning, ...ofKind])
  }
  seqs.sort((a, b) => (cut.order === 'asc' ? a - b : b - a))
  const items = seqs.slice(offset, offset + page.limit)
  const hasMore = seqs.length > offset + items.length
  return { items, cursor: hasMore ? String(items.at(-1)) : null }
}

function classesOf(filter: JobFilter): Listed[] | null {
  const { ids, kind, seriesId, app, definition, search, states } = filter
  const isOther = [ids, seriesId, app, definition, search].some(field => field !== undefined)
  const isRunning = states?.length === 1 && states[0] === 'running'
  // Tasks, which come and go by the thousand, are not in the index.
  if (states === undefined || isOther || (kind !== 'job' && !isRunning)) return null
  return [...new Set(states)].flatMap(state => classesOfState(state, filter.isUnstarted))
}

/** Those that run are found by their leases. */
function classesOfState(state: State, isUnstarted: boolean | undefined): Listed[] {
  if (state === 'running') return []
  if (state !== 'waiting') return [{ class: state, state }]
  const unstarted = { class: 'unstarted', state }
  const live = { class: 'live', state }
  if (isUnstarted === undefined) return [unstarted, live]
  return [isUnstarted ? unstarted : live]
}

function* isTenantShorter({ tenant, states, kind }: JobFilter): Operation<boolean> {
  if (tenant === undefined) return false
  const all = {
    ...(states === undefined ? {} : { states }),
    ...(kind === undefined ? {} : { kind }),
  }
  return (yield* countOf({ tenant, kind: 'job' })) < (yield* countOf(all))
}
