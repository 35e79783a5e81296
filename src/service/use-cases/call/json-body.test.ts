// What is read as a body and what is refused, however it is spelled.

import { describe, expect, it } from 'vitest'
import { httpDefaults } from '../../http/app/settings.ts'
import { parseBody } from './json-body.ts'
import { HttpProblem } from './problem.ts'

function read(text: string): unknown {
  return parseBody(text, httpDefaults)
}

function slugOf(text: string): string | null {
  try {
    read(text)
    return null
  } catch (error) {
    return error instanceof HttpProblem ? error.slug : String(error)
  }
}

describe('a body', () => {
  it.each([
    ['{"a": [1, null, "x"]}', { a: [1, null, 'x'] }],
    ['\uFEFF{"a": 1}', { a: 1 }],
    ['"text"', 'text'],
    ['null', null],
    ['', undefined],
    ['  \n', undefined],
    ['{"constructor": "Smith"}', { constructor: 'Smith' }],
    ['{"text": "__proto__ and constructor"}', { text: '__proto__ and constructor' }],
    ['{"caf\\u00e9": 1}', { café: 1 }],
  ])('of %j is read', (text, value) => {
    expect(read(text)).toEqual(value)
  })

  it.each([
    ['{"a":'],
    ['{a: 1}'],
    ['{"__proto__": {"isAdmin": true}}'],
    ['{"a": [{"__proto__": null}]}'],
    ['{"\\u005f_proto__": 1}'],
    ['{"constructor": {"prototype": {"isAdmin": true}}}'],
    ['{"a": {"c\\u006fnstructor": {"prototype": 1}}}'],
    [`${'['.repeat(40)}${']'.repeat(40)}`],
    [JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, i])))],
  ])('of %j is refused', text => {
    expect(slugOf(text)).toBe('malformed-body')
  })

  it.each([
    ['['.repeat(7_000_000), 'is nested deeper than 32'],
    [`${'['.repeat(100)}"\\u0061"${']'.repeat(100)}`, 'is nested deeper than 32'],
    [`[${'[],'.repeat(100_000)}[]]`, 'has more than 100000 lists and objects'],
    [`{${'"a":1,'.repeat(1_001)}"b":1}`, 'has more than 1000 keys'],
  ])('S4: is refused before it is parsed: %#', (text, excess) => {
    expect(() => read(text)).toThrow(`the body ${excess}`)
  })

  it('brackets and colons in texts are not counted', () => {
    const text = `${'[{'.repeat(100)}${':'.repeat(2_000)}\\`
    expect(read(JSON.stringify({ text, '"[': text }))).toEqual({ text, '"[': text })
    expect(read(`${'['.repeat(33)}${']'.repeat(33)}`)).toBeDefined()
  })
})
