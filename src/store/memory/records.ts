// Keyed records in memory.

import type { RecordWrite, StoredRecord } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest, PutResult } from '../port.ts'
import { pageOf, type Rows } from './rows.ts'

function live(record: StoredRecord | undefined, now: Instant): StoredRecord | null {
  if (!record || (record.expireAt !== null && record.expireAt <= now)) return null
  return record
}

export function recordFits(rows: Rows, write: RecordWrite, now: Instant): boolean {
  if (write.expectedVersion === null) return true
  const held = live(rows.records.get(write.kind)?.get(write.key), now)
  return (held?.version ?? 0) === write.expectedVersion
}

/** What was removed or has expired is not there: the next record under its key begins again. */
export function putRecord(rows: Rows, write: RecordWrite, now: Instant): void {
  const ofKind = rows.records.get(write.kind) ?? new Map<string, StoredRecord>()
  rows.records.set(write.kind, ofKind)
  if (write.remove) {
    ofKind.delete(write.key)
    return
  }
  const { kind, key, value, expireAt } = write
  const version = (live(ofKind.get(key), now)?.version ?? 0) + 1
  ofKind.set(key, { kind, key, value, expireAt, version })
}

export function putRecords(rows: Rows, writes: readonly RecordWrite[], now: Instant): PutResult[] {
  return writes.map(write => {
    if (!recordFits(rows, write, now)) return 'conflict'
    putRecord(rows, write, now)
    return 'put'
  })
}

export function getRecords(
  rows: Rows,
  kind: string,
  keys: readonly string[],
  now: Instant,
): StoredRecord[] {
  const ofKind = rows.records.get(kind)
  return keys.flatMap(key => live(ofKind?.get(key), now) ?? [])
}

export function listRecords(
  rows: Rows,
  kind: string,
  page: PageRequest,
  now: Instant,
): Page<StoredRecord> {
  const held = [...(rows.records.get(kind)?.values() ?? [])].filter(record => live(record, now))
  held.sort((a, b) => (a.key < b.key ? -1 : 1))
  return pageOf(held, page, record => record.key)
}
