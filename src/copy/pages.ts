// A dump from beginning to end, page after page, none much larger than the memory meant for it.

import type { Entry } from '../core/stored/entry.ts'
import { NODE_KIND } from '../core/record.ts'
import type { Page, Store } from '../store/port.ts'
import type { Summing } from './sums.ts'

/** Records by which a copy knows itself again. */
export const COPY_KIND = 'copy'

/** Characters of JSON in a page from which on the next one is smaller. */
const PAGE_TEXT_MAX = 4 * 1024 * 1024
const PAGE_FIRST = 50

export interface PageOptions {
  /** Entries in a page at most. */
  readonly batch: number
  readonly sums: Summing
  /** How an entry counts; null if it does not. */
  readonly asTold?: (entry: Entry) => Entry | null
  readonly signal?: AbortSignal
}

/** What is about processes at work on a store, or about copies, stays where it is. */
function isCopied(entry: Entry): boolean {
  if (entry.type !== 'record') return true
  return entry.record.kind !== NODE_KIND && entry.record.kind !== COPY_KIND
}

/** Entries of a page are summed up when it is asked for. */
export async function* pagesOf(
  store: Store,
  { batch, sums, signal, asTold = entry => entry }: PageOptions,
): AsyncGenerator<readonly Entry[]> {
  let limit = Math.min(batch, PAGE_FIRST)
  let cursor: string | null = null
  do {
    signal?.throwIfAborted()
    const page: Page<Entry> = await store.maintenance.dump({ cursor, limit })
    const entries = page.items.filter(isCopied).flatMap(entry => asTold(entry) ?? [])
    let length = 0
    for (const entry of entries) length += sums.add(entry)
    if (entries.length > 0) yield entries
    limit = length > PAGE_TEXT_MAX ? Math.max(1, Math.floor(limit / 2)) : Math.min(batch, limit * 2)
    cursor = page.cursor
  } while (cursor !== null)
}
