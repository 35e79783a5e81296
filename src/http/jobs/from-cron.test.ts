// Which cron times a plain interval says as well.

import { expect, it } from 'vitest'
import { intervalOfCron } from './from-cron.ts'

it.each([
  ['0 * * * *', 60, 'minutes'],
  ['0 */6 * * *', 6, 'hours'],
  ['0 0 * * *', 1, 'days'],
  ['*/15 * * * *', 15, 'minutes'],
  ['* * * * *', 1, 'minutes'],
  ['0 0/12 * * *', 12, 'hours'],
  ['0 0 * * * *', 60, 'minutes'],
  ['  0   *  * * * ', 60, 'minutes'],
] as const)('B11 %s is every %i %s', (cron, interval_minutes, interval_type) => {
  expect(intervalOfCron(cron)).toEqual({ interval_minutes, interval_type })
})

it.each([
  '30 2 * * *',
  '0 9-17 * * *',
  '0 0 * * 1',
  '0 0 1 * *',
  '*/7 * * * *',
  '0 */5 * * *',
  '0,30 * * * *',
  '15 * * * *',
  '0 0 L * *',
  '@daily',
  '30 0 * * * *',
  'nonsense',
])('B11 %s is left for a person to look at', cron => {
  expect(intervalOfCron(cron)).toBeNull()
})
