// What errors of the server mean to callers.

import { expect, test } from 'vitest'
import { SchedulerError } from '../../../core/errors.ts'
import { translated } from './errors.ts'

function meaningOf(code: string): unknown {
  const thrown = Object.assign(new Error('as the server says'), { code, severity: 'ERROR' })
  const meaning = translated(thrown, { place: 'db/x', password: 'secret' })
  return meaning instanceof SchedulerError ? [meaning.code, meaning.details] : meaning
}

test('H7 a wait for a lock that the server ended is told apart from a server that is gone', () => {
  expect(meaningOf('55P03')).toEqual(['STORE_UNAVAILABLE', { reason: 'lock_timeout' }])
  expect(meaningOf('57P01')).toEqual(['STORE_UNAVAILABLE', {}])
})
