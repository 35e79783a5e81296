// From records to rows: what a field holds as text, and the key by which a repeat is known.

import { createHash } from 'node:crypto'
import type { Steps } from '../actions/slices.ts'
import { answerText } from './answer-text.ts'
import { ExactNumber } from './json-answer.ts'
import { valueAt } from './path.ts'
import type { Field } from './source.ts'
import type { Row } from './tables.ts'

/** Characters of all rows of a page: fields may hold parts of each other. */
const TEXT_MAX = 32 * 1024 * 1024
/** Fields read between two steps, and characters of them. */
const FIELDS_PER_STEP = 100
const LENGTH_PER_STEP = 128 * 1024

export function* rowsOf(records: readonly unknown[], fields: readonly Field[]): Steps<Row[]> {
  const order = fields.map((_, i) => i).sort((a, b) => compare(fields[a]!, fields[b]!))
  const rows: Row[] = []
  let length = 0
  let [fieldsLeft, lengthLeft] = [FIELDS_PER_STEP, LENGTH_PER_STEP]
  for (const record of records) {
    const values: (string | null)[] = []
    for (const { source } of fields) {
      const value = yield* textOf(valueAt(record, source))
      values.push(value)
      length += value?.length ?? 0
      lengthLeft -= value?.length ?? 0
      if (length > TEXT_MAX) {
        throw new Error(`the mapped fields of a page have more than ${TEXT_MAX} characters`)
      }
      if (--fieldsLeft > 0 && lengthLeft > 0) continue
      ;[fieldsLeft, lengthLeft] = [FIELDS_PER_STEP, LENGTH_PER_STEP]
      yield
    }
    rows.push({ key: yield* keyOf(values, fields, order), values })
  }
  return rows
}

const NAMES_SHOWN = 10
const NAME_SHOWN_MAX = 60

const RECORDS_PER_STEP = 50

/** Whether a page has records, and none of them any of the mapped fields: then what was meant is gone. */
export function* driftOf(
  records: readonly unknown[],
  fields: readonly Field[],
): Steps<string | null> {
  if (records.length === 0) return null
  for (const [i, record] of records.entries()) {
    if (i % RECORDS_PER_STEP === 0) yield
    if (fields.some(({ source }) => valueAt(record, source) !== undefined)) return null
  }
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
function* textOf(value: unknown): Steps<string | null> {
  if (value === undefined || value === null) return null
  return clean(typeof value === 'string' ? value : yield* answerText(value))
}

/** No database keeps lone surrogates and NUL in a text. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/**
 * SHA-256 of the list of columns and values as JSON, over the columns that hold something: a field
 * that is added later does not change old keys.
 */
function* keyOf(
  values: readonly (string | null)[],
  fields: readonly Field[],
  order: readonly number[],
): Steps<string> {
  const hash = createHash('sha256').update('[')
  let isFirst = true
  for (const i of order) {
    const value = values[i]!
    if (value === null) continue
    hash.update((isFirst ? '' : ',') + JSON.stringify([fields[i]!.target, value]))
    isFirst = false
    if (value.length > LENGTH_PER_STEP) yield
  }
  return hash.update(']').digest('hex')
}

/** Equal for pages that hold the same records in the same order. */
export function fingerprint(rows: readonly Row[]): string {
  const hash = createHash('sha256')
  for (const { key } of rows) hash.update(key)
  return hash.digest('hex').slice(0, 16)
}
