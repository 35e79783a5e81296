// Cycles and what a step can rely on, by tables.

import { describe, expect, test } from 'vitest'
import { cyclesOf, reachOf } from './graph.ts'

/** 'a:b,c' → a needs b and c. */
function links(...texts: string[]) {
  return texts.map(text => {
    const [id = '', needs = ''] = text.split(':')
    return { id, needs: needs === '' ? [] : needs.split(',') }
  })
}

describe('cycles are named', () => {
  test.each<[string[], string[]]>([
    [[], []],
    [['a', 'b:a', 'c:a,b'], []],
    [['a:a'], ['a a']],
    [['a:b', 'b:a'], ['a b a']],
    [['a:x', 'x'], []],
    [['a:gone'], []],
    [['start', 'a:start,c', 'b:a', 'c:b', 'end:c'], ['a c b a']],
    [
      ['a:b', 'b:a', 'c:d', 'd:c'],
      ['a b a', 'c d c'],
    ],
    [['tail:a', 'a:b', 'b:a'], ['a b a']],
  ])('%j has %j', (texts, cycles) => {
    expect(cyclesOf(links(...texts)).map(cycle => cycle.join(' '))).toEqual(cycles)
  })

  test('a hundred steps in one ring are one cycle', () => {
    const ring = Array.from({ length: 100 }, (_, i) => `s${i}:s${(i + 1) % 100}`)
    expect(cyclesOf(links(...ring)).map(cycle => cycle.length)).toEqual([101])
  })
})

describe('a step can rely on everything it needs, however far back', () => {
  test.each<[string[], string, string[]]>([
    [['a', 'b:a', 'c:b'], 'c', ['a', 'b']],
    [['a', 'b:a', 'c:b'], 'a', []],
    [['a', 'b', 'c:a'], 'c', ['a']],
    [['a:b', 'b:a'], 'a', ['a', 'b']],
  ])('%j: %s relies on %j', (texts, id, reach) => {
    expect([...reachOf(links(...texts), id)].sort()).toEqual(reach)
  })
})
