// Pages: one more row than asked for tells whether there is a next one.

import { offsetOf } from '../../core/stored/query.ts'
import type { Page, PageRequest } from '../port.ts'
import type { Operation, Row, Value } from './operation.ts'

/** The part of a query that is about the page: its bound, its order, its size. */
export interface Cut {
  /** A condition, or null on the first page. */
  readonly where: string | null
  readonly params: Value[]
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
}

/** `column` is what the cursor is made of; `toValue` turns a cursor into what it holds. */
export function cutBy(column: string, page: PageRequest, toValue: (cursor: string) => Value): Cut {
  const cursor = page.cursor ?? null
  const isNewest = page.newestFirst === true
  return {
    where: cursor === null ? null : `${column} ${isNewest ? '<' : '>'} ?`,
    params: cursor === null ? [] : [toValue(cursor)],
    order: isNewest ? 'desc' : 'asc',
    limit: page.limit + 1,
    offset: offsetOf(page) ?? 0,
  }
}

interface Cutting<T> {
  readonly limit: number
  /** Of the rows the page holds. */
  readonly items: readonly T[]
  readonly mark: (row: Row) => string
}

/** Rows that were read with one more than the limit. */
export function pageOf<T>(rows: readonly Row[], { limit, items, mark }: Cutting<T>): Page<T> {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { items: [...items], cursor: last === undefined ? null : mark(last) }
}

/** What fits among the rows of a batch, in their order. */
export interface Batch<T> {
  readonly found: readonly { readonly mark: string; readonly item: T }[]
  /** The row it ended with; null when nothing that fits can follow. */
  readonly last: string | null
}

/** Rows looked at in one statement: what a page needs at first, more where few of them fit. */
const BATCH_MIN = 50
const BATCH_MAX = 500

/**
 * A page of what fits, where no index leads to it: rows are read in batches until enough fit, none
 * are left, or enough were looked at.
 */
export function* scan<T>(
  page: PageRequest,
  scanMax: number,
  read: (cursor: string | null, count: number) => Operation<Batch<T>>,
): Operation<Page<T>> {
  const from = offsetOf(page) ?? 0
  const needed = from + page.limit + 1
  let count = Math.min(BATCH_MAX, Math.max(BATCH_MIN, needed))
  const found: { mark: string; item: T }[] = []
  let cursor = page.cursor ?? null
  for (let looked = 0; looked < scanMax && found.length < needed;) {
    const next = yield* read(cursor, count)
    looked += count
    count = Math.min(BATCH_MAX, 2 * count, scanMax - looked)
    found.push(...next.found)
    cursor = next.last
    if (cursor === null) break
  }
  const kept = found.slice(from, from + page.limit)
  const last = kept.at(-1)
  const hasMore = found.length > from + kept.length && last !== undefined
  return { items: kept.map(({ item }) => item), cursor: hasMore ? last.mark : cursor }
}

/** `where …` out of the conditions that are there. */
export function whereAll(conditions: readonly (string | null)[]): string {
  const held = conditions.filter(condition => condition !== null)
  return held.length === 0 ? '' : `where ${held.join(' and ')}`
}
