// Removes what retention no longer keeps, in batches.

import type { Parts } from './parts.ts'

const BATCH = 1_000
/** Batches of one round; what is left waits for the next. */
const BATCHES_MAX = 20

export async function pruneAll(parts: Parts): Promise<void> {
  const { store, clock, settings, events } = parts
  for (let batch = 0; batch < BATCHES_MAX; batch++) {
    const pruned = await store.prune({
      now: clock.now(),
      limit: BATCH,
      endedTasksMax: settings.endedTasksMax,
    })
    if (pruned.attempts + pruned.jobs + pruned.records > 0) events.emit('pruned', pruned)
    if (!pruned.isFull) return
  }
}
