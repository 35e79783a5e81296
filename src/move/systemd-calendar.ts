// `OnCalendar=` of a systemd timer as a cron expression or a single moment, where there is one that
// means the same; and its time spans.

import { isZone } from '../cron/index.ts'

export type Calendar =
  | { readonly cron: string; readonly zone: string | null }
  /** Once, at this wall time. */
  | { readonly wall: string; readonly zone: string | null }
  | { readonly fault: string }

const shorthands: Readonly<Record<string, string>> = {
  minutely: '*-*-* *:*:00',
  hourly: '*-*-* *:00:00',
  daily: '*-*-* 00:00:00',
  weekly: 'Mon *-*-* 00:00:00',
  monthly: '*-*-01 00:00:00',
  quarterly: '*-01,04,07,10-01 00:00:00',
  semiannually: '*-01,07-01 00:00:00',
  yearly: '*-01-01 00:00:00',
  annually: '*-01-01 00:00:00',
}

export function readCalendar(text: string): Calendar {
  const words = text.trim().split(/\s+/)
  const last = words.at(-1) ?? ''
  const zone = words.length > 1 && !/\d/.test(last[0] ?? '') && isZone(last) ? words.pop()! : null
  const given = (shorthands[words.join(' ').toLowerCase()] ?? words.join(' ')).split(/\s+/)
  const weekdays = /^[a-z]/i.test(given[0] ?? '') ? given.shift()! : null
  const date = given[0] !== undefined && !given[0].includes(':') ? given.shift()! : '*-*-*'
  const time = given.shift() ?? '00:00:00'
  if (given.length > 0) return { fault: `cannot read OnCalendar=${text}` }
  const parts = partsOf(date, time)
  if (parts === null) return { fault: `cannot read OnCalendar=${text}` }
  return calendarOf({ ...parts, weekdays: weekdays === null ? null : weekdayField(weekdays) }, zone)
}

interface Parts {
  readonly year: string
  readonly month: string
  readonly day: string
  readonly hour: string
  readonly minute: string
  readonly second: string
}

function partsOf(date: string, time: string): Parts | null {
  const dated = /^(?:([\d*,./]+)-)?([\d*,./]+)([-~])([\d*,./]+)$/.exec(date)
  const timed = /^([\d*,./]+):([\d*,./]+)(?::([\d*,./]+))?$/.exec(time)
  if (!dated || !timed) return null
  const [, year = '*', month, mark, day] = dated
  const [, hour, minute, second = '0'] = timed
  return {
    year,
    month: month!,
    day: mark === '~' ? `~${day!}` : day!,
    hour: hour!,
    minute: minute!,
    second,
  }
}

const plain = /^\d+$/
const two = (part: string) => part.padStart(2, '0')

function calendarOf(
  parts: Parts & { readonly weekdays: string | null },
  zone: string | null,
): Calendar {
  const { year, month, weekdays } = parts
  if (year !== '*') {
    const { day, hour, minute, second } = parts
    const all = [year, month, day, hour, minute, second]
    if (weekdays !== null || !all.every(part => plain.test(part))) {
      return { fault: 'cron has no years' }
    }
    return {
      wall: `${year}-${two(month)}-${two(day)}T${[hour, minute, second].map(two).join(':')}`,
      zone,
    }
  }
  const day = dayField(parts.day)
  if (day === null) return { fault: 'these last days of the month are not cron' }
  const days = daysOf(day, weekdays)
  if (days === null) {
    return { fault: 'date and weekday must both fit here, but are alternatives in cron' }
  }
  const second = field(parts.second, 59)
  const fields = [
    field(parts.minute, 59),
    field(parts.hour, 23),
    days[0],
    field(month, 12),
    days[1],
  ]
  return { cron: (second === '0' ? fields : [second, ...fields]).join(' '), zone }
}

/** `0/15` is `0-59/15`, `8..18` is `8-18`; leading zeros go. */
function field(text: string, max: number): string {
  return text
    .split(',')
    .map(item => {
      const [range = '', step] = item.split('/')
      const [from = '', to] = range.split('..').map(part => part.replace(/^0+(?=\d)/, ''))
      if (step === undefined) return to === undefined ? from : `${from}-${to}`
      if (from === '*' || (from === '0' && to === undefined)) return `*/${Number(step)}`
      return `${from}-${to ?? max}/${Number(step)}`
    })
    .join(',')
}

function dayField(text: string): string | null {
  if (!text.startsWith('~')) return field(text, 31)
  const back = Number(text.slice(1))
  if (!Number.isInteger(back)) return null
  return back === 1 ? 'L' : `L-${back - 1}`
}

const weeks: Readonly<Record<string, number>> = { '1-7': 1, '8-14': 2, '15-21': 3, '22-28': 4 }

/** A weekday within one week of the month is what cron calls the nth of them. */
function daysOf(day: string, weekdays: string | null): [day: string, weekday: string] | null {
  if (weekdays === null) return [day, '*']
  if (day === '*') return ['*', weekdays]
  const nth = weeks[day]
  const number = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'].indexOf(weekdays)
  return nth === undefined || number < 0 ? null : ['*', `${number}#${nth}`]
}

function weekdayField(text: string): string {
  return text
    .split(',')
    .map(item =>
      item
        .split('..')
        .map(name => name.slice(0, 3).toUpperCase())
        .join('-'),
    )
    .join(',')
}

const units: Readonly<Record<string, number>> = {
  usec: 0.001,
  us: 0.001,
  msec: 1,
  ms: 1,
  seconds: 1_000,
  second: 1_000,
  sec: 1_000,
  s: 1_000,
  minutes: 60_000,
  minute: 60_000,
  min: 60_000,
  m: 60_000,
  hours: 3_600_000,
  hour: 3_600_000,
  hr: 3_600_000,
  h: 3_600_000,
  days: 86_400_000,
  day: 86_400_000,
  d: 86_400_000,
  weeks: 604_800_000,
  week: 604_800_000,
  w: 604_800_000,
  months: 2_629_800_000,
  month: 2_629_800_000,
  M: 2_629_800_000,
  years: 31_557_600_000,
  year: 31_557_600_000,
  y: 31_557_600_000,
}

/** `1h 30min`, `90` (seconds); null when it cannot be read, or never ends. */
export function readSpan(text: string): number | null {
  const parts = text.trim().match(/\d+(?:\.\d+)?\s*[a-zA-Z]*/g)
  if (parts === null || parts.join('').replaceAll(/\s/g, '') !== text.replaceAll(/\s/g, ''))
    return null
  let ms = 0
  for (const part of parts) {
    const [, count, unit = ''] = /^([\d.]+)\s*([a-zA-Z]*)$/.exec(part)!
    const size = unit === '' ? 1_000 : (units[unit] ?? units[unit.toLowerCase()])
    if (size === undefined) return null
    ms += Number(count) * size
  }
  return Math.round(ms)
}
