// Lists as the server reads them.

import { expect, test } from 'vitest'
import { joined, numbers, texts } from './arrays.ts'

test.each<[readonly (number | null)[], string]>([
  [[], '{}'],
  [[7], '{7}'],
  [[7, 7, 7], '{7,7,7}'],
  [[7, 8, 7], '{7,8,7}'],
  [[null, null], '{}'],
  [[null, 0], '{null,0}'],
  [[5, null, 5], '{5,null,5}'],
])('numbers %j', (values, text) => {
  expect(numbers(values)).toBe(text)
})

test.each<[readonly (string | null)[], string]>([
  [[], '{}'],
  [[null, null], '{}'],
  [['a', 'a'], '{"a","a"}'],
  [['a"b', 'a"b'], '{"a\\"b","a\\"b"}'],
  [['', null, 'null', '{a,\\}'], '{"",null,"null","{a,\\\\}"}'],
])('texts %j', (values, text) => {
  expect(texts(values)).toBe(text)
})

test.each<[readonly (string | null)[], string]>([
  [[], ''],
  [['{}', null, '[]'], '{}\x1f\x1f[]'],
])('texts of JSON %j', (values, text) => {
  expect(joined(values)).toBe(text)
})
