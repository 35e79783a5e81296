// Prunes by retention and tells the others that this node is there.

import type { JsonObject } from '../core/json.ts'
import { NODE_KIND } from '../core/record.ts'
import type { Instant } from '../core/time.ts'
import { forgetStep, lastSeen } from './clock-epochs.ts'
import type { Parts } from './parts.ts'

export { NODE_KIND }

const PRUNE_BITE = 1_000
/** Bites in one go; what is left waits for the next round. */
const PRUNE_BITES_MAX = 20

export async function pruneAll(parts: Parts): Promise<void> {
  const { store, clock, settings, events } = parts
  for (let bite = 0; bite < PRUNE_BITES_MAX; bite++) {
    const pruned = await store.prune({
      now: clock.now(),
      limit: PRUNE_BITE,
      endedTasksMax: settings.endedTasksMax,
    })
    if (pruned.attempts + pruned.jobs + pruned.records > 0) events.emit('pruned', pruned)
    if (!pruned.isFull) return
  }
}

/** The record lapses by itself when its node is gone. */
export async function announce(parts: Parts, facts: JsonObject, lapsesAt: Instant): Promise<void> {
  const { store, clock, settings } = parts
  forgetStep(parts)
  const write = {
    kind: NODE_KIND,
    key: settings.nodeId,
    value: facts,
    expectedVersion: null,
    expireAt: lapsesAt,
  }
  await store.putRecords([write, lastSeen(clock.now())], clock.now())
}

export async function retire(parts: Parts): Promise<void> {
  const { store, clock, settings } = parts
  const write = {
    kind: NODE_KIND,
    key: settings.nodeId,
    value: null,
    expectedVersion: null,
    expireAt: null,
    remove: true,
  }
  await store.putRecords([write, lastSeen(clock.now())], clock.now())
  await parts.declarations.retire()
}
