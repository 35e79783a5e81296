// The filter of jobs: what is understood, and what is told instead of ignored.

import { describe, expect, it } from 'vitest'
import { completions, parseFilter } from './filter.ts'

describe('the filter of jobs', () => {
  it('takes words and qualifiers', () => {
    const { filter, chips } = parseFilter(
      'mail next:<1h late:>30s last:failed,never tag:"two words"',
    )
    expect(filter).toMatchObject({
      search: 'mail',
      next: '<1h',
      late: '>30s',
      last: 'failed,never',
      tag: 'two words',
    })
    expect(chips.filter(({ fault }) => fault !== null)).toEqual([])
  })

  it.each([
    ['colour:red', 'not known; there are status, tag, tenant, queue, handler, next, late, last'],
    ['next:1h', 'needs < or > and a length of time, such as <1h'],
    ['late:>soon', 'needs < or > and a length of time, such as >30s'],
    ['last:lost', 'lost is none of completed, failed, cancelled, never'],
    ['status:late', 'late is none of'],
    ['next:', 'has no value yet'],
  ])('says what is wrong with %s', (text, fault) => {
    const { filter, chips } = parseFilter(text)
    expect(chips[0]?.fault).toContain(fault)
    expect(Object.values(filter).every(value => value === null)).toBe(true)
  })

  it('completes names and values', () => {
    expect(completions('mail la')).toEqual(['mail late:', 'mail last:'])
    expect(completions('next:')).toEqual(['next:<1h', 'next:<24h', 'next:>7d'])
    expect(completions('last:failed,c')).toEqual(['last:failed,completed', 'last:failed,cancelled'])
  })
})
