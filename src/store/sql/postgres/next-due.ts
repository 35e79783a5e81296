// The next time of some routes, in one statement.

import type { Instant } from '../../../core/time.ts'
import type { Route } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import { READY_SOUGHT } from '../due.ts'
import { texts } from './arrays.ts'
import type { Session } from './session.ts'

/** What a claim has seen is ready since, so with `seenAt` only what is delayed can be news. */
const nextDueSql = (seenAt: Instant | undefined) => `select min(least(
    (select s.due_at from job_states s
      where s.ready = 0 and s.queue = g.queue and s.handler = g.handler
      order by s.due_at limit 1)${seenAt === undefined ? `, ${readySql}` : ''}))
  from unnest(?::text[], ?::text[]) g (queue, handler)
  where not exists (select 1 from queues q where q.queue = g.queue and q.paused = 1)`

const readySql = `(select min(r.due_at) from (select s.due_at from job_states s
  where s.ready = 1 and s.queue = g.queue and s.handler = g.handler limit ${READY_SOUGHT}) r)`

export async function nextDueAt(
  session: Session,
  lines: readonly Route[],
  seenAt?: Instant,
): Promise<Instant | null> {
  if (lines.length === 0) return null
  const [row] = await session.statement(nextDueSql(seenAt), [
    texts(lines.map(({ queue }) => toKey(queue))),
    texts(lines.map(({ handler }) => toKey(handler))),
  ])
  return row![0] as Instant | null
}
