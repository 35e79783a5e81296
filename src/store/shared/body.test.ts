// Bodies say all of a job that rows do not, also where one is told by the one before it.

import { describe, expect, it } from 'vitest'
import { job } from '../../../tests/support/builders.ts'
import { noRun, noTotals, type Job } from '../../core/job.ts'
import { DamagedRecord } from '../../core/stored/damage.ts'
import { outcomes } from './codes.ts'
import { bodyOf, type Body } from './body.ts'
import { parseBody, toldOf } from './told.ts'

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

describe('the body of a job', () => {
  it('is one text for jobs that say the same', () => {
    expect(bodyOf({ ...plain, id: 'b', totals: { ...plain.totals } })).toBe(bodyOf(plain))
  })

  it.each(Object.entries(others))('tells %s, whatever was written before it', (_, differs) => {
    const other: Job = { ...plain, ...differs }
    const alone = bodyOf(other)
    bodyOf(plain)
    expect(bodyOf(other)).toBe(alone)
    expect(alone).not.toBe(bodyOf(plain))
    expect(bodyOf(plain)).not.toBe(alone)
  })

  it.each(Object.entries(others))('is read with %s, whatever was read before it', (_, differs) => {
    const other: Job = { ...plain, ...differs }
    for (const before of [plain, other]) {
      const text = bodyOf(other)
      for (const read of [parseBody, (json: string) => toldOf(JSON.parse(json) as Body)]) {
        read(bodyOf(before))
        const { runs, concluded, ...told } = read(text)
        expect(other).toMatchObject({ ...told, counters: { runs, concluded } })
      }
    }
  })

  it('of an earlier version tells a released last attempt as a firing of a series', () => {
    const body = JSON.parse(bodyOf(plain)) as Body
    body[15] = outcomes.indexOf('released')
    expect(toldOf(body)).toMatchObject({ last: null, series: { firedAt: 5, totals: noTotals } })
  })

  it('whose sums of tasks are no numbers is damaged', () => {
    const body = JSON.parse(bodyOf({ ...plain, series: { firedAt: 1, totals: noTotals } })) as Body
    const series = { firedAt: 1, totals: { failed: 'many' } }
    const damaged = [...body.slice(0, -1), { series }] as unknown as Body
    expect(() => toldOf(damaged)).toThrow(DamagedRecord)
  })
})
