// Puts an expression, a zone and a rule for clock changes together; keeps compiled ones.
import { keep } from './bounded.ts'
import { canonicalText } from './canonical.ts'
import { canOccur } from './day-match.ts'
import { describeFields } from './describe.ts'
import { CronError, quote } from './errors.ts'
import { lintFields } from './lints.ts'
import { localTimes } from './local-match.ts'
import { checkInput } from './fields.ts'
import { parseExtended } from './parse-extended.ts'
import { parsePosix } from './parse-posix.ts'
import { countSeconds, isOccurrence, nextSecond, noteOf, previousSecond } from './search.ts'
import type { Cron, CronFields, CronOptions, Dialect, DstRule, Instant } from './types.ts'
import { findZone, hostZone } from './zone.ts'

const MAX_COMPILED = 2_000
const compiled = new Map<string, Cron>()

/** Compiles an expression; throws CronError. Equal calls get the same object while it is kept. */
export function parseCron(expression: string, options: CronOptions = {}): Cron {
  // Before the key is made: a huge input must not be hashed.
  checkInput(expression)
  const dialect = options.dialect ?? 'extended'
  const zone = options.zone === 'system' ? hostZone() : (options.zone ?? 'UTC')
  const { gap, fold } = options.dst ?? {}
  const key = `${dialect} ${zone} ${gap} ${fold} ${expression}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const cron = compile(expression, { dialect, zone, dst: options.dst ?? {} })
  keep(compiled, MAX_COMPILED, key, cron)
  return cron
}

function compile(expression: string, options: Required<CronOptions>): Cron {
  const { dialect } = options
  const fields = dialect === 'posix' ? parsePosix(expression) : parseExtended(expression)
  if (!canOccur(fields)) {
    const reason = 'no month it names ever has such a day, so it would never run'
    throw new CronError({ expression, field: 'day of month', reason })
  }
  const zone = findZone(options.zone)
  if (zone === null) {
    const reason = `${quote(options.zone)} is not a time zone known here`
    const hint = 'use an IANA name such as Europe/Berlin'
    throw new CronError({ code: 'ZONE_INVALID', expression, field: 'zone', reason, hint })
  }
  const dst = dstRule(dialect, fields, options.dst)
  const schedule = { local: localTimes(fields), zone, dst }
  return {
    expression,
    canonical: canonicalText(fields, dialect),
    zone: zone.name,
    dialect,
    dst,
    next: after => toInstant(nextSecond(schedule, floorSecond(after) + 1)),
    previous: before => toInstant(previousSecond(schedule, -floorSecond(-before) - 1)),
    latest: at => toInstant(previousSecond(schedule, floorSecond(at))),
    count: (from, to) => countSeconds(schedule, floorSecond(from), floorSecond(to)),
    matches: at => at % 1000 === 0 && isOccurrence(schedule, at / 1000),
    note: at => (at % 1000 === 0 ? noteOf(schedule, at / 1000) : null),
    describe: () => describeFields(fields, zone.name),
    lints: () => lintFields(fields, dialect),
  }
}

// Fixed times belong to the wall clock and keep to one run a day; patterns with `*` or a step in
// hour or minute belong to elapsed time. POSIX does neither: the clock is taken as it reads (E8).
function dstRule(dialect: Dialect, { elapsed }: CronFields, chosen: Partial<DstRule>): DstRule {
  const wallClock = dialect === 'extended' && !elapsed
  return Object.freeze({
    gap: chosen.gap ?? (wallClock ? 'shift' : 'skip'),
    fold: chosen.fold ?? (wallClock ? 'first' : 'both'),
  })
}

function floorSecond(at: Instant): number {
  if (Number.isNaN(at)) throw new RangeError('an instant must be a number of milliseconds')
  return Math.floor(at / 1000)
}

function toInstant(second: number | null): Instant | null {
  return second === null ? null : second * 1000
}
