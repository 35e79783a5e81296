// What core owes the firings of a schedule when runs are put off, give way or are spread. Each
// test is the shortest history of a rule that the property in core.test.ts found broken.

import { describe, expect, it } from 'vitest'
import { begin } from '../../src/core/run/begin.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import { HOUR, MINUTE, SECOND } from '../../src/core/time.ts'
import { everyMinute, failed, job, succeeded, T0 } from '../support/builders.ts'
import { claimed, ran, settled, started } from './steps.ts'

const at = (minutes: number) => T0 + minutes * MINUTE
const yielding = { ...job('x').spec.retry, yields: true } satisfies JobSpec['retry']

describe('a firing', () => {
  it('whose run was put off and then gave way has a decision of its own', () => {
    const until = at(1.5)
    const idle = { kind: 'deferred', until, reason: 'busy', worked: false } as const
    const putOff = ran(job('a', { ...everyMinute, retry: yielding }), idle, at(1))
    const { change } = begin(claimed(putOff, at(2)), at(2))
    const skipped = change!.skips.filter(skip => skip.from <= at(1) && at(1) <= skip.to)
    const isKept = change!.job.nextAt === at(1)
    expect(skipped.length + (isKept ? 1 : 0)).toBe(1)
  })

  it('after a run gave way follows its policy for missed ones', () => {
    const overlap = { policy: 'queue', limit: 2 } as const
    const missed = { policy: 'skip' } as const
    const spec = { ...everyMinute, retry: yielding, overlap, missed, graceMs: SECOND }
    const queued = settled(started(job('a', spec), at(1)), succeeded, at(3.5)).job
    expect(queued).toMatchObject({ nextAt: at(2), backlog: 2 })
    const retrying = settled(started(queued, at(3.5)), failed({ retryAfterMs: 1 }), at(3.5)).job
    const gone = begin(claimed(retrying, at(20.5)), at(20.5))
    expect(gone.kind).toBe('nothing')
    expect(gone.change!.job).toMatchObject({ nextAt: at(21), backlog: 0 })
  })

  it('is not late because it was spread', () => {
    const missed = { policy: 'skip' } as const
    const held = job('a', { ...everyMinute, missed, graceMs: SECOND, jitterMs: 50 * SECOND })
    const dueAt = held.dueAt!
    expect(dueAt).toBeGreaterThan(held.nextAt! + SECOND)
    expect(begin(claimed(held, dueAt), dueAt).kind).toBe('run')
  })

  it('spread beyond the late limit is run all the same', () => {
    const held = job('a', { ...everyMinute, lateLimitMs: SECOND, jitterMs: 50 * SECOND })
    expect(begin(claimed(held, held.dueAt!), held.dueAt!).kind).toBe('run')
  })

  it('of a one-second job after a year away is decided at once', () => {
    const trigger = { ...everyMinute.trigger, everyMs: SECOND }
    const now = T0 + 365 * 24 * HOUR
    const first = begin(claimed(job('a', { trigger }), now), now)
    expect(first.change!.skips).toMatchObject([{ count: 365 * 86_400 - 1, reason: 'coalesced' }])
    expect(first.change!.job).toMatchObject({ nextAt: now, missed: 365 * 86_400 - 1 })
  })
})
