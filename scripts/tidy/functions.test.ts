// Masking and bracket matching on the shapes of code that fool a simple scan.

import { describe, expect, it } from 'vitest'
import { functionBodies } from './functions.ts'
import { maskCode } from './mask.ts'

const bodies = (text: string): string[] =>
  functionBodies(maskCode(text)).map(({ line, lines }) => `${line}+${lines}`)

describe('maskCode', () => {
  it.each([
    ["a('x{y') // {", "a('   ')     "],
    ['a /* { */ b', 'a         b'],
    ['`{${ {b} }}` + c', '`  { {b} } ` + c'],
    ['`a${`{${b}`}`', '`  {`  {b}`}`'],
    ['x = /[/{]"/.test(y)', 'x = /     /.test(y)'],
    ['a / b / "c"', 'a / b / " "'],
    ["'it\\'s' + b", "'     ' + b"],
  ])('%s', (text, code) => {
    expect(maskCode(text)).toBe(code)
  })

  it('keeps every line where it was', () => {
    const text = '/* a\nb */ c\n`d\n${e}\n` // f\n'
    expect(maskCode(text).split('\n')).toHaveLength(text.split('\n').length)
    expect(maskCode(text)).toHaveLength(text.length)
  })
})

describe('functionBodies', () => {
  it.each([
    ['a declaration', 'function f(a) {\n  x()\n}', ['1+3']],
    ['a return type', 'function f(\n  a: B,\n): Promise<{ c: D }> {\n  x()\n}', ['3+3']],
    ['an object return type', 'function f(): { a: 1 } | { b: 2 } {\n}', ['1+2']],
    ['a type guard', 'const f = function (a: B): a is C {\n}', ['1+2']],
    ['an arrow', 'const f = async (a: B): Promise<C> => {\n  x()\n}', ['1+3']],
    ['an arrow that returns an object', 'const f = a => ({\n  a,\n})', ['1+3']],
    ['methods', 'class A {\n  b() {\n  }\n  get c(): D {\n  }\n}', ['2+2', '4+2']],
    ['one in another', 'const f = () => {\n  g(() => {\n  })\n}', ['1+4', '2+2']],
  ])('finds %s', (_, text, expected) => {
    expect(bodies(text)).toEqual(expected)
  })

  it.each([
    ['control flow', 'if (a) {\n}\nfor (const b of c) {\n}\ntry {\n} catch (d) {\n}'],
    ['signatures', 'interface A {\n  b(): C\n}\nconst d = {\n}'],
    ['a choice between values', 'const a = b ? f(c) : d\nconst e = {\n}'],
    ['a case', 'switch (a) {\n  case b(c): {\n  }\n}'],
    ['type aliases of objects', 'type A = {\n  b: C\n}'],
  ])('leaves out %s', (_, text) => {
    expect(bodies(text)).toEqual([])
  })

  it('does not count describe blocks, but the tests in them', () => {
    const inner = "  it('b', () => {\n    x()\n  })\n"
    expect(bodies(`describe('a', () => {\n${inner}})`)).toEqual(['2+3'])
    expect(bodies(`describe.each([1])('a', n => {\n${inner}})`)).toEqual(['2+3'])
    expect(bodies(`const suite = () => {\n  describe('a', () => {\n${inner}  })\n}`)).toEqual([
      '1+2',
      '3+3',
    ])
  })
})
