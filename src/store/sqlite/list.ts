// Jobs by id, and the moment the next one is due.

import type { Job } from '../../core/job.ts'
import { earlier, type Instant } from '../../core/time.ts'
import type { Line } from '../store.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

export function get(tables: Tables, ids: readonly string[]): Job[] {
  return tables.read(() => tables.ofIds(ids))
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

export function setQueuePaused(tables: Tables, queue: string, isPaused: boolean): void {
  tables.write(() =>
    tables
      .statement(
        `insert into queues (queue, paused) values (?, ?)
          on conflict (queue) do update set paused = excluded.paused`,
      )
      .run(toKey(queue), isPaused ? 1 : 0),
  )
}
