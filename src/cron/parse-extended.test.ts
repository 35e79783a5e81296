// The extended dialect as tables: days, times, refusals with their hints, canonical text.
import { describe, expect, it } from 'vitest'
import { CronError, parseCron } from './index.ts'

function fault(expression: string): CronError {
  try {
    parseCron(expression)
  } catch (error) {
    expect(error).toBeInstanceOf(CronError)
    return error as CronError
  }
  throw new Error(`accepted ${expression}`)
}

const dates = (expression: string, after: string, n: number): string[] => {
  const cron = parseCron(expression)
  const found: string[] = []
  for (let at = Date.parse(after); found.length < n;) {
    at = cron.next(at)!
    found.push(new Date(at).toISOString().slice(0, 10))
  }
  return found
}

describe('extended: days', () => {
  it.each([
    ['0 0 L * *', ['2027-01-31', '2027-02-28', '2027-03-31']],
    ['0 0 L-3 * *', ['2027-01-28', '2027-02-25', '2027-03-28']],
    ['0 0 LW * *', ['2027-01-29', '2027-02-26', '2027-03-31']],
    ['0 0 15W * *', ['2027-01-15', '2027-02-15', '2027-03-15']],
    ['0 0 1W 5,8 *', ['2027-05-03', '2027-08-02', '2028-05-01']],
    ['0 0 30W 1,5 *', ['2027-01-29', '2027-05-31', '2028-01-31']],
    ['0 0 31W * *', ['2027-01-29', '2027-03-31', '2027-05-31']],
    ['0 0 * * 5L', ['2027-01-29', '2027-02-26', '2027-03-26']],
    ['0 0 * * friL', ['2027-01-29', '2027-02-26', '2027-03-26']],
    ['0 0 * * 5#3', ['2027-01-15', '2027-02-19', '2027-03-19']],
    ['0 0 * * 5#5', ['2027-01-29', '2027-04-30', '2027-07-30']],
    ['0 0 * * SUN#1', ['2027-01-03', '2027-02-07', '2027-03-07']],
    ['0 0 ? * 7', ['2027-01-03', '2027-01-10', '2027-01-17']],
    ['0 0 * * FRI-MON', ['2027-01-02', '2027-01-03', '2027-01-04', '2027-01-08']],
    ['0 0 13 * FRI', ['2027-01-08', '2027-01-13', '2027-01-15']],
    ['0 0 */15 2 *', ['2027-02-01', '2027-02-16', '2028-02-01']],
    ['0 0 * 2 5#5', ['2036-02-29', '2064-02-29', '2092-02-29', '2104-02-29']],
    ['@yearly', ['2028-01-01', '2029-01-01']],
    ['@WEEKLY', ['2027-01-03', '2027-01-10']],
  ])('%s', (expression, expected) => {
    expect(dates(expression, '2027-01-01T00:00Z', expected.length)).toEqual(expected)
  })

  it('a step on * restricts a day field, so either field matches', () => {
    expect(dates('0 0 */10 * MON', '2027-01-01T00:00Z', 4)).toEqual([
      '2027-01-04',
      '2027-01-11',
      '2027-01-18',
      '2027-01-21',
    ])
  })
})

describe('extended: times', () => {
  it.each([
    ['*/5 * * * *', '2027-01-01T00:04:30Z', '2027-01-01T00:05:00Z'],
    ['10-40/15 * * * *', '2027-01-01T00:30:00Z', '2027-01-01T00:40:00Z'],
    ['*/20 * * * * *', '2027-01-01T00:00:20Z', '2027-01-01T00:00:40Z'],
    ['15 30 7 * * *', '2027-01-01T07:30:15Z', '2027-01-02T07:30:15Z'],
    ['@hourly', '2027-01-01T00:00:00Z', '2027-01-01T01:00:00Z'],
    ['0 0 1 jan-Mar/2 *', '2027-01-01T00:00:00Z', '2027-03-01T00:00:00Z'],
  ])('%s after %s', (expression, after, expected) => {
    expect(parseCron(expression).next(Date.parse(after))).toBe(Date.parse(expected))
  })
})

