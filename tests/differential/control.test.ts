// What core owes when people change a job in the midst of its life. Each test is the shortest
// history of a rule that the random ones found broken.

import { describe, expect, it } from 'vitest'
import { begin } from '../../src/core/run/begin.ts'
import { cancelRun, retryJob } from '../../src/core/control/control.ts'
import { editJob } from '../../src/core/control/edit.ts'
import { SchedulerError } from '../../src/core/errors.ts'
import { pauseJob, resumeJob } from '../../src/core/control/pause.ts'
import { requestRun } from '../../src/core/control/requests.ts'
import { currentRunOf } from '../../src/core/run/current-run.ts'
import { specDefaults } from '../../src/core/spec.ts'
import { mayBecome, statusOf } from '../../src/core/control/status.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { everyMinute, failed, job, newJob, onRequest, succeeded, T0 } from '../support/builders.ts'
import { claimed, hourly, ran, settled, started } from './steps.ts'

const later = T0 + MINUTE
const idle = { kind: 'deferred', until: later, reason: 'busy', worked: false } as const

function unlessRefused<T>(make: () => T): T | null {
  try {
    return make()
  } catch (error) {
    if (error instanceof SchedulerError) return null
    throw error
  }
}

describe('the numbers of runs', () => {
  it('are given out once, also to a run put off before any work', () => {
    const waiting = ran(job('a'), idle, T0)
    const asked = requestRun(waiting, { id: 'r' }, T0)
    const after = ran(asked.change.job, succeeded, later)
    const scheduled = currentRunOf(claimed(after, later)).run.run
    expect(asked.runId).not.toBe(`a.${scheduled}`)
    const { current, requests } = asked.change.job
    expect(requests[0]!.run).not.toBe(current.run)
  })

  it('count tries without the ones put off before any work', () => {
    const held = started(ran(job('a'), idle, T0), later)
    expect(settled(held, succeeded, later).attempt).toMatchObject({ attempt: 1, number: 1 })
  })
})

describe('the ledger', () => {
  const retry = { limit: 0, backoff: { kind: 'fixed', delayMs: 1 }, resetAfterMs: HOUR } as const

  it('keeps the one decision of an occurrence that is retried, paused and resumed', () => {
    const stopped = ran(job('a', everyMinute), failed({ final: true, endsJob: true }), later)
    const again = retryJob(stopped, later).job
    const asked = pauseJob(claimed(again, later), {}, later).job
    const paused = settled(asked, { kind: 'released' }, later).job
    const resumed = resumeJob(paused, T0 + 3.5 * MINUTE)
    expect(resumed.skips.map(skip => skip.from)).toEqual([T0 + 2 * MINUTE])
  })

  it('keeps what an edit decided when a requested run was in service', () => {
    const asked = requestRun(job('a', hourly), { id: 'r' }, T0).change.job
    const now = T0 + 3 * HOUR
    const edit = editJob(started(asked, T0), { ...asked.spec, ...everyMinute }, now)!
    const done = settled(edit.job, succeeded, now)
    const skips = [...edit.skips, ...done.skips]
    expect(skips.reduce((sum, skip) => sum + skip.count, 0)).toBe(3)
    expect(done.job.nextAt).toBe(now + MINUTE)
  })

  it('keeps the run that waits for a retry when overlap becomes allowed', () => {
    const waiting = ran(job('a', everyMinute), failed({ retryAfterMs: 90_000 }), later)
    const overlap = { policy: 'allow' } as const
    const edited = editJob(waiting, { ...waiting.spec, overlap }, later)!.job
    const first = begin(claimed(edited, edited.dueAt!), edited.dueAt!)
    const decided = first.change?.skips.map(skip => skip.from) ?? []
    const tasks = first.change?.inserts.map(task => task.id) ?? []
    expect(decided).not.toContain(later)
    expect(tasks).not.toContain(`a@${later}`)
  })

  it('does not run what the failure budget already skipped', () => {
    const budget = { ...retry, exhausted: 'wait', yields: false } as const
    const held = job('a', { ...everyMinute, retry: budget })
    const step = settled(started(held, later), failed(), later)
    const resume = resumeJob(pauseJob(step.job, {}, later).job, later + 1)
    const { nextAt } = resume.job
    const isSkipped = [...step.skips, ...resume.skips].some(
      skip => skip.from <= nextAt! && nextAt! <= skip.to,
    )
    expect(isSkipped).toBe(false)
  })
})

describe('the end of a schedule', () => {
  it('leaves no job waiting for nothing when it comes before the first firing', () => {
    const made = unlessRefused(() => job('a', { ...hourly, endAt: T0 + MINUTE }))
    expect(made?.state === 'waiting' && made.dueAt === null).toBe(false)
  })

  it('holds at once when an edit brings it forward', () => {
    const held = job('a', hourly)
    const edit = () => editJob(held, { ...held.spec, endAt: T0 + MINUTE }, T0)
    expect(unlessRefused(edit)?.job.nextAt ?? null).toBeNull()
  })

  it.each([
    [
      'resume after the end',
      () => {
        const paused = pauseJob(job('a', { ...hourly, endAt: T0 + 2 * HOUR }), {}, T0).job
        return [paused, resumeJob(paused, T0 + 3 * HOUR).job] as const
      },
    ],
    [
      'cancel of the last run',
      () => {
        const waiting = ran(job('a'), failed(), T0)
        return [waiting, cancelRun(waiting, 1, { reason: 'enough' }, T0).job] as const
      },
    ],
    [
      'edit of a schedule into a one-off',
      () => {
        const held = job('a', hourly)
        const trigger = { kind: 'once', at: T0 + HOUR } as const
        const { retry } = specDefaults
        return [held, editJob(held, { ...held.spec, trigger, retry }, T0)!.job] as const
      },
    ],
    [
      'resume of a one-off that never started',
      () => {
        const held = pauseJob(started(job('a'), T0), {}, T0).job
        const paused = settled(held, { kind: 'released' }, T0).job
        return [paused, resumeJob(paused, T0).job] as const
      },
    ],
  ])('is a step the table of states has: %s', (_, steps) => {
    const [before, after] = steps()
    const [from, to] = [statusOf(before), statusOf(after)]
    expect(mayBecome(from, to) ? 'allowed' : `${from} → ${to}`).toBe('allowed')
  })
})

describe('a checkpoint', () => {
  it('goes with a run that gave way to the next firing', () => {
    const retry = { ...job('x').spec.retry, yields: true }
    const now = T0 + 2 * MINUTE
    const held = newJob({ id: 'a', spec: { ...everyMinute, retry } })
    const waiting = ran(held, failed({ retryAfterMs: 30_000 }), later)
    const first = begin(claimed(waiting, now), now)
    expect(first.change).toMatchObject({ clearsCheckpoint: true })
  })

  it('stays with a run that a pause put off', () => {
    const waiting = ran(job('a', everyMinute), failed(), later)
    const paused = pauseJob(waiting, {}, later).job
    const step = resumeJob(paused, later + HOUR)
    expect(step.clearsCheckpoint).toBe(false)
    expect(step.job.current).toEqual(waiting.current)
    expect(step.job.dueAt).toBe(later + HOUR + MINUTE)
  })

  it('goes with a requested run that is cancelled between its tries', () => {
    const asked = requestRun(job('a', onRequest), { id: 'r' }, T0).change.job
    const waiting = ran(asked, failed(), T0)
    expect(cancelRun(waiting, 1, { reason: 'enough' }, T0)).toMatchObject({
      clearsCheckpoint: true,
    })
  })
})
