// Seeded properties: the engine agrees with the slow oracle near clock changes and elsewhere.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron/index.ts'
import type { Cron, Dialect, DstRule } from '../../src/cron/index.ts'
import { cronText } from './arbitraries.ts'
import { clockChanges, occurrencesIn, readWindow } from './oracle.ts'
import type { Occurrence, Window } from './oracle.ts'

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'America/Santiago',
  'Antarctica/Troll',
  'Pacific/Apia',
  'Asia/Kathmandu',
  'Asia/Tokyo',
  'America/St_Johns',
  'Africa/Casablanca',
  'Asia/Tehran',
  'America/Recife',
  'Asia/Gaza',
]
const DAY = 86_400_000
const WINDOWS_PER_ZONE = 9
const SEED = 20_261_116

const windows = new Map<string, Window>()

// Window n of a zone is always the same; two of three straddle a clock change if there is one.
function windowOf(zone: string, n: number): Window {
  const key = `${zone} ${n}`
  let window = windows.get(key)
  if (window === undefined) {
    const centre = centreOf(zone, n)
    window = readWindow(zone, centre - 1.7 * DAY, centre + 1.8 * DAY, 60_000)
    windows.set(key, window)
  }
  return window
}

const SPECIAL: Record<string, number[]> = {
  'Pacific/Apia': [Date.UTC(2011, 11, 30, 10)],
  // Left +5:30 with 1986, so the 1990s and later are steady; years start matters more here.
  'Asia/Kathmandu': [Date.UTC(2000, 0, 1)],
  'America/Recife': [Date.UTC(2000, 9, 8, 3), Date.UTC(2000, 9, 15, 2)],
  'Asia/Gaza': [Date.UTC(2040, 9, 20), Date.UTC(2040, 9, 27)],
}

function centreOf(zone: string, n: number): number {
  const special = SPECIAL[zone]?.[n]
  if (special !== undefined) return special
  const year = 1990 + ((n * 37 + zone.length * 11) % 121)
  const start = Date.UTC(year, 0, 1)
  const changes = n % 3 === 2 ? [] : clockChanges(zone, start, start + 365 * DAY)
  const anywhere = start + ((n * 97 + zone.length) % 365) * DAY
  return changes[n % Math.max(1, changes.length)] ?? anywhere
}

interface Case {
  expression: string
  dialect: Dialect
  dst: DstRule
}

const dstRule = fc.record({
  gap: fc.constantFrom('shift' as const, 'skip' as const),
  fold: fc.constantFrom('first' as const, 'both' as const),
})

function anyCase(seconds: boolean): fc.Arbitrary<Case> {
  const dialects: Dialect[] = seconds ? ['extended'] : ['posix', 'extended']
  return fc.constantFrom(...dialects).chain(dialect =>
    fc.record({
      expression: cronText(dialect, seconds),
      dialect: fc.constant(dialect),
      dst: dstRule,
    }),
  )
}

function compile(given: Case, zone: string): Cron | null {
  try {
    return parseCron(given.expression, { zone, dialect: given.dialect, dst: given.dst })
  } catch (error) {
    // Random day lists may name dates that never come; nothing else may be refused.
    expect(String(error)).toContain('never run')
    return null
  }
}

function agree(cron: Cron, expected: Occurrence[], { from, to }: Window): void {
  const times = expected.map(({ at }) => at)
  const forward: number[] = []
  for (let at = cron.next(from); at !== null && at <= to; at = cron.next(at)) forward.push(at)
  expect(forward).toEqual(times)
  const backward: number[] = []
  for (let at = cron.latest(to); at !== null && at > from; at = cron.previous(at)) {
    backward.push(at)
  }
  expect(backward.toReversed()).toEqual(times)
  expect(cron.count(from, to)).toBe(times.length)
}

function agreeAt(cron: Cron, expected: Occurrence[], at: number): void {
  const here = expected.find(o => o.at === at)
  expect(cron.matches(at)).toBe(here !== undefined)
  expect(cron.note(at)).toBe(here?.note ?? null)
}

