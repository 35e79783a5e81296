// Advice on expressions that are valid but often mean something else to their author.
import { CYCLE_YEARS, dayNumber } from './calendar.ts'
import { takesEveryDay } from './canonical.ts'
import { dayCursor } from './day-match.ts'
import { HOUR, MINUTE, MONTH, SECOND } from './fields.ts'
import { evenStep, isFull, starStep } from './shape.ts'
import type { CronFields, Dialect, Lint } from './types.ts'

/** In a fixed order; empty for a plain expression. */
export function lintFields(fields: CronFields, dialect: Dialect): Lint[] {
  const steps = dialect === 'extended' ? [...unevenSteps(fields), ...interval(fields)] : []
  return [...days(fields), ...bursts(fields), ...steps, ...rarity(fields)]
}

function days(fields: CronFields): Lint[] {
  const { monthDays, weekDays } = fields
  if (monthDays === null || weekDays === null) return []
  const every = takesEveryDay(fields) ? ', which here is every day' : ''
  const message = `Day of month and weekday are alternatives: it runs when either matches${every}.`
  const found: Lint[] = [{ code: 'day-or-weekday', message }]
  if (monthDays.stepped || weekDays.stepped) {
    const stepped = 'A step on * in a day field restricts it; only a bare * leaves it open.'
    found.push({ code: 'step-limits-day', message: stepped })
  }
  return found
}

function bursts({ second, minute, hour }: CronFields): Lint[] {
  if (isFull(second, SECOND) && !isFull(minute, MINUTE)) {
    const message = 'Runs 60 times in each minute it names; write 0 as the second for once.'
    return [{ code: 'every-second-of-minute', message }]
  }
  if (isFull(minute, MINUTE) && !isFull(hour, HOUR)) {
    const times = 60 * second.length
    const message = `Runs ${times} times in each hour it names; write 0 as the minute for once.`
    return [{ code: 'every-minute-of-hour', message }]
  }
  return []
}

function unevenSteps(fields: CronFields): Lint[] {
  const checked = [
    { spec: SECOND, values: fields.second, round: 'minute' },
    { spec: MINUTE, values: fields.minute, round: 'hour' },
    { spec: HOUR, values: fields.hour, round: 'day' },
    { spec: MONTH, values: fields.month, round: 'year' },
  ]
  const found: Lint[] = []
  for (const { spec, values, round } of checked) {
    const step = starStep(values, spec)
    if (step === null || evenStep(values, spec) !== null) continue
    const left = spec.max + 1 - values.at(-1)!
    const message = `A step of ${step} ${spec.plural} restarts each ${round}: the last gap is ${left}.`
    found.push({ code: 'uneven-step', message })
  }
  if (fields.monthDays?.stepped) {
    const message = 'A step of days restarts each month, so the gap at its end differs.'
    found.push({ code: 'uneven-step', message })
  }
  return found
}

// Hours are left out: in most zones they are not a constant interval across clock changes.
function interval(fields: CronFields): Lint[] {
  const { second, minute, hour, month } = fields
  if (!isFull(hour, HOUR) || !isFull(month, MONTH) || !takesEveryDay(fields)) return []
  const minutes = isFull(minute, MINUTE) ? 1 : evenStep(minute, MINUTE)
  const seconds = isFull(second, SECOND) ? 1 : evenStep(second, SECOND)
  const bySecond = second.length > 1
  if (bySecond ? seconds === null || minutes !== 1 : minutes === null) return []
  const length = bySecond ? `${seconds} s` : `${minutes} min`
  const message = `Runs at a constant interval: "every ${length}" says the same.`
  return [{ code: 'interval-equivalent', message }]
}

function rarity(fields: CronFields): Lint[] {
  const { monthDays, weekDays } = fields
  const inCycle = dayCursor(fields).count(
    dayNumber(2000, 1, 1),
    dayNumber(2000 + CYCLE_YEARS, 1, 1),
  )
  if (inCycle < CYCLE_YEARS) {
    return [{ code: 'rare', message: `Runs on ${inCycle} days in ${CYCLE_YEARS} years.` }]
  }
  if (monthDays === null || weekDays !== null || monthDays.fromLast !== 0) return []
  // The earliest day named: if even that is missing from some month, the month is left out.
  const earliest = Math.min(firstBit(monthDays.days), firstBit(monthDays.nearestWeekday))
  const shortest = Math.min(...fields.month.map(month => SHORTEST[month - 1]!))
  if (monthDays.lastWeekday || earliest < shortest) return []
  const message = `Months without day ${earliest + 1} are left out; L is the last day of any month.`
  return [{ code: 'short-months', message }]
}

const SHORTEST = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function firstBit(bits: number): number {
  return bits === 0 ? Infinity : 31 - Math.clz32(bits & -bits)
}
