// Moments, spans and numbers as text. A moment never goes without its zone.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const formats = new Map<string, Intl.DateTimeFormat>()

function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  const found = formats.get(key)
  if (found) return found
  const made = new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options })
  formats.set(key, made)
  return made
}

export interface MomentStyle {
  readonly zone: string
  readonly hasSeconds?: boolean
  /** Left out on the same day. */
  readonly now?: number
}

/** `Mon 16 Nov 07:00 CET`; the year when it is another one, the day when it is another one. */
export function momentText(at: number, style: MomentStyle): string {
  const { zone, hasSeconds = false, now } = style
  const time = format(zone, {
    hour: '2-digit',
    minute: '2-digit',
    ...(hasSeconds ? { second: '2-digit' } : {}),
    hourCycle: 'h23',
  }).format(at)
  const name = zoneName(at, zone)
  if (now !== undefined && dayOf(at, zone) === dayOf(now, zone)) return `${time} ${name}`
  const isThisYear = now === undefined || yearOf(at, zone) === yearOf(now, zone)
  const day = format(zone, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
    .format(at)
    .replace(',', '')
  return `${day} ${time} ${name}`
}

/** Whether a moment is on the same day in both zones. */
export function isSameDay(at: number, zone: string, other: string): boolean {
  return dayOf(at, zone) === dayOf(at, other)
}

/** A mark on an axis, as fine as its steps are. */
export function axisText(at: number, stepMs: number, zone: string): string {
  if (stepMs >= DAY) return format(zone, { day: 'numeric', month: 'short' }).format(at)
  const hasSeconds = stepMs < MINUTE
  return format(zone, {
    hour: '2-digit',
    minute: '2-digit',
    ...(hasSeconds ? { second: '2-digit' } : {}),
    hourCycle: 'h23',
  }).format(at)
}

function dayOf(at: number, zone: string): string {
  return format(zone, { year: 'numeric', month: '2-digit', day: '2-digit' }).format(at)
}

function yearOf(at: number, zone: string): string {
  return format(zone, { year: 'numeric' }).format(at)
}

export function zoneName(at: number, zone: string): string {
  const parts = format(zone, { hour: '2-digit', timeZoneName: 'short' }).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone
}

/** `2 s ago`, `in 9 h 25 m`. */
export function relativeText(at: number, now: number): string {
  const away = at - now
  if (Math.abs(away) < SECOND) return 'now'
  const text = spanText(Math.abs(away), { isCoarse: true })
  return away > 0 ? `in ${text}` : `${text} ago`
}

/** `850 ms`, `2.5 s`, `4 m 12 s`, `9 h 25 m`, `3 d 4 h`. */
export function spanText(ms: number, { isCoarse = false } = {}): string {
  if (!isCoarse && ms < SECOND) return `${Math.round(ms)} ms`
  if (!isCoarse && ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.max(isCoarse ? 1 : 0, Math.floor(ms / SECOND))} s`
  if (ms < HOUR) return two(ms, [MINUTE, 'm'], [SECOND, 's'], isCoarse && ms >= 10 * MINUTE)
  if (ms < DAY) return two(ms, [HOUR, 'h'], [MINUTE, 'm'])
  return two(ms, [DAY, 'd'], [HOUR, 'h'], ms >= 10 * DAY)
}

/** A length someone chose: `7 s` and not `7.0 s`. */
export function lengthText(ms: number): string {
  return ms < 10 * SECOND && ms % SECOND === 0 ? `${ms / SECOND} s` : spanText(ms)
}

type Unit = readonly [size: number, name: string]

function two(ms: number, [large, first]: Unit, [small, second]: Unit, isOne = false): string {
  const most = Math.floor(ms / large)
  const rest = Math.floor((ms % large) / small)
  return isOne || rest === 0 ? `${most} ${first}` : `${most} ${first} ${rest} ${second}`
}

const numbers = new Intl.NumberFormat('en-GB')

export function countText(count: number): string {
  return numbers.format(count)
}

/** `1.2k`, `3.4M`: where there is little room. */
export function shortCount(count: number): string {
  if (count < 10_000) return countText(count)
  if (count < 1_000_000) return `${Math.floor(count / 100) / 10}k`
  return `${Math.floor(count / 100_000) / 10}M`
}

export function percentText(share: number): string {
  const percent = share * 100
  if (percent === 0 || percent === 100) return `${percent} %`
  return `${percent.toFixed(1).replace(/^100\.0$/, '99.9')} %`
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}
