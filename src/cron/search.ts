// From local matches to instants: walks the zone's segments and applies the gap and fold rules.
// Works in whole UTC seconds; callers turn milliseconds into these.
import { DAY_SECONDS, FIRST_SECOND, LAST_SECOND } from './calendar.ts'
import type { LocalTimes } from './local-match.ts'
import type { DstNote, DstRule } from './types.ts'
import type { Segment, Zone } from './zone.ts'

export interface Schedule {
  readonly local: LocalTimes
  readonly zone: Zone
  readonly dst: DstRule
}

// The rarest date (a fifth Friday in February) comes back within 40 years. Only a pattern whose
// every match falls in a skipped gap gets this far, and it must end.
const SEARCH_SECONDS = 100 * 366 * DAY_SECONDS
// No offset is larger than this, so a local time and its instant are never further apart.
const REACH = 26 * 3600
// A fold can bring back local times only this far behind the transition.
const FOLD_REACH = 2 * REACH

/** The first occurrence at or after the second, or null. */
export function nextSecond(schedule: Schedule, second: number): number | null {
  const { local, zone, dst } = schedule
  let from = Math.max(second, FIRST_SECOND)
  const limit = Math.min(LAST_SECOND, from + SEARCH_SECONDS)
  while (from <= limit) {
    const segment = zone.segmentAt(from)
    if (from === segment.start && gapShifts(schedule, segment)) return from
    if (dst.fold === 'first' && from < segment.freshFrom) from = segment.freshFrom
    const match = local.next(from + segment.offset)
    const instant = match - segment.offset
    if (instant < segment.end) return instant <= limit ? instant : null
    // Nothing matches before `match`, so skip whole segments, unless a fold so near that it
    // repeats local times from before `from`.
    const jump = segment.end - from > FOLD_REACH ? match - REACH : segment.end
    from = Math.max(segment.end, jump)
  }
  return null
}

/** The last occurrence at or before the second, or null. */
export function previousSecond(schedule: Schedule, second: number): number | null {
  const { local, zone, dst } = schedule
  let to = Math.min(second, LAST_SECOND)
  const limit = Math.max(FIRST_SECOND, to - SEARCH_SECONDS)
  while (to >= limit) {
    const segment = zone.segmentAt(to)
    const match = local.previous(to + segment.offset)
    const instant = match - segment.offset
    const start = dst.fold === 'first' ? Math.max(segment.start, segment.freshFrom) : segment.start
    if (instant >= start) return instant >= limit ? instant : null
    if (gapShifts(schedule, segment)) return segment.start
    const jump = to - segment.start > FOLD_REACH ? match + REACH : Infinity
    to = Math.min(segment.start - 1, jump)
  }
  return null
}

/** Occurrences in (after, to], one piece of arithmetic per segment. */
export function countSeconds(schedule: Schedule, after: number, to: number): number {
  const { local, zone, dst } = schedule
  const end = Math.min(to, LAST_SECOND) + 1
  let from = Math.max(after + 1, FIRST_SECOND)
  let total = 0
  while (from < end) {
    const segment = zone.segmentAt(from)
    if (from === segment.start && gapShifts(schedule, segment)) {
      if (!local.has(from + segment.offset)) total++
    }
    if (dst.fold === 'first' && from < segment.freshFrom) from = segment.freshFrom
    const until = Math.min(segment.end, end)
    total += local.count(from + segment.offset, until + segment.offset)
    from = Math.max(from, until)
  }
  return total
}

export function isOccurrence(schedule: Schedule, second: number): boolean {
  if (!(second >= FIRST_SECOND && second <= LAST_SECOND)) return false
  const segment = schedule.zone.segmentAt(second)
  if (isRegular(schedule, segment, second)) return true
  return second === segment.start && gapShifts(schedule, segment)
}

/** How a clock change touched this second; null if it is no occurrence or an ordinary one. */
export function noteOf(schedule: Schedule, second: number): DstNote | null {
  if (!isOccurrence(schedule, second)) return null
  const segment = schedule.zone.segmentAt(second)
  if (!isRegular(schedule, segment, second)) return 'dst-gap-shifted'
  if (second < segment.freshFrom) return 'dst-second-of-two'
  return repeatsLater(schedule.zone, segment, second) ? 'dst-first-of-two' : null
}

function isRegular({ local, dst }: Schedule, segment: Segment, second: number): boolean {
  if (dst.fold === 'first' && second < segment.freshFrom) return false
  return local.has(second + segment.offset)
}

// A year end may lie between the second and the fold, so more than one segment is looked at.
function repeatsLater(zone: Zone, segment: Segment, second: number): boolean {
  let { end } = segment
  while (end - second <= REACH) {
    const following = zone.segmentAt(end)
    if (following.jump < 0) return second >= following.start + following.jump
    end = following.end
  }
  return false
}

// Whether a matching local time is missing at the segment's start and moves there.
function gapShifts({ local, dst }: Schedule, { start, offset, jump }: Segment): boolean {
  if (jump <= 0 || dst.gap === 'skip') return false
  return local.next(start + offset - jump) < start + offset
}
