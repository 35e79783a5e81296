// Which cron times a plain interval says as well, and why the others are not.

import { expect, it } from 'vitest'
import { judge } from './from-cron.ts'

const now = Date.parse('2027-01-13T13:08:00Z')
const at = (text: string) => Date.parse(text)

it.each([
  ['0 * * * *', 60, 'minutes', '2027-01-13T14:00Z'],
  ['@hourly', 60, 'minutes', '2027-01-13T14:00Z'],
  ['0 */6 * * *', 6, 'hours', '2027-01-13T18:00Z'],
  ['0 0 * * *', 1, 'days', '2027-01-14T00:00Z'],
  ['@daily', 1, 'days', '2027-01-14T00:00Z'],
  ['@weekly', 7, 'days', '2027-01-17T00:00Z'],
  ['0 0 * * 0', 7, 'days', '2027-01-17T00:00Z'],
  ['30 9 * * MON', 7, 'days', '2027-01-18T09:30Z'],
  ['30 2 * * *', 1, 'days', '2027-01-14T02:30Z'],
  ['0 0,12 * * *', 12, 'hours', '2027-01-14T00:00Z'],
  ['0 */12 * * *', 12, 'hours', '2027-01-14T00:00Z'],
  ['15 3,9,15,21 * * *', 6, 'hours', '2027-01-13T15:15Z'],
  ['0,30 * * * *', 30, 'minutes', '2027-01-13T13:30Z'],
  ['15 * * * *', 60, 'minutes', '2027-01-13T13:15Z'],
  ['*/15 * * * *', 15, 'minutes', '2027-01-13T13:15Z'],
  ['* * * * *', 1, 'minutes', '2027-01-13T13:09Z'],
  ['30 0 * * * *', 60, 'minutes', '2027-01-13T14:00:30Z'],
  ['  0   *  * * * ', 60, 'minutes', '2027-01-13T14:00Z'],
] as const)(
  'B11 H3 %s is every %i %s, next at %s',
  (cron, interval_minutes, interval_type, next) => {
    const found = judge(cron, now)
    expect(found).toMatchObject({ interval: { interval_minutes, interval_type }, nextAt: at(next) })
  },
)

it.each([
  ['0 9-17 * * *', 'times of day are not equally spaced: gaps of 1 h and 16 h'],
  ['*/7 * * * *', 'times of day are not equally spaced: gaps of 4 min and 7 min'],
  ['0 */5 * * *', 'times of day are not equally spaced: gaps of 4 h and 5 h'],
  ['0 0 * * 1-5', 'weekdays are not equally spaced'],
  ['0 0,12 * * 1', 'it runs more than once on one day of the week'],
  ['0 0 1 * *', 'days of the month are not equally spaced'],
  ['@monthly', 'days of the month are not equally spaced'],
  ['0 0 L * *', 'days of the month are not equally spaced'],
  ['0 0 * * 5L', 'weekdays of a month are not equally spaced'],
  ['0 0 * 1 *', 'months are not equally long'],
  ['*/10 * * * * *', 'it runs more than once a minute, and the shortest interval is a minute'],
])('B11 H3 %s is left for a person to look at: %s', (cron, reason) => {
  expect(judge(cron, now)).toEqual({ reason })
})

it('H3 a cron time that cannot be read says so', () => {
  expect(judge('nonsense', now)).toEqual({ reason: expect.stringContaining('cannot be read') })
})
