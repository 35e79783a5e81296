// `carillon next` on the nights of 2027 in which clocks change, and as a process.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changeLines, nextRows } from '../../src/cli/moments.ts'
import { parseCron } from '../../src/cron/index.ts'
import { ensureBuilt, Place } from './program.ts'

interface Night {
  readonly zone: string
  readonly cron: string
  readonly from: string
  readonly rows: readonly string[]
  readonly change: string
}

/** Schedule's own time, UTC, hours since the one before, and what the clock change did. */
const nights: readonly Night[] = [
  {
    zone: 'Europe/Berlin',
    cron: '30 2 * * *',
    from: '2027-03-27T00:00:00Z',
    rows: [
      'Sat 27 Mar 2027 02:30 | 2027-03-27T01:30:00Z | | ',
      'Sun 28 Mar 2027 03:00 | 2027-03-28T01:00:00Z | +23h30m | ! 02:30 does not exist: shifted',
      'Mon 29 Mar 2027 02:30 | 2027-03-29T00:30:00Z | +23h30m | ',
    ],
    change: 'Sun 28 Mar 2027: 02:00–03:00 does not exist, 02:30 runs at 03:00',
  },
  {
    zone: 'Europe/Berlin',
    cron: '30 2 * * *',
    from: '2027-10-30T00:00:00Z',
    rows: [
      'Sat 30 Oct 2027 02:30 | 2027-10-30T00:30:00Z | | ',
      'Sun 31 Oct 2027 02:30 | 2027-10-31T00:30:00Z | +24h | ! the first of two',
      'Mon 1 Nov 2027 02:30 | 2027-11-01T01:30:00Z | +25h | ',
    ],
    change: 'Sun 31 Oct 2027: 02:00–03:00 happens twice, 02:30 runs the first time only',
  },
  {
    zone: 'America/New_York',
    cron: '30 2 * * *',
    from: '2027-03-13T05:00:00Z',
    rows: [
      'Sat 13 Mar 2027 02:30 | 2027-03-13T07:30:00Z | | ',
      'Sun 14 Mar 2027 03:00 | 2027-03-14T07:00:00Z | +23h30m | ! 02:30 does not exist: shifted',
      'Mon 15 Mar 2027 02:30 | 2027-03-15T06:30:00Z | +23h30m | ',
    ],
    change: 'Sun 14 Mar 2027: 02:00–03:00 does not exist, 02:30 runs at 03:00',
  },
  {
    zone: 'America/New_York',
    cron: '30 1 * * *',
    from: '2027-11-06T05:00:00Z',
    rows: [
      'Sat 6 Nov 2027 01:30 | 2027-11-06T05:30:00Z | | ',
      'Sun 7 Nov 2027 01:30 | 2027-11-07T05:30:00Z | +24h | ! the first of two',
      'Mon 8 Nov 2027 01:30 | 2027-11-08T06:30:00Z | +25h | ',
    ],
    change: 'Sun 7 Nov 2027: 01:00–02:00 happens twice, 01:30 runs the first time only',
  },
  {
    // Half an hour only.
    zone: 'Australia/Lord_Howe',
    cron: '15 2 * * *',
    from: '2027-10-02T00:00:00Z',
    rows: [
      'Sun 3 Oct 2027 02:30 | 2027-10-02T15:30:00Z | | ! 02:15 does not exist: shifted',
      'Mon 4 Oct 2027 02:15 | 2027-10-03T15:15:00Z | +23h45m | ',
    ],
    change: 'Sun 3 Oct 2027: 02:00–02:30 does not exist, 02:15 runs at 02:30',
  },
  {
    zone: 'Australia/Lord_Howe',
    cron: '45 1 * * *',
    from: '2027-04-03T00:00:00Z',
    rows: [
      'Sun 4 Apr 2027 01:45 | 2027-04-03T14:45:00Z | | ! the first of two',
      'Mon 5 Apr 2027 01:45 | 2027-04-04T15:15:00Z | +24h30m | ',
    ],
    change: 'Sun 4 Apr 2027: 01:30–02:00 happens twice, 01:45 runs the first time only',
  },
  {
    // At midnight: the day begins at one.
    zone: 'Africa/Cairo',
    cron: '30 0 * * *',
    from: '2027-04-28T20:00:00Z',
    rows: [
      'Thu 29 Apr 2027 00:30 | 2027-04-28T22:30:00Z | | ',
      'Fri 30 Apr 2027 01:00 | 2027-04-29T22:00:00Z | +23h30m | ! 00:30 does not exist: shifted',
    ],
    change: 'Fri 30 Apr 2027: 00:00–01:00 does not exist, 00:30 runs at 01:00',
  },
  {
    zone: 'Africa/Cairo',
    cron: '30 23 * * *',
    from: '2027-10-27T20:00:00Z',
    rows: [
      'Wed 27 Oct 2027 23:30 | 2027-10-27T20:30:00Z | | ',
      'Thu 28 Oct 2027 23:30 | 2027-10-28T20:30:00Z | +24h | ! the first of two',
      'Fri 29 Oct 2027 23:30 | 2027-10-29T21:30:00Z | +25h | ',
    ],
    change: 'Thu 28 Oct 2027: 23:00–00:00 happens twice, 23:30 runs the first time only',
  },
  {
    zone: 'America/Santiago',
    cron: '0 0 * * *',
    from: '2027-09-04T03:30:00Z',
    rows: [
      'Sat 4 Sep 2027 00:00 | 2027-09-04T04:00:00Z | | ',
      'Sun 5 Sep 2027 01:00 | 2027-09-05T04:00:00Z | +24h | ! 00:00 does not exist: shifted',
      'Mon 6 Sep 2027 00:00 | 2027-09-06T03:00:00Z | +23h | ',
    ],
    change: 'Sun 5 Sep 2027: 00:00–01:00 does not exist, 00:00 runs at 01:00',
  },
  {
    zone: 'America/Santiago',
    cron: '30 23 * * *',
    from: '2027-04-03T01:00:00Z',
    rows: [
      'Fri 2 Apr 2027 23:30 | 2027-04-03T02:30:00Z | | ',
      'Sat 3 Apr 2027 23:30 | 2027-04-04T02:30:00Z | +24h | ! the first of two',
      'Sun 4 Apr 2027 23:30 | 2027-04-05T03:30:00Z | +25h | ',
    ],
    change: 'Sat 3 Apr 2027: 23:00–00:00 happens twice, 23:30 runs the first time only',
  },
  {
    // Two hours at once.
    zone: 'Antarctica/Troll',
    cron: '30 2 * * *',
    from: '2027-03-27T00:00:00Z',
    rows: [
      'Sat 27 Mar 2027 02:30 | 2027-03-27T02:30:00Z | | ',
      'Sun 28 Mar 2027 03:00 | 2027-03-28T01:00:00Z | +22h30m | ! 02:30 does not exist: shifted',
      'Mon 29 Mar 2027 02:30 | 2027-03-29T00:30:00Z | +23h30m | ',
    ],
    change: 'Sun 28 Mar 2027: 01:00–03:00 does not exist, 02:30 runs at 03:00',
  },
  {
    zone: 'Antarctica/Troll',
    cron: '30 2 * * *',
    from: '2027-10-30T00:00:00Z',
    rows: [
      'Sat 30 Oct 2027 02:30 | 2027-10-30T00:30:00Z | | ',
      'Sun 31 Oct 2027 02:30 | 2027-10-31T00:30:00Z | +24h | ! the first of two',
      'Mon 1 Nov 2027 02:30 | 2027-11-01T02:30:00Z | +26h | ',
    ],
    change: 'Sun 31 Oct 2027: 01:00–03:00 happens twice, 02:30 runs the first time only',
  },
]

