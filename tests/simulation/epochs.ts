// The nights and days a world may begin in: quiet ones, and ones whose clocks are about to change.

import type { Dialect } from '../../src/cron/index.ts'
import type { Instant } from '../../src/core/time.ts'

export interface CronChoice {
  readonly expression: string
  readonly dialect: Dialect
}

export interface Epoch {
  readonly zone: string
  readonly startAt: Instant
  readonly change: 'gap' | 'fold' | null
  /** Expressions that something happens to within a few minutes of the start. */
  readonly crons: readonly CronChoice[]
}

const both = (expression: string): CronChoice[] => [
  { expression, dialect: 'extended' },
  { expression, dialect: 'posix' },
]
const extended = (expression: string): CronChoice => ({ expression, dialect: 'extended' })

/** Any zone, any day. */
export const dailyCrons: readonly CronChoice[] = [
  extended('*/7 * * * * *'),
  extended('*/15 * * * * *'),
  extended('10,40 * * * * *'),
  extended('5-50/9 * * * * *'),
  ...both('* * * * *'),
  ...both('*/2 * * * *'),
]

export const epochs: readonly Epoch[] = [
  { zone: 'UTC', startAt: Date.UTC(2026, 0, 5, 11, 57, 30), change: null, crons: [] },
  { zone: 'Asia/Kolkata', startAt: Date.UTC(2026, 6, 9, 18, 27, 10), change: null, crons: [] },
  // 02:00 → 03:00 at 01:00Z.
  {
    zone: 'Europe/Berlin',
    startAt: Date.UTC(2026, 2, 29, 0, 57, 20),
    change: 'gap',
    crons: [
      ...both('30 2 * * *'),
      ...both('58 1 * * *'),
      ...both('1 3 * * *'),
      extended('15 */10 2 * * *'),
    ],
  },
  // 03:00 → 02:00 at 01:00Z: 02:xx comes again.
  {
    zone: 'Europe/Berlin',
    startAt: Date.UTC(2026, 9, 25, 0, 57, 40),
    change: 'fold',
    crons: [
      ...both('1 2 * * *'),
      ...both('59 2 * * *'),
      ...both('*/2 2 * * *'),
      ...both('0 2 * * *'),
    ],
  },
  {
    zone: 'America/New_York',
    startAt: Date.UTC(2026, 2, 8, 6, 58, 0),
    change: 'gap',
    crons: [...both('5 2 * * *'), ...both('0 3 * * *'), ...both('15 2,3 * * *')],
  },
  {
    zone: 'America/New_York',
    startAt: Date.UTC(2026, 10, 1, 5, 58, 30),
    change: 'fold',
    crons: [...both('2 1 * * *'), ...both('59 1 * * *'), ...both('* 1 * * *')],
  },
  // Half an hour only: 02:00 → 02:30.
  {
    zone: 'Australia/Lord_Howe',
    startAt: Date.UTC(2026, 9, 3, 15, 27, 50),
    change: 'gap',
    crons: [...both('15 2 * * *'), ...both('31 2 * * *'), ...both('*/3 2 * * *')],
  },
  {
    zone: 'Africa/Cairo',
    startAt: Date.UTC(2026, 3, 23, 21, 57, 0),
    change: 'gap',
    crons: [...both('0 0 * * *'), ...both('30 0 * * *'), ...both('1 1 * * *')],
  },
]
