// The text of an answer, whatever charset it comes in.

import { expect, it } from 'vitest'
import { countSteps, whole } from '../../tests/support/steps.ts'
import { decodeAnswer } from './charset.ts'

const decoded = (bytes: Buffer, type?: string) => whole(decodeAnswer(bytes, type))

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
  expect(decoded(bytes, type)).toEqual({ text: '"café"', hasUnreadable: false })
})

it('H6: an unknown charset is named, and bytes that do not fit are noticed', () => {
  expect(decoded(Buffer.from('x'), 'text/json; charset=klingon')).toEqual({
    unknown: 'klingon',
  })
  expect(decoded(Buffer.from('"café"', 'latin1'), 'application/json')).toEqual({
    text: '"caf\uFFFD"',
    hasUnreadable: true,
  })
})

it.each(['utf-8', 'utf-16le', 'shift_jis', 'gb18030'])(
  'S4: 10 MiB of %s are decoded in at least 40 steps, whole characters across them',
  charset => {
    const body = Buffer.alloc(
      10 * 1024 * 1024 - 1,
      'aé',
      charset === 'utf-16le' ? charset : 'utf-8',
    )
    const steps = decodeAnswer(body, `application/json; charset=${charset}`)
    expect(countSteps(steps)).toBeGreaterThanOrEqual(40)
    expect(decoded(body, `application/json; charset=${charset}`)).toMatchObject({
      text: new TextDecoder(charset).decode(body),
    })
  },
)
