// Pages: one more row than asked for tells whether there is a next one.

import type { Page, PageRequest } from '../store.ts'
import type { Row, Value } from './driver.ts'

/** The part of a query that is about the page: its bound, its order, its size. */
export interface Cut {
  /** A condition, or null on the first page. */
  readonly where: string | null
  readonly values: Value[]
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** `mark` is the column the cursor is made of; `toValue` turns a cursor into what it holds. */
export function cutBy(mark: string, page: PageRequest, toValue: (cursor: string) => Value): Cut {
  const cursor = page.cursor ?? null
  const isNewest = page.newestFirst === true
  return {
    where: cursor === null ? null : `${mark} ${isNewest ? '<' : '>'} ?`,
    values: cursor === null ? [] : [toValue(cursor)],
    order: isNewest ? 'desc' : 'asc',
    limit: page.limit + 1,
  }
}

export function pageOf<T>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => T,
  toMark: (row: Row) => string,
): Page<T> {
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  const hasMore = rows.length > kept.length && last !== undefined
  return { items: kept.map(toItem), cursor: hasMore ? toMark(last) : null }
}

/** `where …` out of the conditions that are there. */
export function whereAll(conditions: readonly (string | null)[]): string {
  const held = conditions.filter(condition => condition !== null)
  return held.length === 0 ? '' : `where ${held.join(' and ')}`
}
