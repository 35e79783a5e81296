import { describe, expect, test } from 'vitest'
import { at, cron, daily, every, SchedulerError } from '../../src/index.ts'

const times = (moments: readonly { at: Date }[]) => moments.map(moment => moment.at.toISOString())

describe('every', () => {
  test.each([
    ['90s', 90_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
    [250, 250],
    [{ total: () => 1_000 }, 1_000],
  ] as const)('reads %j as milliseconds', (given, everyMs) => {
    expect(every(given).trigger).toMatchObject({ kind: 'interval', everyMs })
  })

  test('counts from the moment it is asked for, or on whole multiples when aligned', () => {
    const from = '2026-01-01T00:07:00Z'
    expect(times(every('15m').next(2, from))).toEqual([
      '2026-01-01T00:22:00.000Z',
      '2026-01-01T00:37:00.000Z',
    ])
    expect(times(every('15m', { align: true }).next(2, from))).toEqual([
      '2026-01-01T00:15:00.000Z',
      '2026-01-01T00:30:00.000Z',
    ])
  })

  test.each(['5 minutes', '', '-5m', Number.NaN, -1, 1.5])('refuses %j by name', given => {
    expect(() => every(given as '5m')).toThrow(/every: must be a duration/)
  })
})

describe('cron', () => {
  test('needs a zone, and says so', () => {
    expect(() => cron('0 7 * * *', {} as { tz: string })).toThrow(
      /tz: is required and must be an IANA/,
    )
    expect(() => cron('0 7 * * *', { tz: 'Mars/Olympus' })).toThrow(/Mars\/Olympus/)
  })

  test('names the expression and the field that is wrong', () => {
    expect(() => cron('61 * * * *', { tz: 'UTC' })).toThrow(/61/)
  })

  test('D: 0 12 * * * in UTC and in New York differ by the offset', () => {
    const from = '2024-01-01T10:00:00Z'
    expect(times(cron('0 12 * * *', { tz: 'UTC' }).next(1, from))).toEqual([
      '2024-01-01T12:00:00.000Z',
    ])
    expect(times(cron('0 12 * * *', { tz: 'America/New_York' }).next(1, from))).toEqual([
      '2024-01-01T17:00:00.000Z',
    ])
  })

  test('shows the wall clock, the zone and what summer time did', () => {
    const [, gap] = cron('30 2 * * *', { tz: 'Europe/Berlin' }).next(2, '2027-03-26T12:00:00Z')
    expect(gap).toEqual({
      at: new Date('2027-03-28T01:00:00Z'),
      wall: '2027-03-28T03:00:00',
      tz: 'Europe/Berlin',
      note: 'dst-gap-shifted',
    })
  })

  test('system stands for the zone of the host, resolved', () => {
    const { trigger } = cron('0 7 * * *', { tz: 'system' })
    expect(trigger).toMatchObject({ zone: Intl.DateTimeFormat().resolvedOptions().timeZone })
  })
})

describe('daily and at', () => {
  test('daily is a wall-clock time on some weekdays', () => {
    const when = daily('08:00', { tz: 'Europe/Berlin', on: ['thu', 'mon'] })
    expect(times(when.next(2, '2026-11-16T08:00:00Z'))).toEqual([
      '2026-11-19T07:00:00.000Z',
      '2026-11-23T07:00:00.000Z',
    ])
    expect(when.describe()).toContain('Europe/Berlin')
  })

  test.each(['8', '24:00', '08:60', 'eight'])('daily refuses %j', given => {
    expect(() => daily(given as '08:00', { tz: 'UTC' })).toThrow(/daily: must be a time/)
  })

  test('at takes a Date, an ISO text with offset, or an instant; nothing else', () => {
    const moment = Date.parse('2027-01-01T00:00:00Z')
    for (const given of [
      new Date(moment),
      '2027-01-01T01:00:00+01:00',
      { epochMilliseconds: moment },
    ]) {
      expect(at(given).trigger).toEqual({ kind: 'once', at: moment })
    }
    for (const given of ['2027-01-01T00:00:00', 'tomorrow', new Date(Number.NaN)]) {
      expect(() => at(given)).toThrow(SchedulerError)
    }
  })
})
