// Zones as tables of constant-offset segments, built year by year from Intl and kept.
// After a year is known no Intl call is made for it again.
import { CYCLE_DAYS, CYCLE_YEARS, DAY_SECONDS, yearOf, yearStart } from './calendar.ts'
import { keep } from './bounded.ts'
import { firstChange, offsetProbe } from './zone-probe.ts'
import type { Probe } from './zone-probe.ts'

/** A stretch of UTC seconds [start, end) with one offset. Year ends also end a segment. */
export interface Segment {
  readonly start: number
  readonly end: number
  /** Local minus UTC, seconds. */
  readonly offset: number
  /** Offset minus the one just before `start`: > 0 a gap, < 0 a fold, 0 a mere year end. */
  readonly jump: number
  /** Instants before this one repeat a local time that has already been. */
  readonly freshFrom: number
}

export interface Zone {
  readonly name: string
  segmentAt(second: number): Segment
}

// Before the first year an offset is taken as constant; from CYCLE_FROM on only yearly rules are
// left in tzdata, so each year is a copy of the one 400 years earlier.
const FIRST_YEAR = 1900
const CYCLE_FROM = 2200
// The shortest stay at an offset since 1970 is just under a week (Brazil 2000, Gaza 2040).
const PROBE_SECONDS = 6 * DAY_SECONDS
// A fold that began this long before a year can still be going on in it.
const LEAD_SECONDS = 2 * DAY_SECONDS
const MAX_ZONES = 700

const zones = new Map<string, Zone>()
let host: { key: string | undefined; name: string } | null = null

/** The zone of that name, or null if this runtime does not know it. */
export function findZone(name: string): Zone | null {
  const known = zones.get(name)
  if (known !== undefined) return known
  const built = buildZone(name)
  // Unknown names are not kept: they are unlimited and would push the known ones out.
  if (built !== null) keep(zones, MAX_ZONES, name, built)
  return built
}

export function isZone(name: string): boolean {
  return findZone(name) !== null
}

/** The host's IANA zone; 'UTC' when the host has none. */
export function hostZone(): string {
  // Intl takes 90 µs to say; in Node only an assignment to TZ can change the answer.
  const key = typeof process === 'undefined' ? undefined : process.env.TZ
  if (host === null || host.key !== key)
    host = { key, name: isUtcHost() ? 'UTC' : hostZoneByIntl() }
  return host.name
}

/** Said by dates too, which need no Intl: its first use takes about 20 ms. */
function isUtcHost(): boolean {
  return new Date(0).toString().endsWith('(Coordinated Universal Time)')
}

function hostZoneByIntl(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return timeZone && isZone(timeZone) ? timeZone : 'UTC'
}

function buildZone(name: string): Zone | null {
  // Letters first: some runtimes also take '+05:00', which is not a zone with rules.
  if (typeof name !== 'string' || name.length > 64 || !/^[A-Za-z]/.test(name)) return null
  if (/^(Etc\/)?(UTC|GMT|UCT|Zulu)$/i.test(name)) return fixedZone(name)
  const probe = offsetProbe(name)
  return probe === null ? null : tabledZone(name, probe)
}

function fixedZone(name: string): Zone {
  const all = { start: -Infinity, end: Infinity, offset: 0, jump: 0, freshFrom: -Infinity }
  return { name, segmentAt: () => all }
}

function tabledZone(name: string, probe: Probe): Zone {
  const years = new Map<number, Segment[]>()
  const firstStart = yearStart(FIRST_YEAR) * DAY_SECONDS
  let last: Segment = { start: 0, end: 0, offset: 0, jump: 0, freshFrom: 0 }

  function tableOf(year: number): Segment[] {
    let table = years.get(year)
    if (table === undefined) {
      table = buildYear(year, probe)
      years.set(year, table)
    }
    return table
  }

  function find(second: number): Segment {
    if (second < firstStart) {
      const offset = probe(firstStart - 1)
      return { start: -Infinity, end: firstStart, offset, jump: 0, freshFrom: -Infinity }
    }
    const year = yearOf(Math.floor(second / DAY_SECONDS))
    const cycles = Math.max(0, Math.floor((year - CYCLE_FROM) / CYCLE_YEARS))
    const shift = cycles * CYCLE_DAYS * DAY_SECONDS
    const table = tableOf(year - cycles * CYCLE_YEARS)
    const segment = table.find(s => second - shift < s.end)!
    return shift === 0 ? segment : shiftSegment(segment, shift)
  }

  return {
    name,
    segmentAt(second) {
      if (second < last.start || second >= last.end) last = find(second)
      return last
    },
  }
}

function buildYear(year: number, probe: Probe): Segment[] {
  const start = yearStart(year) * DAY_SECONDS
  const end = yearStart(year + 1) * DAY_SECONDS
  const segments: Segment[] = []
  let freshFrom = -Infinity
  let segmentStart = start
  let jump = 0
  let at = start - LEAD_SECONDS
  let offset = probe(at)
  while (at < end) {
    const until = Math.min(at + PROBE_SECONDS, at < start ? start : end)
    const change = firstChange(probe, at, until, offset)
    if (change === null) {
      at = until
      continue
    }
    if (change === end) break
    const after = probe(change)
    if (change > start) segments.push({ start: segmentStart, end: change, offset, jump, freshFrom })
    freshFrom = after < offset ? change + offset - after : -Infinity
    jump = change >= start ? after - offset : 0
    segmentStart = Math.max(change, start)
    offset = after
    at = change
  }
  segments.push({ start: segmentStart, end, offset, jump, freshFrom })
  return segments
}

function shiftSegment(segment: Segment, by: number): Segment {
  return {
    ...segment,
    start: segment.start + by,
    end: segment.end + by,
    freshFrom: segment.freshFrom + by,
  }
}
