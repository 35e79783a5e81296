// The strict POSIX dialect (spec E2): five fields of `*` or lists of numbers and ascending ranges.
import { CronError, quote } from './errors.ts'
import {
  FIVE_FIELDS,
  HOUR,
  MACROS,
  MINUTE,
  MONTH,
  MONTH_DAY,
  WEEKDAY,
  bitsOf,
  fullRange,
  rangeValues,
  readNumber,
  refuse,
  sortedUnique,
  splitList,
  tokenize,
} from './fields.ts'
import type { FieldSource, FieldSpec, Token } from './fields.ts'
import type { CronFields, FieldValues } from './types.ts'

export function parsePosix(expression: string): CronFields {
  const tokens = tokenize(expression)
  const macro = tokens[0]!
  if (macro.text.startsWith('@')) {
    const written = MACROS[macro.text.toLowerCase()]
    const hint = written === undefined ? null : `write ${written}`
    const reason = 'macros are not POSIX cron'
    throw new CronError({ expression, reason, column: macro.column, hint })
  }
  if (tokens.length !== FIVE_FIELDS.length) {
    const hint = tokens.length === 6 ? 'seconds need the extended dialect' : null
    const reason = `five fields are needed, found ${tokens.length}`
    throw new CronError({ expression, reason, hint })
  }
  const read = (spec: FieldSpec, index: number): FieldValues | null =>
    readField({ expression, spec, token: tokens[index]! })
  const minute = read(MINUTE, 0)
  const hour = read(HOUR, 1)
  const days = read(MONTH_DAY, 2)
  const month = read(MONTH, 3)
  const weekdays = read(WEEKDAY, 4)
  return {
    second: [0],
    minute: minute ?? fullRange(MINUTE),
    hour: hour ?? fullRange(HOUR),
    monthDays: days && {
      days: bitsOf(days, 1),
      fromLast: 0,
      nearestWeekday: 0,
      lastWeekday: false,
      stepped: false,
    },
    month: month ?? fullRange(MONTH),
    weekDays: weekdays && {
      days: bitsOf(weekdays, 0),
      last: 0,
      nth: [0, 0, 0, 0, 0],
      stepped: false,
    },
    elapsed: minute === null || hour === null,
  }
}

// Null for `*`.
function readField(source: FieldSource): FieldValues | null {
  if (source.token.text === '*') return null
  return sortedUnique(splitList(source).flatMap(item => readItem(source, item)))
}

function readItem(source: FieldSource, item: Token): number[] {
  refuseExtensions(source, item)
  const dash = item.text.indexOf('-')
  if (dash <= 0) return [readNumber(source, item)]
  const low = readNumber(source, { text: item.text.slice(0, dash), column: item.column })
  const end = { text: item.text.slice(dash + 1), column: item.column + dash + 1 }
  const high = readNumber(source, end)
  if (low > high) refuse(source, item, `range ${quote(item.text)} descends`, `write it ascending`)
  return rangeValues(low, high, 1)
}

function refuseExtensions(source: FieldSource, item: Token): void {
  const { text } = item
  const { spec } = source
  if (text === '*') refuse(source, item, '* cannot be part of a list', '* alone means every value')
  if (text.includes('/')) {
    refuse(source, item, `steps such as ${quote(text)} are not POSIX cron`, 'list the values')
  }
  const named = spec.names.indexOf(text.slice(0, 3).toUpperCase())
  if (named >= 0) {
    const hint = `${text.slice(0, 3)} is ${named + spec.min}`
    refuse(source, item, `names such as ${quote(text)} are not POSIX cron`, hint)
  }
  if (/[?LW#]/i.test(text)) refuse(source, item, `${quote(text)} is not POSIX cron`)
  if (spec === WEEKDAY && text === '7') refuse(source, item, '7 is out of range', 'Sunday is 0')
}
