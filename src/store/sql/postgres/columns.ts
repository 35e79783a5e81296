// Many rows as one table in a statement: an array for each column, all numbers or all texts. Texts of JSON
// are joined instead, at a character JSON never holds as it is: quoting them costs more than all the rest.

import type { Value } from '../operation.ts'
import { joined, numbers, texts } from './arrays.ts'

export type ColumnType = 'number' | 'text' | 'json'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

const jsonColumns: ReadonlySet<string> = new Set(['spec', 'declared', 'detail', 'value'])
const textColumns: ReadonlySet<string> = new Set([
  'id',
  'kind',
  'series_id',
  'tenant',
  'queue',
  'handler',
  'lane',
  'name',
  'app',
  'definition',
  'state',
  'waiting_for',
  'token',
  'owner',
  'attempt_id',
  'origin',
  'outcome',
  'reason',
  'key',
])

/** A list such as the shared operations have them; the name says what a column holds. */
export function columnsOf(list: string, prefix = ''): Column[] {
  return list.split(',').map(part => {
    const name = part.trim()
    const type = jsonColumns.has(name) ? 'json' : textColumns.has(name) ? 'text' : 'number'
    return { name: prefix + name, type }
  })
}

export interface Table {
  /** Behind `from`; the alias follows. */
  readonly sql: string
  readonly params: readonly string[]
}

const sources: Readonly<Record<ColumnType, string>> = {
  number: '?::bigint[]',
  text: '?::text[]',
  json: `string_to_array(?::text, E'\\x1f', '')`,
}

/** Rows in the order of the columns. */
export function unnested(columns: readonly Column[], rows: readonly (readonly Value[])[]): Table {
  return {
    sql: `unnest(${columns.map(({ type }) => sources[type]).join(', ')})`,
    params: columns.map(({ type }, at) =>
      listOf(
        type,
        rows.map(row => row[at]!),
      ),
    ),
  }
}

function listOf(type: ColumnType, values: readonly Value[]): string {
  if (type === 'number') return numbers(values as (number | null)[])
  return type === 'text' ? texts(values as (string | null)[]) : joined(values as (string | null)[])
}
