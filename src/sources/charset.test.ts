// The text of an answer, whatever charset it comes in.

import { expect, it } from 'vitest'
import { decodeAnswer } from './charset.ts'

const utf16 = (mark: string) => Buffer.from(`${mark}"café"`, 'utf16le')

it.each([
  ['application/json', Buffer.from('"café"')],
  ['application/json', Buffer.from('\uFEFF"café"')],
  ['application/json; charset=iso-8859-1', Buffer.from('"café"', 'latin1')],
  ['application/json;charset="windows-1252"', Buffer.from('"café"', 'latin1')],
  ['application/json; charset=utf-16le', utf16('')],
  ['application/json', utf16('\uFEFF')],
  ['application/json; charset=iso-8859-1', utf16('\uFEFF')],
  ['application/json; charset=utf-16be', utf16('\uFEFF').swap16()],
])('H6: %s, case %#, is read', (type, bytes) => {
  expect(decodeAnswer(bytes, type)).toEqual({ text: '"café"', hasUnreadable: false })
})

it('H6: an unknown charset is named, and bytes that do not fit are noticed', () => {
  expect(decodeAnswer(Buffer.from('x'), 'text/json; charset=klingon')).toEqual({
    unknown: 'klingon',
  })
  expect(decodeAnswer(Buffer.from('"café"', 'latin1'), 'application/json')).toEqual({
    text: '"caf\uFFFD"',
    hasUnreadable: true,
  })
})
