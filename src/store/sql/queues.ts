// Queues: which are paused.

import { fromKey, toKey } from '../shared/text.ts'
import { rowsOf, type Operation } from './operation.ts'

export function* pausedQueues(): Operation<string[]> {
  const rows = yield* rowsOf<[string]>('select queue from queues where paused = 1')
  return rows.map(([queue]) => fromKey(queue)).sort()
}

export function* setQueuePaused(queue: string, isPaused: boolean): Operation<void> {
  yield* rowsOf(
    `insert into queues (queue, paused) values (?, ?)
      on conflict (queue) do update set paused = excluded.paused`,
    toKey(queue),
    isPaused ? 1 : 0,
  )
}