describe('extended: refuses', () => {
  it.each([
    ['5/15 * * * *', 'minute', 1, 'write 5-59/15'],
    ['61 * * * *', 'minute', 1, 'minutes are 0–59'],
    ['*/0 * * * *', 'minute', 3, 'steps of minutes are 1–59'],
    ['*/60 * * * *', 'minute', 3, 'steps of minutes are 1–59'],
    ['50-10 * * * *', 'minute', 1, 'write 50-59,0-10'],
    ['0 22-2 * * *', 'hour', 3, 'write 22-23,0-2'],
    ['0 0 1 NOV-FEB *', 'month', 7, 'write 11-12,1-2'],
    ['0 0 * * 5-1', 'weekday', 9, 'only ranges between names wrap, such as FRI-MON'],
    ['0 0 * * 8', 'weekday', 9, 'weekdays are 0–7'],
    ['0 0 * * L', 'weekday', 9, '5L is the last Friday'],
    ['0 0 * * 5#6', 'weekday', 11, 'places are 1–5'],
    ['0 0 L-31 * *', 'day of month', 5, 'L-1 to L-30, or L for the last day'],
    ['0 0 32W * *', 'day of month', 5, 'days of the month are 1–31'],
    ['0 0 * FOO *', 'month', 7, null],
    ['? * * * *', 'minute', 1, null],
    ['*,1 * * * *', 'minute', 1, '* alone means every value'],
    ['@reboot', null, 1, 'start-up is not a time: run the job once when the process starts'],
    ['@daily 5', null, 8, null],
    ['@constructor', null, 1, null],
    ['* * * *', null, null, 'minute hour day month weekday'],
    ['0 0 0 1 1 * 2027', null, null, 'a year field is not supported'],
  ])('%s', (expression, field, column, hint) => {
    const error = fault(expression)
    expect(error).toMatchObject({ code: 'CRON_INVALID', expression, field, column })
    if (hint !== null) expect(error.hint).toBe(hint)
  })

  it.each([
    '0 0 30 2 *',
    '0 0 31 4 *',
    '0 0 31 2,4,6,9,11 *',
    '0 0 30,31 2 ?',
    '0 0 31W 2,4 *',
    '0 0 L-30 2 *',
    '0 0 L-29 2 *',
    '* * * 30-31 FEB *',
  ])('I1: %s never comes', expression => {
    expect(fault(expression).reason).toContain('never run')
  })
})

describe('E7: canonical text', () => {
  it.each([
    ['0  7\t* * 1-5', '0 7 * * MON-FRI'],
    ['0,30,30 7 * * *', '30,0 07 * * *'],
    ['0 7 1,2,3 JAN *', '0 7 1-3 1 ?'],
    ['*/15 * * * *', '0-45/15 * * * *'],
    ['*/30 2 * * *', '0-30/30 2 * * *'],
    ['0 0 * * 0', '@weekly'],
    ['0 7 * * *', '0 0 7 * * *'],
    ['0 0 * * 5,5#3', '0 0 * * FRI'],
    ['0 12 1-31 * 1', '0 12 * * *'],
  ])('%s equals %s', (one, other) => {
    expect(parseCron(one).canonical).toBe(parseCron(other).canonical)
  })

  it.each([
    // Both list the same minutes, but only one keeps to the wall clock when clocks change.
    ['0,30 2 * * *', '*/30 2 * * *'],
    ['0 0-23 * * *', '0 * * * *'],
    ['0 7 1 * *', '0 7 1 * 1'],
    ['0 7 L * *', '0 7 31 * *'],
    ['0 7 * * *', '1 0 7 * * *'],
  ])('%s differs from %s', (one, other) => {
    expect(parseCron(one).canonical).not.toBe(parseCron(other).canonical)
  })
})
