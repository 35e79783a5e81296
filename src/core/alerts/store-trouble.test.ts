// Failures of the store as operators read them: codes, sentences without hosts and paths.

import { describe, expect, it, test } from 'vitest'
import { SchedulerError, type ErrorCode } from '../errors.ts'
import { Events } from '../../runtime/events.ts'
import { Lifecycle } from '../../engine/lifecycle.ts'
import { outcomesTrouble, storeTrouble, storeTroubleCodes } from './store-trouble.ts'
import { Troubles } from '../../runtime/troubles.ts'

const failure = (code: ErrorCode, reason: string | null = null) =>
  new SchedulerError(code, 'the store at /secret/path: broken', { details: { reason } })

test.each([
  [failure('STORE_FULL'), 'store_full', 'Make room'],
  [failure('STORE_READ_ONLY'), 'store_read_only', 'access rights'],
  [failure('STORE_UNAVAILABLE'), 'store_unreachable', 'when it answers'],
  [failure('STORE_UNAVAILABLE', 'locked'), 'store_locked', 'locked by another process'],
  [failure('STORE_UNAVAILABLE', 'lock_timeout'), 'store_locked', 'pg_stat_activity'],
  [failure('STORE_CORRUPT'), 'store_corrupt', 'restore a backup'],
  [failure('STORE_LOST'), 'store_lost', 'file was deleted or replaced'],
  [failure('STORE_LOST', 'marker'), 'store_lost', 'doctor --repair'],
  [failure('STORE_LOST', 'replaced'), 'store_lost', 'restart this process'],
  [new TypeError('x of undefined at /secret/path'), 'store_failing', 'the log says how'],
])('%s is told as %s', (error, code, text) => {
  const report = storeTrouble(error)
  expect(report).toMatchObject({ code, level: 'error', isBlocking: true })
  expect(report.message).toContain(text)
  expect(outcomesTrouble(error).message).toContain(text)
  expect(report.message).not.toContain('/secret/path')
  expect(storeTroubleCodes).toContain(code)
})

describe('an outage', () => {
  it('blocks the node until a look for work succeeds, whatever kind of failure came last', () => {
    const events = new Events()
    const clock = { now: () => 0 }
    const troubles = new Troubles(clock, events)
    const lifecycle = new Lifecycle({ clock, events, troubles } as never)
    lifecycle.fail(failure('STORE_UNAVAILABLE'), 'tick')
    lifecycle.fail(failure('STORE_FULL'), 'tick')
    expect(troubles.isBlocked).toBe(true)
    lifecycle.recover('tick')
    expect(troubles.list).toEqual([])
  })
})
