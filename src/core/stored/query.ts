// What a question to a store means, so that all of them answer alike: what a search finds, how far
// an offset reaches, how long before a moment attempts are sought.

import type { Attempt } from '../attempt.ts'
import { refuse } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Instant, Millis } from '../time.ts'

/** `cursor` is the opaque mark a page ended with; order is that of creation. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: string | null
  readonly newestFirst?: boolean
  /**
   * Leaves out so many first, for callers that count instead of following cursors. Refused beyond
   * a named maximum.
   */
  readonly offset?: number
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Null on the last page. */
  readonly cursor: string | null
}

export interface Searched {
  readonly id: string
  readonly name: string
}

/** Upper case, because lower case may depend on the letters around. */
export function foldCase(text: string): string {
  return text.toUpperCase()
}

/** Part of the name or the start of the id, whatever the case. */
export function searchFor(search: string): (held: Searched) => boolean {
  const folded = foldCase(search)
  return ({ id, name }) => foldCase(name).includes(folded) || foldCase(id).startsWith(folded)
}

/** How many to leave out; null when nothing was said. */
export function offsetOf(page: { readonly offset?: number }): number | null {
  const { offset } = page
  if (offset === undefined) return null
  const isFine = Number.isInteger(offset) && offset >= 0 && offset <= limits.offsetMax
  const rule = `a whole number from 0 to ${limits.offsetMax}; follow the cursor to go further`
  refuse('QUERY_INVALID', 'page', isFine ? [] : [{ field: 'offset', value: offset, rule }])
  return offset
}

/** The number a cursor stands for, where cursors are numbers. */
export function numberMark(cursor: string): number {
  const mark = cursor.trim() === '' ? Number.NaN : Number(cursor)
  const rule = 'must be the cursor a page ended with'
  const problems = Number.isSafeInteger(mark) ? [] : [{ field: 'cursor', value: cursor, rule }]
  refuse('QUERY_INVALID', 'page', problems)
  return mark
}

/** Who counts instead of following cursors is owed whole pages, so more may be looked at. */
export function scanMaxOf(page: { readonly offset?: number }): number {
  return offsetOf(page) === null ? limits.scannedMax : limits.offsetMax
}

export interface Parts {
  readonly from: Instant
  readonly until: Instant
  /** How long each part is; the last may be shorter. */
  readonly widthMs: Millis
}

/** A count for each part of a window, none of them made yet. */
export function emptyParts({ from, until, widthMs }: Parts): number[] {
  const parts = until <= from ? 0 : Math.ceil((until - from) / widthMs)
  const isFine = widthMs > 0 && parts <= limits.partsMax
  const rule = `must part the window into at most ${limits.partsMax}`
  refuse('QUERY_INVALID', 'window', isFine ? [] : [{ field: 'widthMs', value: widthMs, rule }])
  return Array.from({ length: parts }, () => 0)
}

export interface FinishedWithin {
  readonly since?: Instant
  readonly until?: Instant
}

/** No attempt claimed before this is sought: it ends the walk back through the history. */
export function claimedSince(since: Instant): Instant {
  return since - limits.timeoutMsMax
}

export function isFinishedWithin(attempt: Attempt, { since, until }: FinishedWithin): boolean {
  const { claimedAt, finishedAt } = attempt
  if (until !== undefined && finishedAt >= until) return false
  return since === undefined || (finishedAt >= since && claimedAt >= claimedSince(since))
}
