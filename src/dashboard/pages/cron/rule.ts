// A common schedule as people think of it, turned into an expression.

export interface Rule {
  readonly kind: 'minutes' | 'hours' | 'days' | 'month'
  readonly every: string
  /** `07:00`. */
  readonly time: string
  readonly days: readonly string[]
  readonly dayOfMonth: string
}

export const weekdays = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const

/** Null while something is missing. */
export function buildCron(rule: Rule): string | null {
  switch (rule.kind) {
    case 'minutes':
      return rule.every === '1' ? '* * * * *' : `*/${rule.every} * * * *`
    case 'hours':
      return rule.every === '1' ? '0 * * * *' : `0 */${rule.every} * * *`
    case 'days':
      return timed(rule.time, at => (rule.days.length === 0 ? null : `${at} * * ${daysOf(rule)}`))
    case 'month':
      return timed(rule.time, at => `${at} ${rule.dayOfMonth} * *`)
  }
}

function timed(time: string, build: (at: string) => string | null): string | null {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(time.trim()) ?? []
  return hour === undefined ? null : build(`${Number(minute)} ${Number(hour)}`)
}

/** Neighbours as a range: `MON-FRI`. */
function daysOf({ days }: Rule): string {
  const chosen = weekdays.filter(day => days.includes(day))
  if (chosen.length === weekdays.length) return '*'
  const first = weekdays.indexOf(chosen[0]!)
  const isRow = chosen.length > 2 && chosen.every((day, i) => weekdays[first + i] === day)
  return isRow ? `${chosen[0]}-${chosen.at(-1)}` : chosen.join(',')
}