/** What a zone is called differs with the machine's tables. */
function wall(local: string): string {
  return local.replace(/ \S+$/, '')
}

describe('the nights of 2027', () => {
  it.each(nights)('$zone $cron from $from', ({ zone, cron: expression, from, rows, change }) => {
    const cron = parseCron(expression, { zone })
    const at = Date.parse(from)
    const found = nextRows(cron, { from: at, count: rows.length, viewer: 'UTC' })
    expect(found.map(row => `${wall(row.local)} | ${row.utc} | ${row.gap} | ${row.note}`)).toEqual(
      // One space stands for an empty cell.
      rows.map(row => row.replace('| | ', '|  | ')),
    )
    expect(changeLines(cron, at)[0]).toBe(change)
  })

  it('says what other rules do', () => {
    const skip = parseCron('30 2 * * *', {
      zone: 'Europe/Berlin',
      dst: { gap: 'skip', fold: 'both' },
    })
    expect(changeLines(skip, Date.parse('2027-03-01T00:00:00Z'))).toEqual([
      'Sun 28 Mar 2027: 02:00–03:00 does not exist, 02:30 is left out that day',
      'Sun 31 Oct 2027: 02:00–03:00 happens twice, 02:30 runs both times',
    ])
    const noon = parseCron('0 12 * * *', { zone: 'Europe/Berlin' })
    expect(changeLines(noon, Date.parse('2027-03-01T00:00:00Z'))[0]).toBe(
      'Sun 28 Mar 2027: 02:00–03:00 does not exist, nothing is due then',
    )
  })
})

