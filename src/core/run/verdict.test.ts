// Which lost attempts count as crashes.

import { describe, expect, it } from 'vitest'
import { isNodeOwner, nodeIdOf, ownerOf } from './owner.ts'
import { judgeLostAttempt, type Evidence } from './verdict.ts'

const leaseMs = 15_000
const now = 1_000_000
const base: Evidence = {
  owner: 'node',
  beatAt: now - leaseMs,
  onTimeMs: leaseMs,
  isOnTimeSinceStart: false,
}

const crash = { kind: 'abandoned' }
const lost = { kind: 'interrupted', reason: 'lease_lost' }

describe('a lost attempt', () => {
  it.each<[string, Partial<Evidence>, object]>([
    ['its owner silent for a lease, the judge on time', {}, crash],
    ['its owner never beat', { beatAt: null }, crash],
    ['its owner beat half a lease ago', { beatAt: now - leaseMs / 2 }, lost],
    ['its owner beat while the judge looked', { beatAt: now }, lost],
    ['a beat that landed just after its renewal', { beatAt: now - leaseMs + 900 }, crash],
    ['the judge was late within the lease', { onTimeMs: leaseMs - 1 }, lost],
    ['the judge is late now', { onTimeMs: 0 }, lost],
    ['the judge just started and was never late', { onTimeMs: 9, isOnTimeSinceStart: true }, crash],
    ['a remote worker without a word', { owner: 'worker', beatAt: null }, crash],
    ['a worker while the service was slow', { owner: 'worker', onTimeMs: 0 }, lost],
    [
      'a worker of a service that just came back',
      { owner: 'worker', onTimeMs: leaseMs - 1, isOnTimeSinceStart: true },
      lost,
    ],
  ])('%s', (_, given, expected) => {
    expect(judgeLostAttempt({ ...base, ...given }, leaseMs, now)).toEqual(expected)
  })
})

it('an owner is a start of a node, shown as the node', () => {
  const owner = ownerOf('web-1', '00c0ffee')
  expect(isNodeOwner(owner)).toBe(true)
  expect(nodeIdOf(owner)).toBe('web-1')
  expect(isNodeOwner('crawler@host-7')).toBe(false)
  expect(nodeIdOf('crawler@host-7')).toBe('crawler@host-7')
})
