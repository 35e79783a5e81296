// Records become rows in steps of bounded work, whatever their fields hold.

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { countSteps, whole } from '../../tests/support/steps.ts'
import { driftOf, rowsOf } from './rows.ts'

const fields = [
  { source: 'name', target: 'name' },
  { source: 'id', target: 'id' },
]

it('H6: the key of a row is the hash of its columns that hold something, by their names', () => {
  const rows = whole(rowsOf([{ id: 1, name: 'a\0\uD800' }, { id: [{ b: 2, a: null }] }], fields))
  const keyOf = (held: unknown) => createHash('sha256').update(JSON.stringify(held)).digest('hex')
  const clean = 'a\uFFFD\uFFFD'
  expect(rows).toEqual([
    {
      values: [clean, '1'],
      key: keyOf([
        ['id', '1'],
        ['name', clean],
      ]),
    },
    { values: [null, '[{"a":null,"b":2}]'], key: keyOf([['id', '[{"a":null,"b":2}]']]) },
  ])
})

describe('S4: between two steps', () => {
  const value = (count: number) => Array.from({ length: count }, (_, i) => ({ [`k${i}`]: i }))

  it.each([1, 10])('at most 500 values of %i fields are written', records => {
    const given = Array.from({ length: records }, () => ({ id: value(100_000) }))
    expect(countSteps(rowsOf(given, fields))).toBeGreaterThan((records * 300_000) / 500)
  })

  it('one long text is hashed', () => {
    const given = Array.from({ length: 10 }, (_, i) => ({ id: 'x'.repeat(1_000_000), name: i }))
    expect(countSteps(rowsOf(given, fields))).toBeGreaterThanOrEqual(20)
  })

  it('fifty records are looked through for fields that are missing', () => {
    const given = Array.from({ length: 10_000 }, () => ({ other: 1 }))
    expect(countSteps(driftOf(given, fields))).toBeGreaterThanOrEqual(200)
  })
})
