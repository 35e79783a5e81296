// Lists as the server reads them.

import { expect, test } from 'vitest'
import {
  alike,
  alikeDocuments,
  alikeTexts,
  fromNumbers,
  NOTHING,
  nullable,
  numbers,
  separated,
  texts,
} from './arrays.ts'

test.each<[readonly number[], string]>([
  [[], '{}'],
  [[7], '{7}'],
  [[7, 7, 7], '{7,7,7}'],
  [[7, 8, 7], '{7,8,7}'],
])('numbers %j', (values, text) => {
  expect(numbers(values)).toBe(text)
  expect(fromNumbers(text)).toEqual(values)
})

test.each<[readonly (number | null)[], string]>([
  [[], NOTHING],
  [[null, null], NOTHING],
  [[0, 0], '{0,0}'],
  [[null, 0], '{null,0}'],
  [[5, null, 5], '{5,null,5}'],
])('numbers that may be missing %j', (values, text) => {
  expect(nullable(values)).toBe(text)
})

test.each<[readonly (string | null)[], string]>([
  [[], NOTHING],
  [[null, null], NOTHING],
  [['a', 'a'], '{"a","a"}'],
  [['a"b', 'a"b'], '{"a\\"b","a\\"b"}'],
  [['', null, 'null', '{a,\\}'], '{"",null,"null","{a,\\\\}"}'],
])('texts %j', (values, text) => {
  expect(texts(values)).toBe(text)
})

test.each<[readonly (number | null)[], string]>([
  [[], NOTHING],
  [[null, null], NOTHING],
  [[5], '{5}'],
  [[0, 0, 0], '{0}'],
  [[null, 0], '{null,0}'],
])('numbers that may be alike %j', (values, text) => {
  expect(alike(values)).toBe(text)
})

test.each<[readonly (string | null)[], string]>([
  [[], NOTHING],
  [[null, null], NOTHING],
  [['a"b', 'a"b'], '{"a\\"b"}'],
  [['a', null], '{"a",null}'],
])('texts that may be alike %j', (values, text) => {
  expect(alikeTexts(values)).toBe(text)
})

test.each<[readonly string[], string]>([
  [[], ''],
  [['', ''], ''],
  [['{}', '{}'], '{}'],
  [['{}', ''], '{}\x1f'],
])('documents that may be alike %j', (values, text) => {
  expect(alikeDocuments(values)).toBe(text)
})

test('texts that are told apart by a character must not hold it', () => {
  expect(separated(['a', 'b,"'])).toBe('a\x1fb,"')
  expect(() => separated(['a', 'b\x1fc'])).toThrow(/U\+001F: "b\\u001fc"/)
})
