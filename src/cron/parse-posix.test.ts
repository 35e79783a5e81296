// The strict dialect as tables (spec E2) and the next times the spec names.
import { describe, expect, it } from 'vitest'
import { CronError, parseCron } from './index.ts'

const posix = (expression: string) => parseCron(expression, { dialect: 'posix' })

function fault(expression: unknown): CronError {
  try {
    posix(expression as string)
  } catch (error) {
    expect(error).toBeInstanceOf(CronError)
    return error as CronError
  }
  throw new Error(`accepted ${String(expression)}`)
}

describe('E2: accepts', () => {
  it.each([
    '* * * * *',
    '0 0 * * *',
    '0,15,30,45 * * * *',
    '0-59 0-23 1-31 1-12 0-6',
    '5,1-3,2 * * * *',
    '00 07 * * 1-5',
    '0 0 29 2 *',
    '0 0 31 4 1',
    '0 12 1-31 * 1',
    '\t0  0 \t* * *  ',
  ])('%j', expression => {
    expect(posix(expression).expression).toBe(expression)
  })
})

describe('E2: refuses', () => {
  it.each([
    ['steps', '*/5 * * * *', 'minute', 1],
    ['steps on ranges', '0 8-18/2 * * *', 'hour', 3],
    ['month names', '0 0 1 JAN *', 'month', 7],
    ['weekday names', '0 0 * * mon-fri', 'weekday', 9],
    ['macros', '@daily', null, 1],
    ['?', '0 0 ? * 1', 'day of month', 5],
    ['L', '0 0 L * *', 'day of month', 5],
    ['W', '0 0 15W * *', 'day of month', 5],
    ['#', '0 0 * * 5#3', 'weekday', 9],
    ['7 as Sunday', '0 0 * * 7', 'weekday', 9],
    ['7 at the end of a range', '0 0 * * 5-7', 'weekday', 11],
    ['wrap-around', '0 0 * * 5-1', 'weekday', 9],
    ['wrap-around hours', '0 22-2 * * *', 'hour', 3],
    ['a plus sign', '+5 * * * *', 'minute', 1],
    ['a minus sign', '-5 * * * *', 'minute', 1],
    ['decimals', '1.5 * * * *', 'minute', 1],
    ['an empty item', '1,,2 * * * *', 'minute', 3],
    ['a trailing comma', '1, * * * *', 'minute', 3],
    ['an open range', '1- * * * *', 'minute', 3],
    ['a double range', '1-2-3 * * * *', 'minute', 3],
    ['a star in a list', '1,* * * * *', 'minute', 3],
    ['minute 60', '60 * * * *', 'minute', 1],
    ['hour 24', '0 24 * * *', 'hour', 3],
    ['day 0', '0 0 0 * *', 'day of month', 5],
    ['day 32', '0 0 32 * *', 'day of month', 5],
    ['month 13', '0 0 1 13 *', 'month', 7],
    ['six fields', '0 0 0 * * *', null, null],
    ['four fields', '0 0 * *', null, null],
    ['nothing', '', null, null],
    ['blanks only', ' \t ', null, null],
    ['NBSP', '0\u00a00 * * *', null, 2],
    ['a newline', '0 0 * * *\n', null, 10],
    ['a vertical tab', '0\v0 * * *', null, 2],
    ['an ideographic space', '0\u30000 * * *', null, 2],
    ['fullwidth digits', '\uff10 * * * *', null, 1],
    ['Arabic digits', '0 \u0663 * * *', null, 3],
    ['NUL', '0 0 * * *\0', null, 10],
    ['30 February', '0 0 30 2 *', 'day of month', null],
    ['31 April', '0 0 31 4 *', 'day of month', null],
    ['the 31st of short months', '0 0 31 2,4,6,9,11 *', 'day of month', null],
  ])('%s', (_, expression, field, column) => {
    const error = fault(expression)
    expect(error).toMatchObject({ code: 'CRON_INVALID', expression, field, column })
    expect(error.reason).not.toBe('')
    expect(error.message).toContain(error.reason)
  })

  it('says what to write instead', () => {
    expect(fault('61 * * * *').hint).toBe('minutes are 0–59')
    expect(fault('0 0 * * 7').hint).toBe('Sunday is 0')
    expect(fault('@daily').hint).toBe('write 0 0 * * *')
    expect(fault('0 0 * * MON').hint).toBe('MON is 1')
  })

  it('I3: things that are no string', () => {
    for (const odd of [undefined, null, 5, {}, ['0 0 * * *']]) {
      expect(fault(odd).code).toBe('CRON_INVALID')
    }
  })
})

describe('E2: day of month and weekday', () => {
  const day = 86_400_000
  const from = Date.UTC(2025, 0, 1)
  it.each([
    ['0 12 1-31 * 1', 365],
    ['0 12 * * 1', 52],
    ['0 12 13 * 5', 63],
    ['0 12 * * 0-6', 365],
    ['0 0 31 4 1', 4],
  ])('%s runs on %i days of 2025', (expression, days) => {
    expect(posix(expression).count(from - 1, from + 365 * day - 1)).toBe(days)
  })
})

describe('E: next times of the spec', () => {
  it.each([
    ['0 0 29 2 *', '2025-02-01T00:00Z', '2028-02-29T00:00Z'],
    ['0 9 1 * 1', '2025-01-02T10:00Z', '2025-01-06T09:00Z'],
    ['0 0 1 4,7,10 *', '2025-10-01T00:00Z', '2026-04-01T00:00Z'],
    ['0,15,30,45 * * * *', '2025-01-01T00:20Z', '2025-01-01T00:30Z'],
    ['0 0 * * *', '2024-01-01T10:00Z', '2024-01-02T00:00Z'],
    ['0 0 29 2 *', '2096-03-01T00:00Z', '2104-02-29T00:00Z'],
  ])('%s after %s', (expression, after, expected) => {
    expect(posix(expression).next(Date.parse(after))).toBe(Date.parse(expected))
  })

  it('E5: Tuesday 15:30 matches 30 15 * * 2 and not 31 15 * * *', () => {
    const tuesday = Date.parse('2025-01-07T15:30:00Z')
    expect(posix('30 15 * * 2').matches(tuesday)).toBe(true)
    expect(posix('30 15 * * 2').latest(tuesday + 59_999)).toBe(tuesday)
    expect(posix('31 15 * * *').matches(tuesday)).toBe(false)
  })
})
