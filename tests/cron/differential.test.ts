// Against croner and cron-parser wherever the rules agree. What is left out, and why:
// - croner refuses L-n and weekday ranges that wrap; it takes lists of fixed times as elapsed
//   patterns when clocks change, so ours is given the rule croner applies.
// - cron-parser refuses repeated list values, W, L-n and lists around # or L; near clock changes
//   it skips days, moves times past the gap and can fail, so it is compared away from them.
import { CronExpressionParser } from 'cron-parser'
import { Cron as Croner } from 'croner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCron } from '../../src/cron/index.ts'
import type { Cron, Dialect, DstRule } from '../../src/cron/index.ts'
import { cronText } from './arbitraries.ts'

const SEED = 4711
const STEPS = 5
const DIALECTS: Dialect[] = ['posix', 'extended']

const CHANGES: [zone: string, shortlyBefore: string][] = [
  ['Europe/Berlin', '2027-03-28T00:00Z'],
  ['Europe/Berlin', '2027-10-30T23:30Z'],
  ['America/New_York', '2027-03-14T06:00Z'],
  ['America/New_York', '2027-11-07T04:30Z'],
  ['Australia/Lord_Howe', '2027-10-02T14:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T13:00Z'],
  ['Africa/Cairo', '2027-04-29T20:00Z'],
  ['Africa/Cairo', '2027-10-28T19:30Z'],
  ['America/Santiago', '2027-09-05T02:00Z'],
  ['America/Santiago', '2027-04-04T01:00Z'],
]
const STEADY: [zone: string, from: string][] = [
  ['UTC', '2027-05-01T00:00Z'],
  ['UTC', '2095-12-31T23:59Z'],
  ['Asia/Tokyo', '1999-12-31T14:00Z'],
]

type Next = (after: number) => number | null

function chain(next: Next, from: number): (number | null)[] {
  const found: (number | null)[] = []
  for (let at: number | null = from; at !== null && found.length < STEPS;) {
    at = next(at)
    found.push(at)
  }
  return found
}

// Null when the library refuses the expression.
function cronerNext(expression: string, zone: string): Next | null {
  try {
    const job = new Croner(expression, { timezone: zone, paused: true })
    return after => job.nextRun(new Date(after))?.getTime() ?? null
  } catch {
    return null
  }
}

function parserNext(expression: string, zone: string): Next | null {
  const next: Next = after =>
    CronExpressionParser.parse(expression, { tz: zone, currentDate: new Date(after) })
      .next()
      .getTime()
  try {
    CronExpressionParser.parse(expression, { tz: zone })
    return next
  } catch {
    return null
  }
}

function compile(expression: string, zone: string, dst?: DstRule): Cron | null {
  try {
    return parseCron(expression, dst === undefined ? { zone } : { zone, dst })
  } catch (error) {
    expect(String(error)).toContain('never run')
    return null
  }
}

// croner keeps to the wall clock only where one minute of one hour is named.
function cronerRule(expression: string): DstRule {
  const [minute, hour] = expression.split(' ')
  const fixed = isSingle(minute!) && isSingle(hour!)
  return fixed ? { gap: 'shift', fold: 'first' } : { gap: 'skip', fold: 'both' }
}

function isSingle(field: string): boolean {
  return !/[*/]/.test(field) && new Set(field.split(/[,-]/)).size === 1
}

function samples(dialect: Dialect, numRuns: number): string[] {
  return fc.sample(cronText(dialect, false), { seed: SEED, numRuns })
}

describe.each(DIALECTS)('%s expressions', dialect => {
  it.each(STEADY)('croner agrees in %s from %s', (zone, from) => {
    let compared = 0
    for (const expression of samples(dialect, 400)) {
      const ours = compile(expression, zone)
      const theirs = cronerNext(expression, zone)
      if (ours === null || theirs === null) continue
      compared++
      const start = Date.parse(from)
      expect([expression, chain(at => ours.next(at), start)]).toEqual([
        expression,
        chain(theirs, start),
      ])
    }
    expect(compared).toBeGreaterThan(300)
  })

  it.each(STEADY)('cron-parser agrees in %s from %s', (zone, from) => {
    let compared = 0
    for (const expression of samples(dialect, 300)) {
      const ours = compile(expression, zone)
      const theirs = parserNext(expression, zone)
      if (ours === null || theirs === null) continue
      compared++
      const start = Date.parse(from)
      expect([expression, chain(at => ours.next(at), start)]).toEqual([
        expression,
        chain(theirs, start),
      ])
    }
    expect(compared).toBeGreaterThan(100)
  })

  it.each(CHANGES)('T8: croner agrees in %s at the change after %s', (zone, from) => {
    let compared = 0
    for (const expression of samples(dialect, 250)) {
      const ours = compile(expression, zone, cronerRule(expression))
      const theirs = cronerNext(expression, zone)
      if (ours === null || theirs === null) continue
      compared++
      const start = Date.parse(from)
      expect([expression, chain(at => ours.next(at), start)]).toEqual([
        expression,
        chain(theirs, start),
      ])
    }
    expect(compared).toBeGreaterThan(180)
  })
})
