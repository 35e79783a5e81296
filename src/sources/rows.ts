// From records to rows: what a field holds as text, and the key by which a repeat is known.

import { createHash } from 'node:crypto'
import { canonicalJson } from '../core/json.ts'
import { valueAt } from './path.ts'
import type { Field } from './source.ts'
import type { Row } from './tables.ts'

export function rowsOf(records: readonly unknown[], fields: readonly Field[]): Row[] {
  const order = fields.map((_, i) => i).sort((a, b) => compare(fields[a]!, fields[b]!))
  return records.map(record => {
    const values = fields.map(({ source }) => textOf(valueAt(record, source)))
    return { key: keyOf(values, fields, order), values }
  })
}

function compare(a: Field, b: Field): number {
  return a.target < b.target ? -1 : 1
}

/** Texts as they are, nothing as null, everything else as JSON. */
export function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return clean(typeof value === 'string' ? value : canonicalJson(value))
}

/** No database keeps these in a text. */
function clean(text: string): string {
  return text.replace(/\p{Cs}|\0/gu, '\uFFFD')
}

/** Over the columns that hold something: a field that is added later does not change old keys. */
function keyOf(
  values: readonly (string | null)[],
  fields: readonly Field[],
  order: readonly number[],
): string {
  const held = order
    .filter(i => values[i] !== null)
    .map(i => [fields[i]!.target, values[i]!] as const)
  return createHash('sha256').update(JSON.stringify(held)).digest('hex')
}

/** Equal for pages that hold the same records in the same order. */
export function fingerprint(rows: readonly Row[]): string {
  const hash = createHash('sha256')
  for (const { key } of rows) hash.update(key)
  return hash.digest('hex').slice(0, 16)
}
