// Text as databases may hold it: nothing is lost, and the order stays.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromKey, toKey } from './text.ts'

const oddText = fc.string({
  unit: fc.constantFrom(
    'a',
    '\0',
    '\u0001',
    '\u0002',
    '\ud7ff',
    '\ud800',
    '\udc00',
    '\udfff',
    '\ue000',
    '\uffff',
    '😀',
  ),
})

describe('keys', () => {
  it('come back as they were and keep the order of code units in UTF-8', () => {
    fc.assert(
      fc.property(oddText, oddText, (a, b) => {
        expect(fromKey(toKey(a))).toBe(a)
        const order = Buffer.compare(Buffer.from(toKey(a)), Buffer.from(toKey(b)))
        expect(order).toBe(a < b ? -1 : a > b ? 1 : 0)
        expect(toKey(a)).not.toContain('\0')
      }),
      { numRuns: 2_000 },
    )
  })

  it('are the text itself for everyday text', () => {
    expect(toKey('tenant-1/ä€ 漢字')).toBe('tenant-1/ä€ 漢字')
  })
})
