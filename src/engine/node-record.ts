// The record by which a node announces itself to all others, until it ends or lapses.

import type { JsonObject } from '../core/json.ts'
import { NODE_KIND } from '../core/record.ts'
import type { Instant } from '../core/time.ts'
import { forgetStep, lastSeen } from './clock-epochs.ts'
import type { Parts } from './parts.ts'

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
