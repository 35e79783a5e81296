// The state behind the first line of a row, written and read.

import { describe, expect, it } from 'vitest'
import { job } from '../../../tests/support/builders.ts'
import { noRun, noTotals, type Job } from '../../core/job.ts'
import { DamagedRecord } from '../../core/stored/damage.ts'
import { outcomes } from '../shared/codes.ts'
import { decodeState, encodeState, type StoredState } from './job-state.ts'

const plain: Job = {
  ...job('a'),
  last: { startedAt: 5, finishedAt: 6, outcome: 'succeeded', succeededAt: 6 },
  ended: { at: 6, reason: 'completed' },
}

/** Each in one thing another than the plain one. */
const others: Readonly<Record<string, Partial<Job>>> = {
  waitingFor: { waitingFor: 'retry' },
  nextAt: { nextAt: 1 },
  'nextAt: none': { nextAt: null },
  retryAt: { retryAt: 2 },
  backlog: { backlog: 3 },
  missed: { missed: 4 },
  runs: { counters: { ...plain.counters, runs: 7 } },
  concluded: { counters: { ...plain.counters, concluded: 8 } },
  succeeded: { totals: { ...plain.totals, succeeded: 1 } },
  failed: { totals: { ...plain.totals, failed: 1 } },
  cancelled: { totals: { ...plain.totals, cancelled: 1 } },
  other: { totals: { ...plain.totals, other: 1 } },
  skipped: { totals: { ...plain.totals, skipped: 1 } },
  durationMs: { totals: { ...plain.totals, durationMs: 1 } },
  'last: none': { last: null },
  'last.startedAt': { last: { ...plain.last!, startedAt: 1 } },
  'last.finishedAt': { last: { ...plain.last!, finishedAt: 1 } },
  'last.outcome': { last: { ...plain.last!, outcome: 'failed' } },
  'last.succeededAt': { last: { ...plain.last!, succeededAt: null } },
  'ended: none': { ended: null },
  'ended.at': { ended: { at: 1, reason: 'completed' } },
  'ended.reason': { ended: { at: 6, reason: 'exhausted' } },
  'ended.note': { ended: { at: 6, reason: 'completed', note: 'why' } },
  updatedAt: { updatedAt: 1 },
  revision: { revision: 9 },
  floor: { floor: 1 },
  current: { current: { ...noRun, run: 1 } },
  serving: { serving: 'r' },
  crashes: { crashes: 1 },
  hold: { hold: { attemptId: 'a', owner: 'n', until: 9 } },
  pause: { pause: { at: 1, until: null, note: null } },
  pauseAsked: { pauseAsked: { at: 1, until: null, note: null } },
  series: { series: { firedAt: 1, totals: { ...noTotals, failed: 2 } } },
  lastError: { lastError: { name: 'E', message: 'm', stack: null } },
}

const read = (text: string, one = plain) => decodeState(text, { ...one, ...one.counters }, one)
const decoded = (state: StoredState) => read(JSON.stringify(state))
const stored = (one: Job) => JSON.parse(encodeState(one)) as StoredState

describe('the state of a job', () => {
  it.each(Object.entries(others))('is read with %s', (_, differs) => {
    const other: Job = { ...plain, ...differs }
    const text = encodeState(other)
    expect(text).not.toBe(encodeState(plain))
    expect(read(text, other)).toEqual(other)
  })

  it('of an earlier version reads a released last attempt as a firing of a series', () => {
    const state = stored(plain)
    state[15] = outcomes.indexOf('released')
    expect(decoded(state)).toMatchObject({ last: null, series: { firedAt: 5, totals: noTotals } })
  })

  it.each([
    ['is no JSON', '{'],
    ['has lost fields', '[0,1]'],
    ['has a text for a number', encodeState(plain).replace('[0', '["0"')],
    ['has a list for its details', `${encodeState(plain).slice(0, -1)},[]]`],
  ])('that %s is damaged', (_, text) => {
    expect(() => read(text)).toThrow(DamagedRecord)
  })

  it('whose sums of tasks are no numbers is damaged', () => {
    const series = { firedAt: 1, totals: { ...noTotals, failed: 'many' } }
    const damaged = [...stored(plain), { series }] as unknown as StoredState
    expect(() => decoded(damaged)).toThrow(DamagedRecord)
  })
})
