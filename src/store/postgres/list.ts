// Jobs by id, and the moment the next one is due.

import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import type { Route } from '../port.ts'
import { texts } from './arrays.ts'
import { numberOrNull } from './columns.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

export async function get(tables: Tables, ids: readonly string[]): Promise<Job[]> {
  if (ids.length === 0) return []
  const sql = `${tables.selectJobs()} where j.id = any ($1)`
  const rows = await tables.connection.call(sql, [texts(ids.map(toKey))])
  const found = new Map(rows.map(row => tables.jobOf(row)).map(job => [job.id, job]))
  return ids.flatMap(id => found.get(id) ?? [])
}

/** What a claim has seen is ready since, so only what is not yet can be news. */
export async function nextDueAt(
  tables: Tables,
  routes: readonly Route[],
  seenAt?: Instant,
): Promise<Instant | null> {
  if (routes.length === 0) return null
  const [row] = await tables.connection.call(
    `select ${tables.connection.functionName('due')}($1, $2, $3)`,
    [
      texts(routes.map(route => toKey(route.queue))),
      texts(routes.map(route => toKey(route.handler))),
      seenAt !== undefined,
    ],
  )
  return numberOrNull(row![0])
}

export async function pausedQueues(tables: Tables): Promise<string[]> {
  const rows = await tables.connection.rows(
    `select queue from ${tables.schema}.queues where paused`,
  )
  return rows.map(([queue]) => fromKey(queue!)).sort()
}

export async function setQueuePaused(
  tables: Tables,
  queue: string,
  isPaused: boolean,
): Promise<void> {
  await tables.connection.rows(
    `insert into ${tables.schema}.queues (queue, paused) values ($1, $2)
      on conflict (queue) do update set paused = excluded.paused`,
    [toKey(queue), isPaused],
  )
}
