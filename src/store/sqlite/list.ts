// Jobs by id, and the moment the next one is due.

import type { Job } from '../../core/job.ts'
import { earlier, type Instant } from '../../core/time.ts'
import type { Line } from '../store.ts'
import { jobColumns } from './columns.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

const oneSql = `select ${jobColumns} from jobs where id = ?`
/** A call of a statement costs more than the row it finds: many are asked for at once. */
const manySql = `select ${jobColumns} from json_each(?) e cross join jobs on jobs.id = e.value`

export function get(tables: Tables, ids: readonly string[]): Job[] {
  return tables.read(() => {
    if (ids.length === 1) return tables.jobs(oneSql, toKey(ids[0]!))
    const found = tables.jobs(manySql, JSON.stringify(ids.map(toKey)))
    const byId = new Map(found.map(job => [job.id, job]))
    return ids.flatMap(id => byId.get(id) ?? [])
  })
}

/** Of more ready jobs than this the earliest is not sought: that one of them is due says enough. */
const READY_SOUGHT = 64

const nextDueSql = `select
  (select due_at from jobs indexed by timed where line = ?1 and ready = 0 order by due_at limit 1),
  (select min(due_at) from (select due_at from jobs indexed by ready
    where line = ?1 and ready = 1 limit ${READY_SOUGHT}))`

/** What a claim has seen is ready since, so only what is not yet can be news. */
const unseenSql = `select
  (select due_at from jobs indexed by timed where line = ?1 and ready = 0 order by due_at limit 1),
  null`

export function nextDueAt(
  tables: Tables,
  lines: readonly Line[],
  seenAt?: Instant,
): Instant | null {
  const sql = seenAt === undefined ? nextDueSql : unseenSql
  return tables.glance(() => {
    const paused = new Set(pausedQueues(tables))
    let moment: Instant | null = null
    for (const { queue, handler } of lines) {
      const line = paused.has(queue) ? null : tables.lines.find(queue, handler)
      if (line === null) continue
      const [timed, ready] = tables.statement(sql).get(line) as (number | null)[]
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
