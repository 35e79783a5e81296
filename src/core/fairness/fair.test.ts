// D4: lanes take turns, rank orders inside one, and age makes up for priority.

import { describe, expect, test } from 'vitest'
import { rankOf, ringFrom, takeTurns, type Candidate } from './fair.ts'
import { AGE_MS } from '../limits.ts'

let seq = 0
function due(lane: string, more: Partial<Candidate> & { label?: string } = {}) {
  const { label = lane, ...rest } = more
  return { lane, rank: 0, seq: ++seq, label, ...rest }
}

function labels(candidates: readonly ReturnType<typeof due>[], cursor = '', limit = 100) {
  return takeTurns(candidates, cursor, limit).taken.map(one => one.label)
}

describe('turns', () => {
  test('D4: u1×3, u2×3 → u1, u2, u1, u2, u1, u2', () => {
    const jobs = [...Array(3).fill('u1'), ...Array(3).fill('u2')].map((lane: string) => due(lane))
    expect(labels(jobs)).toEqual(['u1', 'u2', 'u1', 'u2', 'u1', 'u2'])
  })

  test('D4: A has 100,000, B adds 1: B is next', () => {
    const flood = Array.from({ length: 100_000 }, () => due('a', { rank: -1e9 }))
    expect(labels([...flood, due('b')], 'a', 1)).toEqual(['b'])
    expect(labels([...flood, due('b')], '', 2)).toEqual(['a', 'b'])
  })

  test('the next round starts behind the lane served last', () => {
    const jobs = ['a', 'b', 'c'].map(lane => due(lane))
    expect(takeTurns(jobs, 'a', 1)).toMatchObject({ taken: [{ label: 'b' }], cursor: 'b' })
    expect(takeTurns(jobs, 'c', 1)).toMatchObject({ taken: [{ label: 'a' }], cursor: 'a' })
    expect(labels(jobs, 'bb', 3)).toEqual(['c', 'a', 'b'])
  })

  test('inv-F3: over any 100 starts each of four lanes gets its quarter', () => {
    const jobs = ['a', 'b', 'c', 'd'].flatMap(lane => Array.from({ length: 500 }, () => due(lane)))
    const taken = labels(jobs, 'b', 100)
    for (const lane of 'abcd') expect(taken.filter(label => label === lane)).toHaveLength(25)
  })

  test('a lane that runs dry leaves its turns to the others', () => {
    const jobs = [due('a'), due('b'), due('b'), due('b')]
    expect(labels(jobs)).toEqual(['a', 'b', 'b', 'b'])
  })

  test('nothing due, nothing taken, and the cursor stays', () => {
    expect(takeTurns([], 'x', 5)).toMatchObject({ taken: [], cursor: 'x' })
    expect(takeTurns([due('a'), due('b')], 'x', 0).taken).toEqual([])
  })
})

describe('turns nest', () => {
  test('S3: the users of a tenant share its turns', () => {
    const jobs = ['s/a', 's/b', 's/c', 't'].flatMap(lane => [due(lane), due(lane)])
    expect(labels(jobs)).toEqual(['s/a', 't', 's/b', 't', 's/c', 's/a', 's/b', 's/c'])
    const turns = takeTurns(jobs, 's', 3, () => 's/a')
    expect(turns.taken.map(({ label }) => label)).toEqual(['t', 's/b', 't'])
    expect(turns).toMatchObject({ cursor: 't' })
    expect([...turns.lanes]).toEqual([
      ['t', 't'],
      ['s', 's/b'],
    ])
  })
})

describe('rank', () => {
  test('D4: critical first, then high, normal, low; equals oldest first', () => {
    const now = 1_000_000
    const jobs = [
      due('u', { label: 'low', rank: rankOf(now, 2) }),
      due('u', { label: 'critical-1', rank: rankOf(now, 6) }),
      due('u', { label: 'high', rank: rankOf(now, 4) }),
      due('u', { label: 'critical-2', rank: rankOf(now, 6) }),
      due('u', { label: 'normal', rank: rankOf(now, 3) }),
    ]
    expect(labels(jobs)).toEqual(['critical-1', 'critical-2', 'high', 'normal', 'low'])
  })

  test('D4: one step of priority is worth AGE_MS of waiting, no more', () => {
    expect(rankOf(0, 1)).toBeLessThan(rankOf(5 * AGE_MS + 1, 6))
    expect(rankOf(0, 1)).toBeGreaterThan(rankOf(5 * AGE_MS - 1, 6))
  })
})

test('a ring starts behind the cursor and wraps, by code units', () => {
  expect(ringFrom(['b', 'a', 'Z'], '')).toEqual(['Z', 'a', 'b'])
  expect(ringFrom(['b', 'a', 'Z'], 'Z')).toEqual(['a', 'b', 'Z'])
  expect(ringFrom(['b', 'a'], 'z')).toEqual(['a', 'b'])
})
