// Without a clock of a test, due and lease are judged by the server's: a node that is ahead gets
// nothing early.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../src/compose.ts'
import { BEAT_KIND, beatWrite } from '../../src/core/run/owner.ts'
import { HOUR } from '../../src/core/time.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { Store } from '../../src/store/port.ts'
import { claimRequest, job } from '../support/builders.ts'
import { freshPlace, type FreshPlace } from '../support/servers/shared.ts'
import { eventually } from '../support/servers/wait.ts'
import { skipTest } from '../support/skip.ts'

describe.each(['postgres', 'redis'] as const)('the clock of a %s server', kind => {
  let place: FreshPlace
  let store: Store
  beforeEach(async () => {
    const found = await freshPlace(kind)
    if ('missing' in found) skipTest(found.missing)
    place = found
    store = await openStore(place.url, { now: () => systemClock.now(), listens: true })
  })
  afterEach(async () => {
    await store.close()
    await place.clean()
  })
  it('is what `now` tells', async () => {
    const before = await store.now()
    expect(Number.isInteger(before)).toBe(true)
    expect(await store.now()).toBeGreaterThanOrEqual(before)
  })

  it('stamps beats, whatever the node believes the time to be', async () => {
    const before = await store.now()
    await store.putRecords([beatWrite('n1~00c0ffee', HOUR)], before)
    const [beat] = await store.getRecords(BEAT_KIND, ['n1~00c0ffee'], before)
    expect(beat!.value).toBeGreaterThanOrEqual(before)
    expect(beat!.value).toBeLessThanOrEqual(await store.now())
  })

  it('keeps a node that is ahead from starting early and from reaping too soon', async () => {
    const now = await store.now()
    const ahead = now + HOUR
    await store.insert([job('later', { trigger: { kind: 'once', at: now + 30 * 60_000 } })], {
      now: ahead,
    })
    await store.insert([job('due', { trigger: { kind: 'once', at: now } })], { now: ahead })
    const claimed = await store.claim(claimRequest({ now: ahead, limit: 9 }))
    expect(claimed.map(held => held.id)).toEqual(['due'])
    const { claimedAt, until } = claimed[0]!.lease!
    expect(claimedAt).toBeLessThan(now + 60_000)
    expect(until).toBe(claimedAt + 15_000)
    expect(await store.overdue({ now: ahead, limit: 9 })).toEqual([])
  })

  it('ends a lease whatever the node thinks', async () => {
    await store.insert([job('short', { handler: 'other' })], { now: await store.now() })
    const request = claimRequest({ now: Number.MAX_SAFE_INTEGER, handlers: ['other'], leaseMs: 50 })
    const [held] = await store.claim(request)
    expect(held!.id).toBe('short')
    const late = await eventually('the end of the lease', async () => {
      const found = await store.overdue({ now: Number.MAX_SAFE_INTEGER, limit: 9 })
      return found.find(({ id }) => id === 'short')
    })
    expect(late).toEqual(held)
  })
})
