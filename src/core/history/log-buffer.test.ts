// The first and the last lines of a log, and the line between them.

import { describe, expect, it } from 'vitest'
import { limits } from '../limits.ts'
import { LogBuffer } from './log-buffer.ts'
import type { LogLine } from './report.ts'

const line = (n: number, more: Partial<LogLine> = {}): LogLine => ({
  at: n,
  level: 'info',
  message: `line ${n}`,
  fields: null,
  ...more,
})

function logged(count: number, make = line): { log: LogBuffer; kept: LogLine[] } {
  const log = new LogBuffer()
  const kept: LogLine[] = []
  for (let n = 1; n <= count; n++) {
    const now = log.add(make(n))
    if (now) kept.push(now)
  }
  return { log, kept: [...kept, ...log.end(count + 1)] }
}

describe('a log (H5)', () => {
  it('that fits is whole and in order', () => {
    const count = limits.logHeadLines + limits.logTailLines
    const { log, kept } = logged(count)
    expect(kept).toEqual(Array.from({ length: count }, (_, i) => line(i + 1)))
    expect(log.isCut).toBe(false)
  })

  it('that does not keeps its first and last lines, and says how many are between', () => {
    const count = 10_000
    const { log, kept } = logged(count)
    expect(kept).toHaveLength(limits.logLinesPerAttempt)
    expect(kept[0]).toEqual(line(1))
    expect(kept[limits.logHeadLines]).toEqual({
      at: count - limits.logTailLines + 1,
      level: 'warn',
      message: '9,001 lines left out: the first 500 and the last 499 are kept',
      fields: { left_out: 9_001 },
    })
    expect(kept.at(-1)).toEqual(line(count))
    expect(log.isCut).toBe(true)
  })

  it('of long lines is bounded in bytes too, and keeps the last one', () => {
    const message = 'x'.repeat(limits.logMessageLength)
    const { kept } = logged(2_000, n => line(n, { message: `${n}${message}` }))
    const bytes = kept.reduce((sum, one) => sum + one.message.length, 0)
    expect(bytes).toBeLessThan(2 * limits.logHalfBytes + 200)
    expect(kept.at(-1)!.message.startsWith('2000x')).toBe(true)
  })

  it('keeps no fields that are too large or no JSON', () => {
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const large = { text: 'x'.repeat(limits.logFieldsBytes) }
    const log = new LogBuffer()
    for (const fields of [circular, large]) {
      expect(log.add(line(1, { fields: fields as never }))!.fields).toHaveProperty(
        'fields_left_out',
      )
    }
  })

  it('counts lines that were left out before they came here', () => {
    const log = new LogBuffer()
    log.add(line(1))
    log.leaveOut(5)
    log.add(line(7))
    expect(log.end(8)).toMatchObject([{ fields: { left_out: 5 } }, { message: 'line 7' }])
  })
})
