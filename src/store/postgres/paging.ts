// Queries put together from what is asked, and their pages: one more row than asked for tells
// whether there is a next one.

import { offsetOf } from '../../core/query.ts'
import type { Page, PageRequest } from '../port.ts'
import type { Row } from './columns.ts'
import type { Value } from './connection.ts'

export class Query {
  readonly values: Value[]
  readonly #conditions: string[] = []

  /** With the parameters another part of the same statement has already. */
  constructor(values: Value[] = []) {
    this.values = values
  }

  /** Gives the parameter it becomes. */
  value(value: Value): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  where(condition: string): void {
    this.#conditions.push(condition)
  }

  get conditions(): string {
    return this.#conditions.length === 0 ? '' : `where ${this.#conditions.join(' and ')}`
  }

  /**
   * Adds the bound of the page and gives its order and size. `key` is the column before the mark in
   * the index that leads there: with a value of it asked for as a range, and as part of the order,
   * no other index will do, however common the server believes that value to be.
   */
  // oxlint-disable-next-line max-params -- the index is named only where there is a choice
  cut(
    mark: string,
    page: PageRequest,
    toValue: (cursor: string) => Value,
    key: string | null = null,
  ): string {
    const isNewest = page.newestFirst === true
    const cursor = page.cursor ?? null
    if (cursor !== null)
      this.where(`${mark} ${isNewest ? '<' : '>'} ${this.value(toValue(cursor))}`)
    const offset = offsetOf(page) ?? 0
    const skipped = offset > 0 ? ` offset ${this.value(offset)}` : ''
    const columns = key === null ? [mark] : [key, mark]
    const order = columns.map(column => `${column} ${isNewest ? 'desc' : 'asc'}`).join(', ')
    return `order by ${order} limit ${this.value(page.limit + 1)}${skipped}`
  }
}

/** Everything up to the end of the page. */
export function wholeOf(page: PageRequest): PageRequest {
  return { ...page, limit: page.limit + (offsetOf(page) ?? 0), offset: 0 }
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
