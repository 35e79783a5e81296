// An expression as one English sentence, for previews and listings.
import { takesEveryDay, valuesOf } from './canonical.ts'
import { HOUR, MINUTE, MONTH, SECOND } from './fields.ts'
import { evenStep, isFull } from './shape.ts'
import type { CronFields, FieldValues, MonthDays, WeekDays } from './types.ts'

const MONTHS =
  'January February March April May June July August September October November December'
const MONTH_NAMES = MONTHS.split(' ')
const WEEKDAY_NAMES = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
const PLACES = ['first', 'second', 'third', 'fourth', 'fifth']
// More clock times than this are told as a pattern, not one by one.
const MAX_LISTED = 6

export function describeFields(fields: CronFields, zone: string): string {
  return `${timeText(fields)}${dayText(fields)}${monthText(fields.month)} (${zone})`
}

function timeText(fields: CronFields): string {
  const { second, minute, hour } = fields
  if (second.length * minute.length * hour.length <= MAX_LISTED) {
    const clocks = hour.flatMap(h => minute.flatMap(m => second.map(s => clockText(h, m, s))))
    return `At ${join(clocks)}`
  }
  if (second.length === 1 && second[0] === 0) return minuteText(minute) + hourText(fields, minute)
  return secondText(second, minute, hour) + hourText(fields, second)
}

function clockText(hour: number, minute: number, second: number): string {
  const parts = second === 0 ? [hour, minute] : [hour, minute, second]
  return parts.map(part => String(part).padStart(2, '0')).join(':')
}

function minuteText(minute: FieldValues): string {
  if (isFull(minute, MINUTE)) return 'Every minute'
  const step = evenStep(minute, MINUTE)
  return step === null ? `At ${counted('minute', minute)}` : `Every ${step} minutes`
}

function secondText(second: FieldValues, minute: FieldValues, hour: FieldValues): string {
  const step = evenStep(second, SECOND)
  const every = isFull(second, SECOND) ? 'Every second' : step && `Every ${step} seconds`
  const lead = every || `At ${counted('second', second)}`
  if (!isFull(minute, MINUTE)) return `${lead} of ${counted('minute', minute)}`
  return every && isFull(hour, HOUR) ? lead : `${lead} of every minute`
}

// `finest` is the finest field told so far: "At minute 5" still lacks "of every hour".
function hourText({ minute, hour }: CronFields, finest: FieldValues): string {
  if (isFull(hour, HOUR)) {
    const told = finest === minute && (isFull(minute, MINUTE) || evenStep(minute, MINUTE) !== null)
    if (told || isFull(minute, MINUTE)) return ''
    return ' of every hour'
  }
  const step = evenStep(hour, HOUR)
  if (step !== null) return ` of every ${ordinal(step)} hour from midnight`
  return ` of ${counted('hour', hour)}`
}

function dayText(fields: CronFields): string {
  if (takesEveryDay(fields)) return fields.hour.length < 24 ? ' every day' : ''
  const { monthDays, weekDays } = fields
  const terms: string[] = []
  if (monthDays !== null) terms.push(`${join(dateTerms(monthDays))} of the month`)
  if (weekDays !== null) terms.push(join(weekdayTerms(weekDays)))
  return ` on ${terms.join(' or on ')}`
}

function dateTerms(rule: MonthDays): string[] {
  const terms = rule.days === 0 ? [] : [counted('day', valuesOf(rule.days, 1))]
  for (const day of valuesOf(rule.nearestWeekday, 1)) {
    terms.push(`the working day nearest day ${day}`)
  }
  for (const back of valuesOf(rule.fromLast, 0)) {
    terms.push(back === 0 ? 'the last day' : `the ${ordinal(back + 1)} to last day`)
  }
  if (rule.lastWeekday) terms.push('the last working day')
  return terms
}

function weekdayTerms(rule: WeekDays): string[] {
  // Monday first, so that a weekend is one stretch.
  const week = [1, 2, 3, 4, 5, 6, 7].filter(day => (rule.days >>> (day % 7)) & 1)
  const terms = runs(week, day => WEEKDAY_NAMES[day % 7]!)
  rule.nth.forEach((bits, index) => {
    for (const day of valuesOf(bits, 0)) terms.push(`the ${PLACES[index]} ${WEEKDAY_NAMES[day]}`)
  })
  for (const day of valuesOf(rule.last, 0)) terms.push(`the last ${WEEKDAY_NAMES[day]}`)
  return terms
}

function monthText(month: FieldValues): string {
  if (isFull(month, MONTH)) return ''
  return ` in ${join(runs(month, value => MONTH_NAMES[value - 1]!))}`
}

function counted(noun: string, values: FieldValues): string {
  return `${noun}${values.length === 1 ? '' : 's'} ${join(runs(values, String))}`
}

// Three or more in a row become 'a to b'.
function runs(values: FieldValues, name: (value: number) => string): string[] {
  const parts: string[] = []
  for (let i = 0; i < values.length; i++) {
    const start = i
    while (values[i + 1] === values[i]! + 1) i++
    if (i - start >= 2) parts.push(`${name(values[start]!)} to ${name(values[i]!)}`)
    else parts.push(...values.slice(start, i + 1).map(name))
  }
  return parts
}

function join(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('')
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

function ordinal(n: number): string {
  const tens = n % 100
  const ending = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${ending}`
}
