// How secrets are found in what comes back.

import { describe, expect, it } from 'vitest'
import { Masking } from './masking.ts'

const odd = 'se"c\\r/e t&<ö>\'!'

describe('S2 a secret is masked', () => {
  const masking = new Masking([odd, 'ab12'])

  it.each([
    ['as it is', odd],
    ['in JSON', JSON.stringify({ a: odd })],
    ['in JSON in JSON', JSON.stringify({ data: JSON.stringify({ a: odd }) })],
    ['in JSON with escaped slashes', JSON.stringify(odd).replaceAll('/', '\\/')],
    ['in JSON of ASCII', JSON.stringify(odd).replaceAll('ö', '\\u00f6')],
    ['in a URL', encodeURIComponent(odd)],
    ['in a URL in small letters', encodeURIComponent(odd).toLowerCase()],
    ['in a form', new URLSearchParams({ a: odd }).toString()],
    [
      'in HTML',
      odd
        .replace(/&/g, '&amp;')
        .replace(/</g, '&lt;')
        .replace(/>/g, '&gt;')
        .replace(/"/g, '&quot;')
        .replace(/'/g, '&#39;'),
    ],
    ['that is short', 'key=ab12&x'],
  ])('%s', (_how, text) => {
    const clean = masking.masked(text)
    expect(clean).toContain('***')
    expect(clean).not.toMatch(/se.{0,6}c|ab12/)
  })

  it('also where the answer was cut in the middle of it', () => {
    const secret = 'canary-0123456789'
    const cut = new Masking([secret])
    for (let length = 3; length < secret.length; length++) {
      expect(cut.maskedCut(`echo ${secret.slice(0, length)}`)).toBe('echo ***')
    }
    expect(cut.maskedCut(`echo ${secret} and more`)).toBe('echo *** and more')
  })

  it('without a secret a text stays as it is', () => {
    expect(new Masking([]).masked('text')).toBe('text')
    expect(new Masking(['abc']).masked('abc')).toBe('abc')
  })
})
