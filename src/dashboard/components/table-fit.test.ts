// What is left of a table where it has little room.

import { expect, test } from 'vitest'
import { fitColumns } from './table-fit.ts'

const columns = [
  { key: 'name', isMain: true },
  { key: 'state', width: 110 },
  { key: 'node', width: 120, drop: 1 },
  { key: 'origin', width: 100, drop: 2 },
  { key: 'error', width: 260 },
  { key: 'act', isBare: true },
]
const keys = (room: number) => fitColumns(columns, room).columns.map(({ key }) => key)

test('N6: secondary columns go one by one, and come back as cards where the rest has no room', () => {
  expect(keys(818)).toHaveLength(6)
  expect(keys(817)).toEqual(['name', 'state', 'origin', 'error', 'act'])
  expect(keys(697)).toEqual(['name', 'state', 'error', 'act'])
  expect(fitColumns(columns, 599)).toMatchObject({ isCards: true })
  expect(fitColumns([...columns, { key: 'more', width: 300 }], 700)).toMatchObject({
    isCards: true,
  })
  expect(fitColumns(columns, 360)).toMatchObject({ isCards: true, columns })
})