describe('E2, E8, T8: the engine agrees with a minute-by-minute reading of Intl', () => {
  it.each(ZONES)('%s, five fields', zone => {
    const property = fc.property(
      anyCase(false),
      fc.nat(WINDOWS_PER_ZONE - 1),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 6, maxLength: 6 }),
      (given, n, spots) => {
        const cron = compile(given, zone)
        if (cron === null) return
        const window = windowOf(zone, n)
        const expected = occurrencesIn(given.expression, given.dst, window)
        agree(cron, expected, window)
        const span = window.to - window.from
        const picked = spots.map(spot => Math.floor(window.from + 1 + spot * (span - 1)))
        const [low, high] = [picked[0]!, picked[1]!].toSorted((a, b) => a - b) as [number, number]
        const inside = expected.filter(({ at }) => at > low && at <= high)
        expect(cron.count(low, high)).toBe(inside.length)
        for (const at of picked) agreeAt(cron, expected, Math.ceil(at / 60_000) * 60_000)
        for (const { at } of expected.slice(0, 50)) agreeAt(cron, expected, at)
        const middle = picked[2]!
        expect(cron.next(middle) ?? Infinity).toBe(
          expected.find(({ at }) => at > middle)?.at ?? cron.next(window.to) ?? Infinity,
        )
      },
    )
    fc.assert(property, { seed: SEED, numRuns: 120 })
  })

  const secondZones = ['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Cairo']
  it.each(secondZones)('%s, six fields, second by second', zone => {
    const hour = 3_600_000
    const sides = clockChanges(zone, Date.UTC(2027, 0, 1), Date.UTC(2028, 0, 1)).map(at =>
      readWindow(zone, at - 1.6 * hour, at + 1.7 * hour, 1000),
    )
    expect(sides).toHaveLength(2)
    const property = fc.property(anyCase(true), fc.nat(1), (given, side) => {
      const cron = compile(given, zone)
      if (cron === null) return
      agree(cron, occurrencesIn(given.expression, given.dst, sides[side]!), sides[side]!)
    })
    fc.assert(property, { seed: SEED, numRuns: 40 })
  })
})

describe('the windows are worth looking at', () => {
  const changing = ZONES.filter(zone => !['UTC', 'Asia/Tokyo', 'Asia/Kathmandu'].includes(zone))
  it.each(changing)('%s has windows with a gap or a fold', zone => {
    const changed = Array.from({ length: WINDOWS_PER_ZONE }, (_, n) => windowOf(zone, n)).filter(
      ({ local, step }) => local.some((reading, i) => i > 0 && reading !== local[i - 1]! + step),
    )
    expect(changed.length).toBeGreaterThanOrEqual(1)
  })
})

describe('the engine agrees with itself over long spans', () => {
  it('count, next and previous over years', () => {
    const property = fc.property(
      anyCase(false),
      fc.constantFrom(...ZONES),
      fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2106, 0, 1) }),
      (given, zone, from) => {
        const cron = compile(given, zone)
        if (cron === null) return
        let at: number | null = from
        const times: number[] = []
        while (times.length < 800 && (at = cron.next(at)) !== null) times.push(at)
        const last = times.at(-1) ?? from
        expect(cron.count(from, last)).toBe(times.length)
        expect(times.every((time, i) => time > (times[i - 1] ?? from))).toBe(true)
        const back: number[] = []
        for (let t = cron.latest(last); t !== null && t > from; t = cron.previous(t)) back.push(t)
        expect(back.toReversed()).toEqual(times)
      },
    )
    fc.assert(property, { seed: SEED, numRuns: 400 })
  })

  it('E7: reading the canonical text back gives the same schedule and the same text', () => {
    const property = fc.property(
      fc.boolean().chain(seconds => anyCase(seconds)),
      fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2106, 0, 1) }),
      (given, from) => {
        const first = compile(given, 'Europe/Berlin')
        if (first === null) return
        const { dialect } = given
        // Without a chosen rule, so that the default of the pattern must survive too.
        const free = parseCron(given.expression, { zone: 'Europe/Berlin', dialect })
        const again = parseCron(free.canonical, { zone: 'Europe/Berlin', dialect })
        expect(again.canonical).toBe(free.canonical)
        expect(again.dst).toEqual(free.dst)
        expect(again.next(from)).toBe(free.next(from))
        expect(again.count(from, from + 400 * DAY)).toBe(free.count(from, from + 400 * DAY))
      },
    )
    fc.assert(property, { seed: SEED, numRuns: 600 })
  })
})
