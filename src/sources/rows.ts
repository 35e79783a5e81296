// From records to rows: what a field holds as text, and the key by which a repeat is known.

import { createHash } from 'node:crypto'
import type { Steps } from '../actions/slices.ts'
import { answerText, ExactNumber } from './json-answer.ts'
import { valueAt } from './path.ts'
import type { Field } from './source.ts'
import type { Row } from './tables.ts'

/** Characters of all rows of a page: fields may hold parts of each other. */
const TEXT_MAX = 32 * 1024 * 1024
const RECORDS_PER_STEP = 10

export function* rowsOf(records: readonly unknown[], fields: readonly Field[]): Steps<Row[]> {
  const order = fields.map((_, i) => i).sort((a, b) => compare(fields[a]!, fields[b]!))
  const rows: Row[] = []
  let length = 0
  for (const [i, record] of records.entries()) {
    if (i % RECORDS_PER_STEP === 0) yield
    const values = fields.map(({ source }) => textOf(valueAt(record, source)))
    for (const value of values) length += value?.length ?? 0
    if (length > TEXT_MAX) {
      throw new Error(`the mapped fields of a page have more than ${TEXT_MAX} characters`)
    }
    rows.push({ key: keyOf(values, fields, order), values })
  }
  return rows
}

const NAMES_SHOWN = 10
const NAME_SHOWN_MAX = 60

/** Whether a page has records, and none of them any of the mapped fields: then what was meant is gone. */
export function driftOf(records: readonly unknown[], fields: readonly Field[]): string | null {
  const isMapped = (record: unknown) =>
    fields.some(({ source }) => valueAt(record, source) !== undefined)
  if (records.length === 0 || records.some(isMapped)) return null
  const wanted = listed(fields.map(({ source }) => source))
  return `no record has any of the mapped fields (${wanted}); ${foundIn(records[0])}`
}

function foundIn(record: unknown): string {
  if (Array.isArray(record)) return 'the first one is a list'
  if (typeof record !== 'object' || record === null || record instanceof ExactNumber) {
    return `the first one is no object but ${record === null ? 'null' : `a ${kindOf(record)}`}`
  }
  const names = Object.keys(record)
  return names.length === 0 ? 'the first one is empty' : `the first one has ${listed(names)}`
}

function kindOf(value: unknown): string {
  return value instanceof ExactNumber ? 'number' : typeof value
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).map(name => name.slice(0, NAME_SHOWN_MAX))
  return shown.join(', ') + (names.length > NAMES_SHOWN ? ', …' : '')
}

function compare(a: Field, b: Field): number {
  return a.target < b.target ? -1 : 1
}

/** Texts as they are, nothing as null, everything else as JSON. */
export function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return clean(typeof value === 'string' ? value : answerText(value))
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
