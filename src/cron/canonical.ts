// One spelling per meaning: sorted, merged, numeric. Reading it back gives the same schedule.
import { HOUR, MINUTE, MONTH, MONTH_DAY, SECOND } from './fields.ts'
import type { FieldSpec } from './fields.ts'
import { isFull, starStep } from './shape.ts'
import type { CronFields, Dialect, FieldValues, MonthDays, WeekDays } from './types.ts'

const EVERY_MONTH_DAY = 0x7fff_ffff
const EVERY_WEEKDAY = 0x7f

export function canonicalText(fields: CronFields, dialect: Dialect): string {
  const steps = dialect === 'extended'
  const [monthDays, weekDays] = dayTexts(fields, steps)
  const text = [
    ...timeTexts(fields, steps),
    monthDays,
    fieldText(fields.month, MONTH, steps),
    weekDays,
  ].join(' ')
  const { second } = fields
  return second.length === 1 && second[0] === 0
    ? text
    : `${fieldText(second, SECOND, steps)} ${text}`
}

/** The values whose bits are set. */
export function valuesOf(bits: number, base: number): number[] {
  const values: number[] = []
  for (let i = 0; i < 31; i++) if ((bits >>> i) & 1) values.push(i + base)
  return values
}

/** Whether a restricted day rule nevertheless takes every day. */
export function takesEveryDay({ monthDays, weekDays }: CronFields): boolean {
  if (monthDays === null && weekDays === null) return true
  return monthDays?.days === EVERY_MONTH_DAY || weekDays?.days === EVERY_WEEKDAY
}

// In the extended dialect `*` and steps decide how clock changes are treated, so a pattern that
// had one keeps one and a pattern that had none gets none.
function timeTexts({ minute, hour, elapsed }: CronFields, steps: boolean): [string, string] {
  if (!steps) return [fieldText(minute, MINUTE, false), fieldText(hour, HOUR, false)]
  if (!elapsed) return [listText(minute), listText(hour)]
  const minutes = fieldText(minute, MINUTE, true)
  const hours = fieldText(hour, HOUR, true)
  return /[*/]/.test(minutes + hours) ? [minutes, hours] : [markStepped(minutes), hours]
}

// `7,9` becomes `7-7/1,9`: the plainest list that still counts as stepped.
function markStepped(list: string): string {
  const [first, ...rest] = list.split(',')
  const range = first!.includes('-') ? first! : `${first}-${first}`
  return [`${range}/1`, ...rest].join(',')
}

function dayTexts(fields: CronFields, steps: boolean): [string, string] {
  if (takesEveryDay(fields)) return ['*', '*']
  const { monthDays, weekDays } = fields
  return [
    monthDays === null ? '*' : monthDaysText(monthDays, steps),
    weekDays === null ? '*' : weekDaysText(weekDays),
  ]
}

function monthDaysText(rule: MonthDays, steps: boolean): string {
  const parts = rule.days === 0 ? [] : [fieldText(valuesOf(rule.days, 1), MONTH_DAY, steps)]
  parts.push(...valuesOf(rule.nearestWeekday, 1).map(day => `${day}W`))
  parts.push(...valuesOf(rule.fromLast, 0).map(back => (back === 0 ? 'L' : `L-${back}`)))
  if (rule.lastWeekday) parts.push('LW')
  return parts.join(',')
}

function weekDaysText(rule: WeekDays): string {
  const parts = rule.days === 0 ? [] : [listText(valuesOf(rule.days, 0))]
  // A place of a weekday that is taken anyway adds nothing.
  rule.nth.forEach((bits, index) => {
    parts.push(...valuesOf(bits & ~rule.days, 0).map(weekday => `${weekday}#${index + 1}`))
  })
  parts.push(...valuesOf(rule.last & ~rule.days, 0).map(weekday => `${weekday}L`))
  return parts.join(',')
}

function fieldText(values: FieldValues, spec: FieldSpec, steps: boolean): string {
  if (isFull(values, spec)) return '*'
  return (steps && stepText(values, spec)) || listText(values)
}

function stepText(values: FieldValues, spec: FieldSpec): string | null {
  const whole = starStep(values, spec)
  if (whole !== null) return `*/${whole}`
  const [first, second] = values
  if (first === undefined || second === undefined || values.length < 3) return null
  const step = second - first
  if (step === 1 || values.some((value, index) => value !== first + index * step)) return null
  return `${first}-${values.at(-1)!}/${step}`
}

function listText(values: FieldValues): string {
  const parts: string[] = []
  for (let i = 0; i < values.length; i++) {
    const start = i
    while (values[i + 1] === values[i]! + 1) i++
    const size = i - start + 1
    if (size > 2) parts.push(`${values[start]}-${values[i]}`)
    else parts.push(...values.slice(start, i + 1).map(String))
  }
  return parts.join(',')
}
