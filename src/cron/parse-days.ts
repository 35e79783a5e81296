// The two day fields of the extended dialect with their L, W, # and ? forms.
import { quote } from './errors.ts'
import { bitsOf, readNumber, refuse, splitList } from './fields.ts'
import type { FieldSource, Token } from './fields.ts'
import { readItem, readValue } from './parse-item.ts'
import type { MonthDays, WeekDays } from './types.ts'

/** Null for `*` and `?`: the field does not restrict. `*` with a step does. */
export function readMonthDays(source: FieldSource): MonthDays | null {
  if (isUnrestricted(source)) return null
  const rule = { days: 0, fromLast: 0, nearestWeekday: 0, lastWeekday: false, stepped: false }
  for (const item of splitList(source)) {
    const text = item.text.toUpperCase()
    if (text === 'L') rule.fromLast |= 1
    else if (text === 'LW') rule.lastWeekday = true
    else if (text.startsWith('L-')) rule.fromLast |= 1 << readFromLast(source, item)
    else if (/^[0-9]+W$/.test(text)) {
      const day = readNumber(source, { text: text.slice(0, -1), column: item.column })
      rule.nearestWeekday |= 1 << (day - 1)
    } else {
      const { values } = readItem(source, item)
      rule.days |= bitsOf(values, 1)
      rule.stepped ||= text.startsWith('*/')
    }
  }
  return rule
}

/** Null for `*` and `?`. */
export function readWeekDays(source: FieldSource): WeekDays | null {
  if (isUnrestricted(source)) return null
  const nth = [0, 0, 0, 0, 0]
  const rule = { days: 0, last: 0, nth, stepped: false }
  for (const item of splitList(source)) {
    const text = item.text.toUpperCase()
    const hash = text.indexOf('#')
    if (text === 'L') refuse(source, item, 'L needs a weekday', '5L is the last Friday')
    if (hash >= 0) {
      const weekday = { text: text.slice(0, hash), column: item.column }
      const place = { text: text.slice(hash + 1), column: item.column + hash + 1 }
      nth[readPlace(source, place) - 1]! |= 1 << (readValue(source, weekday) % 7)
    } else if (text.endsWith('L')) {
      const weekday = { text: text.slice(0, -1), column: item.column }
      rule.last |= 1 << (readValue(source, weekday) % 7)
    } else {
      const { values } = readItem(source, item)
      rule.days |= bitsOf(values, 0)
      rule.stepped ||= text.startsWith('*/')
    }
  }
  return rule
}

function isUnrestricted(source: FieldSource): boolean {
  const { text } = source.token
  return text === '*' || text === '?'
}

function readFromLast(source: FieldSource, item: Token): number {
  const text = item.text.slice(2)
  const days = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (!(days >= 1 && days <= 30)) {
    refuse(
      source,
      item,
      `${quote(item.text)} is out of range`,
      'L-1 to L-30, or L for the last day',
    )
  }
  return days
}

function readPlace(source: FieldSource, at: Token): number {
  if (!/^[1-5]$/.test(at.text)) {
    refuse(source, at, `${quote(at.text)} is not a place in the month`, 'places are 1–5')
  }
  return Number(at.text)
}
