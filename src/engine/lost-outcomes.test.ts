// An outcome that meets a row of its attempt: written by itself, though the answer was cut off, or by
// whoever took the lease over.

import { expect, test } from 'vitest'
import { systemIds } from '../compose.ts'
import type { Outcome } from '../core/attempt.ts'
import { settle } from '../core/run/settle.ts'
import { completeSpec } from '../core/spec.ts'
import { createEngine } from '../create-engine.ts'
import { systemClock } from '../runtime/clock.ts'
import { MemoryStore } from '../store/memory/store.ts'
import { activeAttempt } from './active-attempt.ts'
import { Holds } from './holds.ts'
import { LostOutcomes } from './lost-outcomes.ts'

const lost: Outcome = { kind: 'interrupted', reason: 'lease_lost' }

async function outcomeAfter(row: { readonly startedAt: 'claimed' | 'called' }): Promise<string[]> {
  const store = new MemoryStore(() => systemClock.now())
  await store.open()
  const settings = { nodeId: 'a' }
  const engine = createEngine({ store, clock: systemClock, ids: systemIds(), settings })
  const spec = completeSpec({ handler: 'work', trigger: { kind: 'once', at: systemClock.now() } })
  const id = engine.ids.next(systemClock.now())
  await engine.client.create([{ id, kind: 'task', seriesId: null, declared: null, spec }])
  const now = systemClock.now()
  const [job] = await store.claim({
    queue: 'default',
    handlers: ['work'],
    now,
    limit: 1,
    owner: 'a',
    leaseMs: 1_000,
    token: 't',
    attemptIds: ['attempt'],
    hasLimits: false,
  })
  const attempt = activeAttempt(job!)
  attempt.startedAt = now + 40
  attempt.outcome = lost
  attempt.isStale = true
  const startedAt = row.startedAt === 'claimed' ? now : now + 40
  const change = settle(job!, { outcome: lost, startedAt }, now + 1_000)
  await store.commit([change], { now: now + 1_000, waitingMax: 10 })
  const heard: string[] = []
  engine.events.on('settled', () => heard.push('settled'))
  engine.events.on('leaseLost', () => heard.push('leaseLost'))
  const outcomes = new LostOutcomes(engine, new Holds(engine))
  expect(await outcomes.readAgain([attempt])).toEqual([])
  return heard
}

test('G1 is reported as lost when another node took the lease over', async () => {
  expect(await outcomeAfter({ startedAt: 'claimed' })).toEqual(['leaseLost'])
})

test('G1 is reported once when its own write lost the answer', async () => {
  expect(await outcomeAfter({ startedAt: 'called' })).toEqual(['settled'])
})
