// Clock changes as tables. The transitions of 2027 in UTC are written out by hand.
import { describe, expect, it } from 'vitest'
import { parseCron } from './index.ts'
import type { CronOptions } from './index.ts'

const HOUR = 3_600_000

// Every occurrence within 12 hours around a transition, as UTC minutes of the clock.
function around(change: string, expression: string, options: CronOptions): string[] {
  const at = Date.parse(change)
  const cron = parseCron(expression, options)
  const found: string[] = []
  let next = cron.next(at - 12 * HOUR)
  while (next !== null && next <= at + 12 * HOUR) {
    found.push(new Date(next).toISOString().slice(0, 16))
    next = cron.next(next)
  }
  expect(cron.count(at - 12 * HOUR, at + 12 * HOUR)).toBe(found.length)
  return found
}

interface Night {
  zone: string
  change: string
  expression: string
  extended: string[]
  posix: string[] | null
}

const GAPS: Night[] = [
  night('Europe/Berlin', '2027-03-28T01:00Z', '30 2 * * *', ['2027-03-28T01:00'], []),
  night(
    'Europe/Berlin',
    '2027-03-28T01:00Z',
    '0 2,3 * * *',
    ['2027-03-28T01:00'],
    ['2027-03-28T01:00'],
  ),
  night('Europe/Berlin', '2027-03-28T01:00Z', '*/30 2 * * *', [], null),
  night(
    'Europe/Berlin',
    '2027-03-28T01:00Z',
    '59 1 * * *',
    ['2027-03-28T00:59'],
    ['2027-03-28T00:59'],
  ),
  night('America/New_York', '2027-03-14T07:00Z', '30 2 * * *', ['2027-03-14T07:00'], []),
  night('America/New_York', '2027-03-14T07:00Z', '0,30 2 * * *', ['2027-03-14T07:00'], []),
  night('Australia/Lord_Howe', '2027-10-02T15:30Z', '15 2 * * *', ['2027-10-02T15:30'], []),
  night(
    'Australia/Lord_Howe',
    '2027-10-02T15:30Z',
    '30 2 * * *',
    ['2027-10-02T15:30'],
    ['2027-10-02T15:30'],
  ),
  night('Africa/Cairo', '2027-04-29T22:00Z', '0 0 * * *', ['2027-04-29T22:00'], []),
  night('Africa/Cairo', '2027-04-29T22:00Z', '30 0 30 4 *', ['2027-04-29T22:00'], []),
  night('America/Santiago', '2027-09-05T04:00Z', '0 0 * * *', ['2027-09-05T04:00'], []),
  night('America/Santiago', '2027-09-05T04:00Z', '59 0 * * 0', ['2027-09-05T04:00'], []),
  night('Antarctica/Troll', '2027-03-28T01:00Z', '30 1 * * *', ['2027-03-28T01:00'], []),
  night('Antarctica/Troll', '2027-03-28T01:00Z', '59 2 * * *', ['2027-03-28T01:00'], []),
  night('Asia/Kathmandu', '1985-12-31T18:30Z', '10 0 * * *', ['1985-12-31T18:30'], []),
  night('Pacific/Apia', '2011-12-30T10:00Z', '0 7 30 12 *', ['2011-12-30T10:00'], []),
  night(
    'Pacific/Apia',
    '2011-12-30T10:00Z',
    '0 7 * * *',
    ['2011-12-30T10:00', '2011-12-30T17:00'],
    ['2011-12-30T17:00'],
  ),
]

const FOLDS: Night[] = [
  twice('Europe/Berlin', '2027-10-31T01:00Z', '30 2 * * *', [
    '2027-10-31T00:30',
    '2027-10-31T01:30',
  ]),
  twice('Europe/Berlin', '2027-10-31T01:00Z', '0 2 * * *', [
    '2027-10-31T00:00',
    '2027-10-31T01:00',
  ]),
  twice('America/New_York', '2027-11-07T06:00Z', '30 1 * * *', [
    '2027-11-07T05:30',
    '2027-11-07T06:30',
  ]),
  twice('Australia/Lord_Howe', '2027-04-03T15:00Z', '45 1 * * *', [
    '2027-04-03T14:45',
    '2027-04-03T15:15',
  ]),
  twice('Australia/Lord_Howe', '2027-04-03T15:00Z', '9 1 * * *', ['2027-04-03T14:09']),
  twice('Africa/Cairo', '2027-10-28T21:00Z', '30 23 * * *', [
    '2027-10-28T20:30',
    '2027-10-28T21:30',
  ]),
  twice('America/Santiago', '2027-04-04T03:00Z', '30 23 * * *', [
    '2027-04-04T02:30',
    '2027-04-04T03:30',
  ]),
  twice('Antarctica/Troll', '2027-10-31T01:00Z', '30 1 * * *', [
    '2027-10-30T23:30',
    '2027-10-31T01:30',
  ]),
]

