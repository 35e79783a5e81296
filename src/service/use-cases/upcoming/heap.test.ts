// Merging sorted sequences, against sorting all of it.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeSorted } from './heap.ts'

test('the merge of sorted sequences is the sorted whole, cut at the maximum', () => {
  const sorted = fc.array(fc.integer()).map(list => list.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(fc.array(sorted), fc.nat(50), (lists, max) => {
      const merged = mergeSorted(
        lists.map(list => list.values() as Iterator<number, void, void>),
        item => item,
        max,
      )
      expect(merged).toEqual(
        lists
          .flat()
          .toSorted((a, b) => a - b)
          .slice(0, max),
      )
    }),
  )
})
