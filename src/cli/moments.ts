// The next moments of a cron expression, in its zone, the viewer's and UTC, with what clock changes do.

import { formatInZone, parseCron, zoneTransitions, type Cron } from '../cron/index.ts'
import { DAY, formatDuration, iso, type Instant } from '../core/time.ts'

const YEAR = 366 * DAY

export interface NextRow {
  readonly n: number
  readonly at: Instant
  /** In the zone of the schedule. */
  readonly local: string
  readonly viewer: string
  readonly utc: string
  /** Since the one before. */
  readonly gap: string
  readonly note: string
}

export interface Asked {
  readonly from: Instant
  readonly count: number
  readonly viewer: string
}

export function momentsOf(cron: Cron, from: Instant, count: number): Instant[] {
  const found: Instant[] = []
  for (let at = cron.next(from); at !== null && found.length < count; at = cron.next(at)) {
    found.push(at)
  }
  return found
}

export function nextRows(cron: Cron, { from, count, viewer }: Asked): NextRow[] {
  const moments = momentsOf(cron, from, count)
  return moments.map((at, i) => ({
    n: i + 1,
    at,
    local: formatInZone(at, cron.zone),
    viewer: formatInZone(at, viewer).replace(/ \d{4} /, ' '),
    utc: iso(at).replace('.000Z', 'Z'),
    gap: i === 0 ? '' : `+${spanOf(at - moments[i - 1]!)}`,
    note: noteOf(cron, at),
  }))
}

/** Hours up to two days, as people count around a clock change. */
function spanOf(ms: number): string {
  if (ms >= 2 * DAY || ms < DAY / 2) return formatDuration(ms)
  const minutes = Math.round(ms / 60_000)
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)}h${rest === 0 ? '' : `${rest}m`}`
}

function noteOf(cron: Cron, at: Instant): string {
  switch (cron.note(at)) {
    case 'dst-gap-shifted': {
      const [change] = zoneTransitions(cron.zone, at - DAY, at)
      const named = change === undefined ? null : namedIn(cron, gapOf(change))
      return `! ${named ?? 'the time'} does not exist: shifted`
    }
    case 'dst-first-of-two':
      return '! the first of two'
    case 'dst-second-of-two':
      return '! the second of two'
    case null:
      return ''
  }
}

/** Local times as if they were UTC, so that they can be reckoned with. */
interface Span {
  readonly from: Instant
  readonly to: Instant
}

type Change = ReturnType<typeof zoneTransitions>[number]

/** What does not exist when clocks go forward. */
function gapOf({ at, offsetBeforeMs, offsetAfterMs }: Change): Span {
  return { from: at + offsetBeforeMs, to: at + offsetAfterMs }
}

/** What exists twice when they go back. */
function foldOf({ at, offsetBeforeMs, offsetAfterMs }: Change): Span {
  return { from: at + offsetAfterMs, to: at + offsetBeforeMs }
}

/** The first local time the expression names in a span: as it would be without any zone. */
function namedIn({ expression, dialect }: Cron, { from, to }: Span): string | null {
  const plain = parseCron(expression, { zone: 'UTC', dialect })
  const at = plain.next(from - 1_000)
  return at === null || at >= to ? null : clock(at)
}

function clock(at: Instant): string {
  return iso(at).slice(11, iso(at).slice(17, 19) === '00' ? 16 : 19)
}

/** What the next two clock changes of the zone do to the expression, one line each. */
export function changeLines(cron: Cron, from: Instant): string[] {
  return zoneTransitions(cron.zone, from, from + YEAR)
    .slice(0, 2)
    .map(change => {
      const isGap = change.offsetAfterMs > change.offsetBeforeMs
      const span = isGap ? gapOf(change) : foldOf(change)
      const day = formatInZone(change.at, cron.zone).split(' ').slice(0, 4).join(' ')
      const what = isGap ? 'does not exist' : 'happens twice'
      const hours = `${clock(span.from)}–${clock(span.to)}`
      return `${day}: ${hours} ${what}, ${effectOf(cron, span, isGap)}`
    })
}

function effectOf(cron: Cron, span: Span, isGap: boolean): string {
  const named = namedIn(cron, span)
  if (named === null) return 'nothing is due then'
  if (isGap) {
    return cron.dst.gap === 'shift'
      ? `${named} runs at ${clock(span.to)}`
      : `${named} is left out that day`
  }
  return cron.dst.fold === 'first'
    ? `${named} runs the first time only`
    : `${named} runs both times`
}