describe('T8, E8: a missing time', () => {
  it.each(GAPS)('$zone $expression', ({ zone, change, expression, extended, posix }) => {
    expect(around(change, expression, { zone })).toEqual(extended)
    if (posix === null) return
    expect(around(change, expression, { zone, dialect: 'posix' })).toEqual(posix)
    expect(around(change, expression, { zone, dst: { gap: 'skip' } })).toEqual(posix)
    expect(around(change, expression, { zone, dialect: 'posix', dst: { gap: 'shift' } })).toEqual(
      extended,
    )
  })
})

describe('T8, E8: a repeated time', () => {
  it.each(FOLDS)('$zone $expression', ({ zone, change, expression, extended, posix }) => {
    expect(around(change, expression, { zone })).toEqual(extended)
    expect(around(change, expression, { zone, dialect: 'posix' })).toEqual(posix)
    expect(around(change, expression, { zone, dst: { fold: 'both' } })).toEqual(posix)
    expect(around(change, expression, { zone, dialect: 'posix', dst: { fold: 'first' } })).toEqual(
      extended,
    )
  })
})

describe('T8: patterns with * or a step follow elapsed time', () => {
  it.each([
    ['Europe/Berlin', '2027-03-28T01:00Z'],
    ['Europe/Berlin', '2027-10-31T01:00Z'],
    ['America/Santiago', '2027-04-04T03:00Z'],
    ['Africa/Cairo', '2027-04-29T22:00Z'],
    ['Antarctica/Troll', '2027-10-31T01:00Z'],
  ])('%s around %s', (zone, change) => {
    expect(around(change, '0 * * * *', { zone })).toHaveLength(24)
    expect(around(change, '*/15 * * * *', { zone })).toHaveLength(96)
  })

  it('*/30 2 * * * runs in both passes and an even hour lost in a gap is not made up', () => {
    const zone = 'Europe/Berlin'
    expect(around('2027-10-31T01:00Z', '*/30 2 * * *', { zone })).toEqual([
      '2027-10-31T00:00',
      '2027-10-31T00:30',
      '2027-10-31T01:00',
      '2027-10-31T01:30',
    ])
    expect(around('2027-03-28T01:00Z', '0 */2 * * *', { zone })).not.toContain('2027-03-28T01:00')
  })

  it('says which rule is in force', () => {
    const zone = 'Europe/Berlin'
    expect(parseCron('30 2 * * *', { zone }).dst).toEqual({ gap: 'shift', fold: 'first' })
    expect(parseCron('*/5 2 * * *', { zone }).dst).toEqual({ gap: 'skip', fold: 'both' })
    expect(parseCron('30 2-3/1 * * *', { zone }).dst).toEqual({ gap: 'skip', fold: 'both' })
    expect(parseCron('30 2 * * *', { zone, dst: { gap: 'skip' } }).dst).toEqual({
      gap: 'skip',
      fold: 'first',
    })
    expect(parseCron('30 2 * * *', { zone, dialect: 'posix' }).dst).toEqual({
      gap: 'skip',
      fold: 'both',
    })
  })
})

describe('notes', () => {
  const at = Date.parse
  const zone = 'Europe/Berlin'
  it('mark what a clock change did', () => {
    const daily = parseCron('30 2 * * *', { zone })
    expect(daily.note(at('2027-03-28T01:00Z'))).toBe('dst-gap-shifted')
    expect(daily.note(at('2027-10-31T00:30Z'))).toBe('dst-first-of-two')
    expect(daily.note(at('2027-10-31T01:30Z'))).toBeNull()
    expect(daily.note(at('2027-06-01T00:30Z'))).toBeNull()
    expect(daily.note(at('2027-06-01T00:31Z'))).toBeNull()
    expect(daily.note(at('2027-03-28T01:00Z') + 1)).toBeNull()
    const both = parseCron('30 2 * * *', { zone, dst: { fold: 'both' } })
    expect(both.note(at('2027-10-31T01:30Z'))).toBe('dst-second-of-two')
  })

  it('stay away from a shifted time that is due anyway', () => {
    expect(parseCron('0 2,3 * * *', { zone }).note(at('2027-03-28T01:00Z'))).toBeNull()
  })
})

function night(...row: [string, string, string, string[], string[] | null]): Night {
  const [zone, change, expression, extended, posix] = row
  return { zone, change, expression, extended, posix }
}

function twice(zone: string, change: string, expression: string, passes: string[]): Night {
  return { zone, change, expression, extended: passes.slice(0, 1), posix: passes }
}
