// When the next job falls due. A node asks after every look, and planning the question anew each
// time took ten times as long as answering it.

import { made } from './made.ts'

/** Of more ready jobs than this the earliest is not sought: that one of them is due says enough. */
const READY_SOUGHT = 64

export const dueFunction = (s: string): string =>
  made(s, {
    name: 'due_1',
    parameters: 'p_queues text[], p_handlers text[], p_is_timed boolean',
    returns: 'bigint',
    body: `return (select min(least(
        (select m.at from ${s}.moments m where m.what = 0 and m.line = l.id order by m.at limit 1),
        case when not p_is_timed then (select min(r.at) from (
          select m.at from ${s}.moments m where m.what = 1 and m.line = l.id
            limit ${READY_SOUGHT}) r) end))
      from unnest(p_queues, p_handlers) g (queue, handler)
      join ${s}.lines l on l.queue = g.queue and l.handler = g.handler
      where not exists (select 1 from ${s}.queues q where q.queue = g.queue and q.paused));`,
  })
