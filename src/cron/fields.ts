// What both dialects share: the fields with their ranges, splitting into tokens, plain numbers.
import { CronError, MAX_EXPRESSION_LENGTH, quote } from './errors.ts'
import type { FieldValues } from './types.ts'

export type FieldName = 'second' | 'minute' | 'hour' | 'day of month' | 'month' | 'weekday'

export interface FieldSpec {
  readonly name: FieldName
  readonly plural: string
  readonly min: number
  readonly max: number
  /** Accepted names in order of their value, starting at `min`. */
  readonly names: readonly string[]
}

/** A piece of the expression with its 1-based column. */
export interface Token {
  readonly text: string
  readonly column: number
}

/** One field of one expression while it is being read. */
export interface FieldSource {
  readonly expression: string
  readonly spec: FieldSpec
  readonly token: Token
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

export const SECOND = spec('second', 'seconds', 0, 59)
export const MINUTE = spec('minute', 'minutes', 0, 59)
export const HOUR = spec('hour', 'hours', 0, 23)
export const MONTH_DAY = spec('day of month', 'days of the month', 1, 31)
export const MONTH: FieldSpec = { ...spec('month', 'months', 1, 12), names: MONTHS }
export const WEEKDAY: FieldSpec = { ...spec('weekday', 'weekdays', 0, 6), names: WEEKDAYS }

/** The five fields every expression has, in order. */
export const FIVE_FIELDS = [MINUTE, HOUR, MONTH_DAY, MONTH, WEEKDAY] as const

export const MACROS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

/** Refuses what is not even a candidate: no string, or too long to look at. */
export function checkInput(expression: unknown): void {
  if (typeof expression !== 'string') {
    const reason = 'the expression is not a string'
    throw new CronError({ expression: String(expression), reason })
  }
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    const reason = `longer than ${MAX_EXPRESSION_LENGTH} characters`
    throw new CronError({ expression, reason })
  }
}

/** Splits at blanks and tabs, ignoring them at both ends. */
export function tokenize(expression: string): Token[] {
  // Anything outside printable ASCII and tab: NBSP, line ends, other alphabets' digits, NUL.
  const strange = /[^\t\x20-\x7e]/u.exec(expression)
  if (strange !== null) {
    const code = strange[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    const reason = `character U+${code} is not allowed`
    const hint = 'separate fields with blanks or tabs and use ASCII only'
    throw new CronError({ expression, reason, column: strange.index + 1, hint })
  }
  const found = expression.matchAll(/[^ \t]+/g)
  const tokens = Array.from(found, ({ 0: text, index }) => ({ text, column: index + 1 }))
  if (tokens.length === 0) throw new CronError({ expression, reason: 'the expression is empty' })
  return tokens
}

/** Comma-separated items with their columns; an empty item is refused. */
export function splitList(source: FieldSource): Token[] {
  let { column } = source.token
  return source.token.text.split(',').map(text => {
    const item = { text, column }
    column += text.length + 1
    if (text === '') refuse(source, item, 'an item of the list is empty')
    return item
  })
}

export function refuse(source: FieldSource, at: Token, reason: string, hint?: string): never {
  throw new CronError({
    expression: source.expression,
    field: source.spec.name,
    reason,
    column: at.column,
    hint: hint ?? null,
  })
}

/** An unsigned whole number within the field's range; `max` may widen it. */
export function readNumber(source: FieldSource, at: Token, max = source.spec.max): number {
  const { name, plural, min } = source.spec
  if (!/^[0-9]+$/.test(at.text)) refuse(source, at, `${quote(at.text)} is not a ${name}`)
  const value = Number(at.text)
  if (value < min || value > max) {
    refuse(source, at, `${quote(at.text)} is out of range`, `${plural} are ${min}–${max}`)
  }
  return value
}

export function fullRange({ min, max }: FieldSpec): FieldValues {
  return rangeValues(min, max, 1)
}

export function rangeValues(from: number, to: number, step: number): number[] {
  const values: number[] = []
  for (let value = from; value <= to; value += step) values.push(value)
  return values
}

export function sortedUnique(values: readonly number[]): FieldValues {
  return [...new Set(values)].toSorted((a, b) => a - b)
}

/** Bit value-base for each value. */
export function bitsOf(values: readonly number[], base: number): number {
  return values.reduce((bits, value) => bits | (1 << (value - base)), 0)
}

function spec(name: FieldName, plural: string, min: number, max: number): FieldSpec {
  return { name, plural, min, max, names: [] }
}
