// What is still told of a job whose record is unreadable, and how it comes back.

import { describe, expect, it } from 'vitest'
import { job, newJob, everyMinute, T0 } from '../../../tests/support/builders.ts'
import {
  damagedJob,
  DamagedRecord,
  isDamaged,
  isRestorable,
  refuseDamaged,
  restoreJob,
  setAside,
  type Remains,
} from './damage.ts'
import { MINUTE } from '../time.ts'

const remains = (parts: Partial<Remains> = {}): Remains => ({
  id: 'a',
  kind: 'job',
  seriesId: null,
  spec: null,
  declared: null,
  createdAt: T0,
  tenant: 'acme',
  lane: 'acme/u1',
  queue: 'mail',
  handler: 'send',
  attempts: 4,
  fence: 6,
  version: 9,
  ...parts,
})
const lostSpec = new DamagedRecord('spec', 'the stored spec is not JSON')
const lostState = new DamagedRecord('state', 'the stored state of the job is not JSON')
const { spec } = newJob({ spec: everyMinute })

describe('a damaged job', () => {
  it('reads as failed and keeps its place', () => {
    const held = damagedJob(remains(), lostSpec)
    expect(held).toMatchObject({
      state: 'failed',
      ended: { reason: 'damaged' },
      lastError: { message: 'the stored spec is not JSON' },
      dueAt: null,
      version: 9,
      spec: { tenant: 'acme', lane: 'acme/u1', queue: 'mail', handler: 'send', name: 'a' },
    })
    expect([isDamaged(held), isRestorable(held)]).toEqual([true, false])
  })

  it('is restorable while its spec is whole, but not a one-off that was started', () => {
    expect(isRestorable(damagedJob(remains({ spec }), lostState))).toBe(true)
    const once = job('b').spec
    expect(isRestorable(damagedJob(remains({ spec: once }), lostState))).toBe(false)
    expect(isRestorable(damagedJob(remains({ spec: once, attempts: 0 }), lostState))).toBe(true)
  })

  it('is read though its cron is invalid too', () => {
    const cron = {
      kind: 'cron',
      expression: 'no',
      zone: 'UTC',
      dialect: 'extended',
      dst: null,
    } as const
    expect(damagedJob(remains({ spec: { ...spec, trigger: cron } }), lostState).state).toBe(
      'failed',
    )
  })

  it('is set aside under the lease it has, with its text', () => {
    const held = damagedJob(remains(), lostSpec)
    const change = setAside(held, { token: 't', raw: 'x'.repeat(20_000) }, T0 + 5)
    expect(change).toMatchObject({ expectedVersion: 9, token: 't', specChanged: true })
    expect(change.job).toMatchObject({ version: 10, ended: { at: T0 + 5, reason: 'damaged' } })
    expect(change.records[0]).toMatchObject({ kind: 'damaged', key: 'a' })
    expect(JSON.stringify(change.records[0]!.value).length).toBeLessThan(17_000)
  })

  it('refuses every verb with the way out', () => {
    const held = damagedJob(remains(), lostSpec)
    expect(() => refuseDamaged(held, 'edit')).toThrow(/cannot edit job a.*doctor --repair/)
    expect(() => refuseDamaged(job('b'), 'edit')).not.toThrow()
  })

  it('starts over behind the newest attempt of its history', () => {
    const held = damagedJob(remains({ spec }), lostState)
    const { job: after } = restoreJob(held, 7, T0)
    expect(after).toMatchObject({ state: 'waiting', ended: null, lastError: null })
    expect(after.dueAt).toBe(T0 + MINUTE)
    expect(after.counters).toMatchObject({ attempts: 7, fence: 7 })
    expect(after.totals.other).toBe(7)
  })
})
