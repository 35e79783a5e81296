// Answers are read as JSON.parse reads them, but for the numbers it would change.

import { array, assert, constantFrom, json, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { whole } from '../../tests/support/steps.ts'
import { canonicalJson } from '../core/json.ts'
import { answerText } from './answer-text.ts'
import { AnswerTooComplex, parseAnswer } from './json-answer.ts'

const parse = (text: string) => whole(parseAnswer(text))
const textOf = (value: unknown) => whole(answerText(value))
/** With the numbers that JSON.parse makes of those whose digits are kept. */
const parseRounded = (text: string): unknown => JSON.parse(textOf(parse(text)))
const outcome = (read: () => unknown): string => {
  try {
    return canonicalJson(read())
  } catch (error) {
    return (error as Error).name
  }
}

describe('an answer', () => {
  it('of any JSON is what JSON.parse makes of it', () => {
    assert(
      property(json({ maxDepth: 5 }), text => {
        expect(parse(text)).toEqual(JSON.parse(text))
        const spaced = JSON.stringify(JSON.parse(text), null, '\t')
        expect(parse(`\n${spaced} \r`)).toEqual(JSON.parse(text))
        expect(textOf(parse(text))).toBe(canonicalJson(JSON.parse(text)))
      }),
      { numRuns: 1_000 },
    )
  })

  it('of any text is refused exactly when JSON.parse refuses it', () => {
    const part = constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"',
      '\\',
      '"a"',
      '1',
      '-',
      '.5',
      'e+2',
      '01',
      ' ',
      '\n',
      'true',
      'nul',
      'null',
      '\u0000',
      '\\u00e9',
      '"\\n"',
      '"__proto__"',
    )
    assert(
      property(array(part, { maxLength: 12 }), parts => {
        const text = parts.join('')
        const answered = outcome(() => parseRounded(text))
        expect([text, answered]).toEqual([text, outcome(() => JSON.parse(text))])
      }),
      // 1e+2011 is a number of JSON, and none of JavaScript.
      { numRuns: 20_000, examples: [[['1', 'e+2', '01', '1']]] },
    )
    assert(
      property(
        string(),
        text => outcome(() => parseRounded(text)) === outcome(() => JSON.parse(text)),
      ),
    )
  })

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-12345678901234567890', '-12345678901234567890'],
    ['1e400', '1e400'],
    ['-1E-400', '-1E-400'],
    ['3.14159265358979323846', '3.14159265358979323846'],
    ['9007199254740992', '9007199254740992'],
    ['100000000000000000000', '100000000000000000000'],
    ['1000000000000000000000', '1e+21'],
    ['1.50', '1.5'],
    ['1e5', '100000'],
    ['0.1000000000000000000', '0.1'],
    ['0e99999999999999', '0'],
    ['-0', '0'],
    [`1${'0'.repeat(1_000)}1`, `1${'0'.repeat(1_000)}1`],
  ])('H6: the number %s is kept as %s', (given, kept) => {
    expect(textOf(parse(given))).toBe(kept)
    expect(textOf(parse(`{"a":[${given}]}`))).toBe(`{"a":[${kept}]}`)
  })

  it('S4: that is too deep or too large is refused as soon as that is seen', () => {
    expect(parse('['.repeat(512) + ']'.repeat(512))).toBeDefined()
    expect(() => parse('['.repeat(10_000_000))).toThrow(AnswerTooComplex)
    expect(() => parse('{"a":'.repeat(513))).toThrow('nested deeper than 512')
    expect(() => parse(`[${'{},'.repeat(500_000)}{}]`)).toThrow(
      'more than 500000 lists and objects',
    )
    const names = (count: number) => Array.from({ length: count }, (_, i) => `"${i}":1`).join(',')
    expect(Object.keys(parse(`{${names(50_000)}}`) as object)).toHaveLength(50_000)
    expect(() => parse(`{${names(50_001)}}`)).toThrow('an object with more than 50000 names')
  })
})
