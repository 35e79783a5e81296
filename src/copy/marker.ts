// How far a copy came, kept in the store it goes into: what broke off is continued, by the same
// copy and no other.

import { SchedulerError } from '../core/errors.ts'
import type { Store } from '../store/port.ts'
import { COPY_KIND } from './pages.ts'
import type { Sums } from './sums.ts'

/**
 * Begun: no job is there yet. Held: every queue is, and jobs come in. Loaded: all is there and was
 * checked; what dead nodes left is settled, then the queues are given free.
 */
export type Marker =
  | { readonly source: string; readonly step: 'begun' | 'held' }
  | { readonly source: string; readonly step: 'loaded'; readonly sums: Sums }

const KEY = 'unfinished'

export async function readMarker(store: Store): Promise<Marker | null> {
  const [record] = await store.getRecords(COPY_KIND, [KEY], await store.now())
  return record ? (record.value as unknown as Marker) : null
}

export async function writeMarker(store: Store, marker: Marker | null): Promise<void> {
  const value = marker === null ? null : (JSON.parse(JSON.stringify(marker)) as never)
  const write = { kind: COPY_KIND, key: KEY, value, expectedVersion: null, expireAt: null }
  await store.putRecords([{ ...write, remove: marker === null }], await store.now())
}

export function refuseOther(marker: Marker, source: string, target: string): void {
  if (marker.source === source) return
  const what = `${target} holds an unfinished copy of ${marker.source}`
  throw new SchedulerError('STORE_NOT_EMPTY', `${what}; finish that one or choose another store`)
}
