// Pages: one more row than asked for tells whether there is a next one.

import { offsetOf } from '../../core/query.ts'
import type { Page, PageRequest } from '../store.ts'
import type { Row, Value } from '../sql/sqlite/driver.ts'

/** The part of a query that is about the page: its bound, its order, its size. */
export interface Cut {
  /** A condition, or null on the first page. */
  readonly where: string | null
  readonly values: Value[]
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
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
    offset: offsetOf(page) ?? 0,
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

/** What fits among the rows of a bite, in their order. */
export interface Bite<T> {
  readonly found: readonly { readonly mark: string; readonly item: T }[]
  /** The row it ended with; null when nothing that fits can follow. */
  readonly last: string | null
}

/** Rows looked at in one statement: what a page needs at first, more where few of them fit. */
const BITE_MIN = 50
const BITE_MAX = 500

/**
 * A page of what fits, where no index leads to it: rows are read in bites until enough fit, none
 * are left, or enough were looked at.
 */
export function walk<T>(
  page: PageRequest,
  scanMax: number,
  read: (cursor: string | null, bite: number) => Bite<T>,
): Page<T> {
  const from = offsetOf(page) ?? 0
  const needed = from + page.limit + 1
  let bite = Math.min(BITE_MAX, Math.max(BITE_MIN, needed))
  const found: { mark: string; item: T }[] = []
  let cursor = page.cursor ?? null
  for (let looked = 0; looked < scanMax && found.length < needed;) {
    const next = read(cursor, bite)
    looked += bite
    bite = Math.min(BITE_MAX, 2 * bite, scanMax - looked)
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
