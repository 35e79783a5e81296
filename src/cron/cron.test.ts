// The compiled expression: its edges, its cache, its sentence and its advice.
import { describe, expect, it } from 'vitest'
import { parseCron } from './index.ts'

const at = Date.parse

describe('next, previous, latest, count', () => {
  const hourly = parseCron('0 * * * *')
  const noon = at('2027-01-01T12:00Z')
  const hour = 3_600_000

  it('are strict or inclusive as they say, to the millisecond', () => {
    expect(hourly.next(noon)).toBe(noon + hour)
    expect(hourly.next(noon - 1)).toBe(noon)
    expect(hourly.previous(noon)).toBe(noon - hour)
    expect(hourly.previous(noon + 1)).toBe(noon)
    expect(hourly.latest(noon)).toBe(noon)
    expect(hourly.latest(noon - 1)).toBe(noon - hour)
    expect(hourly.count(noon, noon + hour)).toBe(1)
    expect(hourly.count(noon - 1, noon + hour - 1)).toBe(1)
    expect(hourly.count(noon + hour, noon)).toBe(0)
    expect(hourly.matches(noon)).toBe(true)
    expect(hourly.matches(noon + 1)).toBe(false)
  })

  it('work before 1970', () => {
    expect(hourly.next(at('1969-12-31T22:30Z'))).toBe(at('1969-12-31T23:00Z'))
    expect(hourly.previous(0)).toBe(-hour)
    expect(hourly.count(-10 * hour, 0)).toBe(10)
  })

  it('T10: end at the edges of the calendar and never loop', () => {
    expect(hourly.next(Date.UTC(10_000, 0, 1) - 1)).toBeNull()
    expect(hourly.next(Infinity)).toBeNull()
    expect(hourly.previous(-Infinity)).toBeNull()
    expect(hourly.latest(Infinity)).toBe(Date.UTC(10_000, 0, 1) - hour)
    expect(hourly.matches(Infinity)).toBe(false)
    expect(hourly.note(Number.NaN)).toBeNull()
    expect(() => hourly.next(Number.NaN)).toThrow(RangeError)
    // The last Sunday of March at 02:30 is always in Berlin's gap.
    const never = parseCron('30 2 * 3 SUNL', { zone: 'Europe/Berlin', dst: { gap: 'skip' } })
    expect(never.next(at('2027-01-01'))).toBeNull()
  })
})

describe('parseCron', () => {
  it('gives the same object for the same input and keeps options apart', () => {
    const one = parseCron('0 7 * * *', { zone: 'Europe/Berlin' })
    expect(parseCron('0 7 * * *', { zone: 'Europe/Berlin' })).toBe(one)
    expect(parseCron('0 7 * * *', { zone: 'Asia/Tokyo' })).not.toBe(one)
    expect(parseCron('0 7 * * *', { zone: 'Europe/Berlin', dialect: 'posix' })).not.toBe(one)
    expect(parseCron('0 7 * * *', { zone: 'Europe/Berlin', dst: { gap: 'skip' } })).not.toBe(one)
  })

  it('defaults to UTC and the extended dialect', () => {
    expect(parseCron('0 7 * * MON')).toMatchObject({
      expression: '0 7 * * MON',
      zone: 'UTC',
      dialect: 'extended',
    })
  })

  it('survives more expressions and zones than it keeps', () => {
    const first = parseCron('1 1 1 1 *')
    for (let i = 0; i < 2500; i++)
      parseCron(`${i % 60} ${Math.floor(i / 60) % 24} ${1 + (i % 28)} * *`)
    expect(parseCron('1 1 1 1 *').canonical).toBe(first.canonical)
  })
})

describe('sentences', () => {
  it.each([
    ['* * * * *', 'Every minute (UTC)'],
    ['*/5 * * * *', 'Every 5 minutes (UTC)'],
    ['15 * * * *', 'At minute 15 of every hour (UTC)'],
    ['0 7 * * 1-5', 'At 07:00 on Monday to Friday (UTC)'],
    ['30 2 * * *', 'At 02:30 every day (UTC)'],
    ['0 9 1 * 1', 'At 09:00 on day 1 of the month or on Monday (UTC)'],
    ['15 10 L * *', 'At 10:15 on the last day of the month (UTC)'],
    ['0 12 * * 5#3,5L', 'At 12:00 on the third Friday and the last Friday (UTC)'],
    [
      '0 0 15W 1-3 *',
      'At 00:00 on the working day nearest day 15 of the month in January to March (UTC)',
    ],
    ['0 0 LW * *', 'At 00:00 on the last working day of the month (UTC)'],
    ['*/10 * * * * *', 'Every 10 seconds (UTC)'],
    ['*/15 30 * * * *', 'Every 15 seconds of minute 30 of every hour (UTC)'],
    ['0 */2 * * *', 'At minute 0 of every 2nd hour from midnight every day (UTC)'],
  ])('%s', (expression, text) => {
    expect(parseCron(expression).describe()).toBe(text)
  })
})

describe('lints', () => {
  it.each([
    ['0 7 * * 1-5', []],
    ['0 9 1 * 1', ['day-or-weekday']],
    ['0 9 */2 * 1', ['day-or-weekday', 'step-limits-day', 'uneven-step']],
    ['* 9 * * *', ['every-minute-of-hour']],
    ['* 0 9 * * *', ['every-second-of-minute']],
    ['*/7 * * * *', ['uneven-step']],
    ['*/15 * * * *', ['interval-equivalent']],
    ['*/30 * * * * *', ['interval-equivalent']],
    ['0 */5 * * *', ['uneven-step']],
    ['0 0 31 * *', ['short-months']],
    ['0 0 31 1,3 *', []],
    ['0 0 29 2 *', ['rare']],
    ['0 0 L * *', []],
  ])('%s: %j', (expression, codes) => {
    expect(
      parseCron(expression)
        .lints()
        .map(lint => lint.code),
    ).toEqual(codes)
  })

  it('POSIX lists are taken as meant', () => {
    const lints = parseCron('0,7,14,21,28,35,42,49,56 * * * *', { dialect: 'posix' }).lints()
    expect(lints).toEqual([])
  })
})
