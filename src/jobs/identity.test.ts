// Ids stay as they are while they fit, and stay valid and distinct when they would not.

import { expect, test } from 'vitest'
import { limits } from '../core/limits.ts'
import { shortId } from '../core/short-id.ts'
import { idOf } from './identity.ts'

test('an id that fits is its parts, encoded and joined', () => {
  expect(idOf(['default', 'my app', 'a:b', 'ö%'], '!')).toBe('default:my%20app:a%3Ab:%C3%B6%25!')
  const longest = 'k'.repeat(limits.idLength - 'a:!'.length)
  expect(idOf(['a', longest], '!')).toBe(`a:${longest}!`)
})

test('one that would be too long keeps its beginning and ends with a hash of the whole', () => {
  const long = 'k'.repeat(limits.idLength)
  const id = idOf(['default', 'app', 'job', long], '!')
  expect(id).toMatch(/^default:app:job:k+=[\w-]{43}!$/)
  expect(id.length).toBeLessThan(200)
  expect(idOf(['default', 'app', 'job', long], '!')).toBe(id)
  expect(idOf(['default', 'app', 'job', `${long}k`], '!')).not.toBe(id)
  expect(idOf(['default', 'app', 'job', decodeURIComponent(id.slice(0, -1))], '!')).not.toBe(id)
})

test('an escape is not cut in two', () => {
  for (const shift of ['', 'a', 'ab']) {
    expect(() => decodeURIComponent(idOf([`${shift}${':'.repeat(300)}`]))).not.toThrow()
  }
})

test('an id of one row passed on as the key of the next stays within the limit', () => {
  let id = ''
  for (let i = 0; i < 1_000; i++) {
    id = idOf(['default', 'shop', 'process-order-step', id], '!')
    expect(id.length).toBeLessThanOrEqual(limits.idLength)
  }
})

test('messages show long ids without their middle', () => {
  expect(shortId('default:app:job:main')).toBe('default:app:job:main')
  const id = `default:app:job:${'x'.repeat(300)}.17`
  expect(shortId(id)).toBe(`default:app:job:${'x'.repeat(22)}…${'x'.repeat(35)}.17`)
})
