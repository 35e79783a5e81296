// A history in which everything is as it should be, and ways to bend it.

import type { Checker, History } from '../history.ts'
import { at, Story, type Draft } from './story.ts'

const retried = { run: 2, attempt: 1, failures: 1, failingSince: at(20.4), retryOf: null }

/**
 * A job every ten seconds: a success, a failure that is tried again, an outage that is caught up
 * with by one run, a pause, and a quiet end.
 */
export function goodHistory(): History {
  return new Story({
    retry: {
      limit: 1,
      backoff: { kind: 'fixed', delayMs: 1_000 },
      resetAfterMs: null,
      exhausted: 'next',
      yields: false,
    },
  })
    .claim(10, 'node-0')
    .settle(10.5, 'succeeded', { nextAt: at(20), dueAt: at(20) })
    .claim(20, 'node-0')
    .settle(20.4, 'failed', { retryAt: at(21.4), dueAt: at(21.4), current: retried })
    .claim(21.4, 'node-1')
    .settle(21.9, 'succeeded', { nextAt: at(30), dueAt: at(30) })
    .fault('outage', null, 25, 52)
    .claim(53, 'node-0')
    .begin(53.01, { nextAt: at(50), missed: 2, updatedAt: at(53.01) }, coalesced)
    .settle(53.5, 'succeeded', { nextAt: at(60), dueAt: at(60), missed: 0 })
    .person(55, 'pause', { state: 'paused', dueAt: null, pause: paused })
    .person(75, 'resume', { state: 'waiting', nextAt: at(85), dueAt: at(85), pause: null }, skipped)
    .claim(85, 'node-1')
    .settle(85.5, 'succeeded', { nextAt: at(95), dueAt: at(95) })
    .claim(95, 'node-0')
    .settle(95.5, 'succeeded', { nextAt: at(105), dueAt: at(105) })
    .claim(105, 'node-0')
    .settle(105.5, 'succeeded', { nextAt: at(115), dueAt: at(115) })
    .end(80, 110)
}

const coalesced = { from: at(30), to: at(40), count: 2, reason: 'coalesced' } as const
const skipped = { from: at(60), to: at(70), count: 2, reason: 'paused' } as const
const paused = { at: at(55), until: null, note: null }

/** The good history with one thing changed. */
export function bent(bend: (draft: Draft) => void): History {
  const draft = structuredClone(goodHistory()) as Draft
  bend(draft)
  return draft
}

/** The invariants a checker finds broken. */
export function brokenBy(check: Checker, bend: (draft: Draft) => void): string[] {
  return [...new Set(check(bent(bend)).map(({ inv }) => inv))]
}

/** The index of the nth write of a kind, from 0. */
export function nth(draft: Draft, call: string, n: number): number {
  return draft.writes.flatMap((write, i) => (write.call === call ? [i] : []))[n]!
}
