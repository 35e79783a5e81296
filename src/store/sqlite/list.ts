// Jobs by id, by filter, by moment.

import type { Job } from '../../core/job.ts'
import { earlier, type Instant } from '../../core/time.ts'
import type { JobFilter, Line, Page, PageRequest } from '../store.ts'
import type { Value } from './driver.ts'
import { cutBy, pageOf, whereAll } from './paging.ts'
import { jobColumns, kinds, states } from './columns.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from './text.ts'

export function get(tables: Tables, ids: readonly string[]): Job[] {
  const sql = `select ${jobColumns} from jobs where id = ?`
  return tables.read(() => ids.flatMap(id => tables.jobs(sql, toKey(id))))
}

/** Of more ready jobs than this the earliest is not sought: that one of them is due says enough. */
const READY_SOUGHT = 64

const nextDueSql = `select
  (select due_at from jobs indexed by timed where line = ?1 and ready = 0 order by due_at limit 1),
  (select min(due_at) from (select due_at from jobs indexed by ready
    where line = ?1 and ready = 1 limit ${READY_SOUGHT}))`

export function nextDueAt(tables: Tables, lines: readonly Line[]): Instant | null {
  return tables.glance(() => {
    const paused = new Set(pausedQueues(tables))
    let moment: Instant | null = null
    for (const { queue, handler } of lines) {
      const line = paused.has(queue) ? null : tables.lines.find(queue, handler)
      if (line === null) continue
      const [timed, ready] = tables.statement(nextDueSql).get(line) as (number | null)[]
      moment = earlier(moment, earlier(timed!, ready!))
    }
    return moment
  })
}

export function pausedQueues(tables: Tables): string[] {
  return tables
    .statement('select queue from queues where paused = 1')
    .all()
    .map(row => fromKey(row[0] as string))
}

export function list(tables: Tables, filter: JobFilter, page: PageRequest): Page<Job> {
  return tables.read(() => {
    const cut = cutBy('jobs.seq', page, Number)
    const conditions = [...conditionsOf(tables, filter), { sql: cut.where, values: cut.values }]
    const needsSpec = [filter.tenant, filter.app, filter.definition].some(f => f !== undefined)
    const sql = `select ${jobColumns} from jobs
      ${needsSpec ? 'join specs on specs.seq = jobs.seq' : ''}
      ${whereAll(conditions.map(condition => condition.sql))}
      order by jobs.seq ${cut.order} limit ?`
    const rows = tables
      .statement(sql)
      .all(...conditions.flatMap(condition => condition.values), cut.limit)
    return pageOf(
      rows,
      page.limit,
      row => tables.jobOf(row),
      row => String(row[0]),
    )
  })
}

interface Condition {
  readonly sql: string | null
  readonly values: Value[]
}

function conditionsOf(tables: Tables, filter: JobFilter): Condition[] {
  const { ids, kind, states: wanted, queue, handler } = filter
  const conditions: Condition[] = []
  const among = (column: string, values: readonly Value[]) => {
    const sql = `${column} in (select value from json_each(?))`
    conditions.push({ sql, values: [JSON.stringify(values)] })
  }
  const equal = (column: string, value: string | undefined) => {
    if (value !== undefined) conditions.push({ sql: `${column} = ?`, values: [toKey(value)] })
  }
  if (ids !== undefined) among('jobs.id', ids.map(toKey))
  if (kind !== undefined) conditions.push({ sql: 'jobs.kind = ?', values: [kinds.indexOf(kind)] })
  if (wanted !== undefined)
    among(
      'jobs.state',
      wanted.map(state => states.indexOf(state)),
    )
  if (queue !== undefined) among('jobs.line', tables.lines.ofQueue(queue))
  if (handler !== undefined) among('jobs.line', tables.lines.ofHandler(handler))
  equal('jobs.series', filter.seriesId)
  equal('specs.tenant', filter.tenant)
  equal('specs.app', filter.app)
  equal('specs.definition', filter.definition)
  return conditions
}