describe('carillon next', () => {
  let place: Place
  beforeAll(() => {
    ensureBuilt()
    place = new Place()
  })
  afterAll(() => place.close())

  const words = ['next', '30 2 * * *', '--tz', 'Europe/Berlin', '--from', '2027-03-26T00:00:00Z']

  it('shows the zone of the schedule, the viewer and UTC, and asks nobody', async () => {
    const { code, out, err } = await place.run([...words, '-n', '3'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const lines = out.split('\n').map(line => line.replaceAll(/ {2,}/g, '  ').trim())
    expect(lines[0]).toMatch(/^At 02:30 every day \(Europe\/Berlin\) · tzdata \d/)
    expect(lines.slice(1, 5)).toEqual([
      '#  SCHEDULE  YOURS  UTC  AFTER  NOTE',
      '1  Fri 26 Mar 2027 02:30 CET  Thu 25 Mar 21:30 EDT  2027-03-26T01:30:00Z',
      '2  Sat 27 Mar 2027 02:30 CET  Fri 26 Mar 21:30 EDT  2027-03-27T01:30:00Z  +24h',
      '3  Sun 28 Mar 2027 03:00 CEST  Sat 27 Mar 21:00 EDT  2027-03-28T01:00:00Z  +23h30m  ' +
        '! 02:30 does not exist: shifted',
    ])
    expect(out).toContain('DST  Sun 31 Oct 2027: 02:00–03:00 happens twice')
  })

  it('N1: reads an expression in the zone that add gives it', async () => {
    const { out } = await place.run(['next', '0 12 * * *', '--from', '2027-03-26T00:00:00Z'])
    expect(out).toContain('At 12:00 every day (UTC)')
    const added = ['add', 'noon', '--cron', '0 12 * * *', '--http', 'https://example.com/x']
    const made = await place.run(added)
    expect(made.err).toContain('0 12 * * *  UTC')
  })

  it('prints tabs and chosen columns for scripts', async () => {
    const { out } = await place.run([...words, '-n', '2', '--plain', '--columns', 'utc,gap'])
    expect(out).toBe('2027-03-26T01:30:00Z\t\n2027-03-27T01:30:00Z\t+24h\n')
  })

  it('points at what is wrong with an expression', async () => {
    const { code, out, err } = await place.run(['next', '0 61 * * *'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('hour')
    expect(err).toContain('  0 61 * * *\n    ^')
  })

  it.each([
    [['next', '* * * * *', '--tz', 'Europe/Berln'], 'Europe/Berln is not a time zone'],
    [['next', '* * * * *', '-n', '0'], 'must be a whole number from 1 to 100'],
    [['next', '* * * * *', '--from', 'soon'], '--from must be a moment (got soon)'],
    [['next', '* * * * *', '--columns', 'utd'], 'did you mean utc?'],
  ])('refuses %j', async (wrong, message) => {
    const { code, out, err } = await place.run(wrong)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })
})
