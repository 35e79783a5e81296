// What `$from` finds, what it never reaches, and what is refused before anything runs.

import { describe, expect, test } from 'vitest'
import type { Json } from '../core/json.ts'
import { filled, referencesIn } from './references.ts'

const scope = {
  event: { payload: { day: 'monday', list: [10, 20] }, timestamp: 't' },
  steps: { fetch: { items: [{ id: 1 }], empty: null, 'a.b': 7 }, none: null },
}

describe('a reference stands for what is found there', () => {
  test.each<[Json, Json]>([
    [{ $from: 'event.payload.day' }, 'monday'],
    [{ $from: 'event.payload.list.1' }, 20],
    [{ $from: 'steps.fetch.items.0.id' }, 1],
    [{ $from: 'steps.fetch.empty' }, null],
    [{ $from: 'steps.none' }, null],
    [{ $from: ['steps', 'fetch', 'a.b'] }, 7],
    [{ $from: ['steps', 'fetch', 'items', 0, 'id'] }, 1],
    [{ $from: 'steps.fetch.gone', default: [] }, []],
    [{ $from: 'steps.fetch.gone', default: { $from: 'event' } }, { $from: 'event' }],
    [{ deep: [{ x: { $from: 'event.timestamp' } }, 1] }, { deep: [{ x: 't' }, 1] }],
    [{ $literal: { $from: 'event' } }, { $from: 'event' }],
    ['$from', '$from'],
    [null, null],
  ])('%j becomes %j', (input, output) => {
    expect(filled(input, scope)).toEqual(output)
  })
})

describe('only own keys of plain data are reached', () => {
  test.each([
    'event.gone',
    'event.payload.list.length',
    'event.payload.list.-1',
    'event.payload.day.length',
    'event.constructor',
    'event.__proto__',
    'steps.fetch.items.map',
    'steps.constructor.prototype',
    'steps.other',
    'process.env',
  ])('%s leads nowhere', path => {
    expect(() => filled({ $from: path }, scope)).toThrow(`its input asks for ${path}`)
  })

  test('a key that looks dangerous is data like any other', () => {
    const input = JSON.parse('{"__proto__": {"$from": "event.timestamp"}}') as Json
    const output = filled(input, scope) as object
    expect(Object.entries(output)).toEqual([['__proto__', 't']])
    expect(Object.getPrototypeOf(output)).toBe(Object.prototype)
  })
})

test('every reference and every fault of one is found', () => {
  const { found, wrong } = referencesIn({
    a: { $from: 'event' },
    b: [{ $from: 'steps.x.y' }],
    c: { $from: 5 },
    d: { $from: '' },
    e: { $from: 'event', other: 1 },
    f: { $literal: { $from: 5 } },
    g: { $from: [] },
  })
  expect(found.map(({ at, path }) => `${at.join('.')}=${path.join('.')}`)).toEqual([
    'a=event',
    'b.0=steps.x.y',
    'e=event',
  ])
  expect(wrong.map(({ at }) => at.join('.'))).toEqual(['c.$from', 'd.$from', 'e.other', 'g.$from'])
})
