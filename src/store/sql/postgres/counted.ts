// How a statement that writes many jobs counts them: the jobs of one tenant, queue, handler, kind and state
// together, those that were written in the end.

import type { CountKey } from '../dialect.ts'
import type { Value } from '../operation.ts'
import { columnsOf, unnested, type Column, type Table } from './columns.ts'

const keyColumns = columnsOf('tenant, queue, handler, kind, state')

/** Numbers the keys of jobs from one, each distinct key once. */
export class CountGroups {
  readonly #numbers = new Map<string, number>()
  readonly #rows: Value[][] = []

  numberOf({ tenant, queue, handler, kind, state }: CountKey): number {
    // Keys hold no U+0000.
    const name = `${state}\0${kind}\0${handler}\0${queue}\0${tenant}`
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#rows.push([tenant, queue, handler, kind, state])
    this.#numbers.set(name, this.#rows.length)
    return this.#rows.length
  }

  table(): Table {
    return unnested(keyColumns, this.#rows)
  }
}

export const groupColumn: Column = { name: 'count_group', type: 'number' }

/** A part of a statement. `written` has a column `count_group`; `before` is the state the jobs leave. */
export function countedSql(keys: Table, written: string, before: string | null): string {
  const states =
    before === null
      ? '(values (k.state, g.count)) x (state, count)'
      : `(values (k.state, g.count), ('${before}', -g.count)) x (state, count)`
  return `counted as (
    insert into count_changes
      select k.tenant, k.queue, k.handler, k.kind, x.state, x.count, 0
        from (select count_group, count(*) as count from ${written} group by count_group) g
        join ${keys.sql} with ordinality k (tenant, queue, handler, kind, state, n)
          on k.n = g.count_group
        cross join lateral ${states}
      returning 1)`
}
