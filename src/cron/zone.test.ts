// Names, transitions and readable times of zones.
import { afterEach, describe, expect, it } from 'vitest'
import { CronError, formatInZone, isZone, parseCron, zoneTransitions } from './index.ts'
import { wallClock } from './zone-info.ts'

const at = Date.parse

describe('zones', () => {
  it('knows IANA names and nothing else', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Etc/GMT+5', 'EST5EDT']) {
      expect(isZone(name)).toBe(true)
    }
    for (const name of ['', 'system', '+05:00', 'Mars/Base', 'Europe/Berlin ', 'x'.repeat(1e6)]) {
      expect(isZone(name)).toBe(false)
    }
  })

  it('refuses an unknown zone with ZONE_INVALID', () => {
    for (const act of [
      () => parseCron('0 0 * * *', { zone: 'Mars/Base' }),
      () => formatInZone(0, 'Mars/Base'),
      () => zoneTransitions('Mars/Base', 0, 1),
    ]) {
      expect(act).toThrow(CronError)
      expect(act).toThrow(expect.objectContaining({ code: 'ZONE_INVALID', field: 'zone' }))
    }
  })

  it('D: noon in UTC and in New York differ by the offset', () => {
    const after = at('2024-01-01T00:00Z')
    const utc = parseCron('0 12 * * *').next(after)!
    const newYork = parseCron('0 12 * * *', { zone: 'America/New_York' }).next(after)!
    expect(newYork - utc).toBe(5 * 3_600_000)
    expect(parseCron('0 12 * * *', { zone: 'Asia/Kathmandu' }).next(after)).toBe(
      at('2024-01-01T06:15Z'),
    )
  })

  describe('E8: system', () => {
    const before = process.env.TZ
    afterEach(() => {
      if (before === undefined) delete process.env.TZ
      else process.env.TZ = before
    })

    it('is the zone of the host, shown by its name', () => {
      process.env.TZ = 'America/Santiago'
      expect(parseCron('0 0 * * *', { zone: 'system' }).zone).toBe('America/Santiago')
      process.env.TZ = 'Asia/Tokyo'
      expect(parseCron('0 0 * * *', { zone: 'system' }).zone).toBe('Asia/Tokyo')
    })
  })
})

describe('zoneTransitions', () => {
  const hour = 3_600_000
  it('lists changes after from, up to and including to', () => {
    const spring = at('2027-03-28T01:00Z')
    const autumn = at('2027-10-31T01:00Z')
    expect(zoneTransitions('Europe/Berlin', at('2027-01-01'), autumn)).toEqual([
      { at: spring, offsetBeforeMs: hour, offsetAfterMs: 2 * hour },
      { at: autumn, offsetBeforeMs: 2 * hour, offsetAfterMs: hour },
    ])
    expect(zoneTransitions('Europe/Berlin', spring, autumn - 1)).toEqual([])
    expect(zoneTransitions('Europe/Berlin', spring - 1, spring)).toHaveLength(1)
  })

  it('finds stays of a week, a lost day, half hours and quarter hours', () => {
    const recife = zoneTransitions('America/Recife', at('2000-01-01'), at('2001-01-01'))
    expect(recife.map(change => new Date(change.at).toISOString())).toEqual([
      '2000-02-27T02:00:00.000Z',
      '2000-10-08T03:00:00.000Z',
      '2000-10-15T02:00:00.000Z',
    ])
    const apia = zoneTransitions('Pacific/Apia', at('2011-12-01'), at('2012-01-15'))
    expect(apia).toEqual([
      { at: at('2011-12-30T10:00Z'), offsetBeforeMs: -10 * hour, offsetAfterMs: 14 * hour },
    ])
    const kathmandu = zoneTransitions('Asia/Kathmandu', at('1980-01-01'), at('2100-01-01'))
    expect(kathmandu).toEqual([
      { at: at('1985-12-31T18:30Z'), offsetBeforeMs: 5.5 * hour, offsetAfterMs: 5.75 * hour },
    ])
  })

  it('goes on with the yearly rules far ahead and has none in UTC', () => {
    expect(zoneTransitions('America/New_York', at('2109-01-01'), at('2111-01-01'))).toHaveLength(4)
    const far = zoneTransitions('Europe/Berlin', Date.UTC(9000, 0, 1), Date.UTC(9001, 0, 1))
    expect(far.map(change => new Date(change.at).toISOString().slice(5, 13))).toEqual([
      '03-30T01',
      '10-26T01',
    ])
    expect(zoneTransitions('UTC', -Infinity, Infinity)).toEqual([])
  })
})

describe('wallClock', () => {
  it.each([
    ['2026-11-16T06:00:00Z', 'UTC', '2026-11-16T06:00:00'],
    ['2027-03-28T00:59:59Z', 'Europe/Berlin', '2027-03-28T01:59:59'],
    ['2027-03-28T01:00:00Z', 'Europe/Berlin', '2027-03-28T03:00:00'],
    ['2026-11-16T18:30:00Z', 'Asia/Kathmandu', '2026-11-17T00:15:00'],
  ])('%s in %s is %s', (instant, zone, text) => {
    expect(wallClock(at(instant), zone)).toBe(text)
  })
})

describe('formatInZone', () => {
  it.each([
    ['2026-11-16T06:00Z', 'Europe/Berlin', 'Mon 16 Nov 2026 07:00 CET'],
    ['2027-03-28T01:00Z', 'Europe/Berlin', 'Sun 28 Mar 2027 03:00 CEST'],
    ['2027-07-01T12:00:05Z', 'America/New_York', 'Thu 1 Jul 2027 08:00:05 EDT'],
    ['2027-01-01T00:00Z', 'UTC', 'Fri 1 Jan 2027 00:00 UTC'],
    ['2027-01-01T00:00Z', 'Asia/Kathmandu', 'Fri 1 Jan 2027 05:45 GMT+5:45'],
    ['1969-12-31T23:59:59Z', 'UTC', 'Wed 31 Dec 1969 23:59:59 UTC'],
  ])('%s in %s', (instant, zone, text) => {
    expect(formatInZone(at(instant), zone)).toBe(text)
  })

  it('refuses instants outside the calendar', () => {
    for (const odd of [Number.NaN, Infinity, -Infinity, 8.64e15]) {
      expect(() => formatInZone(odd, 'Europe/Berlin')).toThrow(RangeError)
    }
  })
})
