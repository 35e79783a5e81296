// Time bounds on hostile or large input. The fastest of five runs counts, so a busy machine is
// forgiven and a wrong algorithm is not.
import { describe, expect, it } from 'vitest'
import { CronError, parseCron } from '../../src/cron/index.ts'

function fastest(act: () => void): number {
  let best = Infinity
  for (let i = 0; i < 5; i++) {
    const start = performance.now()
    act()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

describe('I1: what never comes is refused within 5 ms', () => {
  it.each([
    '0 0 30 2 *',
    '0 0 31 2,4,6,9,11 *',
    '0 0 31W 2,4 *',
    '0 0 L-30 2 *',
    '0 0 30,31,30,31,L-29,31W 2 *',
    '* * * 30-31 FEB ?',
  ])('%s', expression => {
    const spent = fastest(() => {
      expect(() => parseCron(expression)).toThrow('never run')
    })
    expect(spent).toBeLessThan(5)
  })
})

describe('I3: huge and odd input is refused within 5 ms', () => {
  it.each([
    ['a list of 20,000 items', '1,'.repeat(20_000)],
    ['10 MB of digits', '9'.repeat(10_000_000)],
    ['nested steps', '*/'.repeat(120)],
    ['nested ranges', '1-'.repeat(100)],
    ['many fields', '* '.repeat(120)],
    ['a long zone', '0 0 * * *', 'A'.repeat(1_000_000)],
  ])('%s', (_, expression, zone = 'UTC') => {
    const spent = fastest(() => {
      expect(() => parseCron(expression, { zone })).toThrow(CronError)
    })
    expect(spent).toBeLessThan(5)
  })
})

describe('T10: counting and searching cost arithmetic, not steps', () => {
  const zone = 'America/New_York'
  const year = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)] as const
  const century = [Date.UTC(2000, 0, 1), Date.UTC(2100, 0, 1)] as const

  it('a year of seconds', () => {
    const cron = parseCron('* * * * * *', { zone })
    expect(cron.count(...year)).toBe(31_536_000)
    expect(fastest(() => cron.count(...year))).toBeLessThan(5)
  })

  it('a century of minutes', () => {
    const cron = parseCron('* * * * *', { zone })
    expect(cron.count(...century)).toBe((century[1] - century[0]) / 60_000)
    expect(fastest(() => cron.count(...century))).toBeLessThan(50)
  })

  it('a search that finds only skipped gaps', () => {
    const options = { zone: 'Europe/Berlin', dst: { gap: 'skip' } } as const
    const cron = parseCron('30 2 * 3 SUNL', options)
    expect(cron.next(year[0])).toBeNull()
    expect(fastest(() => cron.next(year[0]))).toBeLessThan(20)
  })
})
