// Which payload a run is known by after edits, and what is kept for how long.

import { describe, expect, test } from 'vitest'
import { failed, succeeded, T0 } from '../../../tests/support/builders.ts'
import { begun, claimed, every, made, ran } from '../../../tests/support/pure.ts'
import type { Attempt } from '../attempt.ts'
import type { Change } from '../change.ts'
import { archiveJob } from '../control/control.ts'
import { editJob, reviveJob } from '../control/edit.ts'
import type { Job } from '../job.ts'
import type { Json } from '../json.ts'
import { limits } from '../limits.ts'
import { requestRetry, requestRun } from '../control/requests.ts'
import { runOf } from './run.ts'
import { currentRunOf } from '../run/current-run.ts'
import { settle } from '../run/settle.ts'
import type { JobSpec } from '../spec.ts'
import { parseSpec, specText } from '../spec/spec-text.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'

const retention = { attempts: 100, ageMs: 30 * DAY }
const manual = { trigger: { kind: 'manual' } } as const
const webhook = (url: string, payload: Json) =>
  ({ handler: 'action:http', isAction: true, payload: { action: { url }, payload } }) as const

/** A job with the attempts it left. */
class Past {
  job: Job
  readonly attempts: Attempt[] = []

  constructor(parts: Partial<JobSpec>) {
    this.job = made(parts)
  }

  take({ job, attempt }: Change): this {
    this.job = job
    if (attempt) this.attempts.push(attempt)
    return this
  }

  edit(parts: Partial<JobSpec>, now = T0): this {
    return this.take(editJob(this.job, { ...this.job.spec, ...parts }, now)!)
  }

  run(payload?: Json, now = T0): this {
    const id = `r${this.job.counters.runs}`
    this.take(requestRun(this.job, payload === undefined ? { id } : { id, payload }, now).change)
    return this.take(ran(this.job, succeeded, now))
  }

  read(run: number) {
    return runOf(
      this.job,
      run,
      this.attempts.filter(held => held.run === run),
    )!
  }

  kept(): Json[] {
    return (this.job.spec.payloadHistory?.kept ?? []).map(({ value }) => value)
  }
}

describe('N3 after an edit of the payload', () => {
  test.each([
    ['another payload', { payload: 'b' }, 'a', 3],
    ['nothing but another name', { name: 'other' }, 'a', 1],
    [
      'another payload while off',
      { payload: 'b', retention: { ...retention, payloads: false } },
      null,
      3,
    ],
  ])('%s: the run before is known by what it got', (_, parts, payload, revision) => {
    const past = new Past({ ...manual, payload: 'a' }).run().edit(parts).run()
    expect(past.read(1).payload).toBe(payload)
    expect(past.read(1).payloadOf).toBe(payload === null ? null : 'job')
    expect(past.read(2)).toMatchObject({ payloadOf: 'job', payloadRevision: revision })
  })

  test.each([
    ['no run got it', () => new Past(manual).edit({ payload: 1 }).edit({ payload: 2 }), []],
    [
      'runs got it',
      () => new Past(manual).run().edit({ payload: 1 }).run().edit({ payload: 2 }),
      [null, 1],
    ],
    ['it came back', () => comeAndGone(), [1, null]],
  ])('a payload is kept once, and only where a run got it: %s', (_, build, kept) => {
    expect(build().kept()).toEqual(kept)
  })

  function comeAndGone(): Past {
    const past = new Past(manual).run()
    return past.edit({ payload: 1 }).run().edit({ payload: null }).run().edit({ payload: 2 })
  }

  test('runs of a payload that came back are all known by it', () => {
    const past = comeAndGone().run()
    expect([1, 2, 3, 4].map(run => past.read(run).payload)).toEqual([null, 1, null, 2])
    expect([1, 2, 3, 4].map(run => past.read(run).payloadRevision)).toEqual([1, 3, 5, 7])
  })

  test('only what an action works on counts, and only that is kept', () => {
    const past = new Past({ ...manual, ...webhook('https://a.test/', { n: 1 }) }).run()
    past.edit(webhook('https://b.test/?key=s3cret', { n: 1 }))
    expect(past.job.spec.payloadHistory).toBeUndefined()
    past.edit(webhook('https://c.test/', { n: 2 }))
    expect(past.kept()).toEqual([{ n: 1 }])
    expect(past.read(1)).toMatchObject({ payload: { n: 1 }, payloadOf: 'job' })
  })

  test('what an edit brings along as history does not count', () => {
    const past = new Past({ ...manual, payload: 'a' }).run()
    const forged = { revision: 9, since: 0, kept: [] }
    past.edit({ payload: 'b', payloadHistory: forged })
    expect(past.job.spec.payloadHistory).toMatchObject({ revision: 3, kept: [{ value: 'a' }] })
    expect(made({ payloadHistory: forged }).spec).not.toHaveProperty('payloadHistory')
    expect(editJob(past.job, { ...past.job.spec, payloadHistory: forged }, T0)).toBeNull()
  })

  test('a store keeps the history with the spec', () => {
    const { spec } = new Past({ ...manual, payload: 'a' }).run('own').edit({ payload: 'b' }).job
    expect(parseSpec(specText(spec))).toEqual(spec)
    for (const [part, other] of [
      ['"kept":[', '"kept":7,"was":['],
      ['"since":1', '"since":"1"'],
      ['"number":', '"count":'],
    ] as const) {
      const text = specText(spec)
      expect(text).toContain(part)
      expect(() => parseSpec(text.replace(part, other))).toThrow('no readable payloadHistory')
    }
  })

  test('a job declared again keeps what its runs got', () => {
    const past = new Past({ ...every(HOUR), payload: 'a' })
    past.take(ran(past.job, succeeded, T0 + HOUR)).take(archiveJob(past.job, T0 + HOUR))
    const declared = { app: 'x', definition: 'd', key: 'k', generation: '1' }
    const spec = { ...past.job.spec, payload: 'b' }
    past.take(reviveJob(past.job, spec, declared, T0 + 2 * HOUR))
    expect(past.read(1)).toMatchObject({ payload: 'a', payloadRevision: 1 })
    expect(past.job.spec.payload).toBe('b')
  })
})

describe('N3 an attempt under way at the edit', () => {
  const retrying = { ...every(HOUR), payload: 'a' } as const

  function editedWhileRunning(): Past {
    const past = new Past(retrying)
    past.job = begun(past.job, T0 + HOUR)
    return past.edit({ payload: 'b' }, T0 + HOUR).edit({ payload: 'c' }, T0 + HOUR)
  }

  test('is shown with the payload it got', () => {
    const past = editedWhileRunning()
    expect(past.read(1)).toMatchObject({ status: 'running', payload: 'a', payloadRevision: 1 })
    expect(past.kept()).toEqual(['a'])
  })

  test('leaves an automatic retry that gets the present payload, and both are told', () => {
    const past = editedWhileRunning()
    const end = T0 + HOUR + MINUTE
    past.take(settle(past.job, { outcome: failed(), startedAt: T0 + HOUR }, end))
    expect(past.attempts[0]!.payload).toBeUndefined()
    expect(past.read(1)).toMatchObject({ status: 'retrying', payload: 'c' })
    expect(past.job.spec.payloadHistory).toMatchObject({ revision: 3, kept: [{ at: end }] })
    past.job = begun(past.job, past.job.dueAt!)
    expect(currentRunOf(past.job).payload).toBe('c')
    past.take(settle(past.job, { outcome: succeeded, startedAt: end }, end + HOUR))
    expect(past.read(1).payloads).toMatchObject([
      { attempt: 1, payload: 'a', payloadOf: 'job', payloadRevision: 1 },
      { attempt: 2, payload: 'c', payloadOf: 'job', payloadRevision: 3 },
    ])
  })

  test('that has not begun, because a write comes first, gets the new one', () => {
    const past = new Past({ ...manual, payload: 'a' })
    past.take(requestRun(past.job, { id: 'r' }, T0).change)
    past.job = claimed(past.job, T0)
    past.edit({ payload: 'b' })
    expect(past.job.spec.payloadHistory).not.toHaveProperty('live')
  })
})

describe('N3 a manual retry', () => {
  test('that waits while the job is edited goes on with the payload of its run', () => {
    const past = new Past({ ...manual, payload: 'a' }).run()
    past.take(requestRetry(past.job, past.attempts[0]!, 'again', T0).change)
    past.take(requestRun(past.job, { id: 'now' }, T0).change)
    past.edit({ payload: 'b' }).edit({ payload: 'c' })
    expect(past.job.requests.map(({ payload }) => payload)).toEqual(['a', undefined])
    past.take(ran(past.job, succeeded, T0)).take(ran(past.job, succeeded, T0))
    expect(past.read(2)).toMatchObject({ payload: 'a', payloadOf: 'run', retryOf: 1 })
    expect(past.read(3)).toMatchObject({ payload: 'c', payloadOf: 'job' })
    expect(past.kept()).toEqual(['a'])
  })
})

describe('N3 what a job keeps', () => {
  test('is bounded in number: payloads of edits go, the oldest first, given ones stay', () => {
    const past = new Past({ ...manual, payload: 0 }).run('given')
    for (let n = 1; n <= limits.payloadsKept + 5; n++) past.run().edit({ payload: n })
    expect(past.kept()).toHaveLength(limits.payloadsKept)
    expect(past.kept()[0]).toBe('given')
    expect(past.read(1)).toMatchObject({ payload: 'given', payloadOf: 'run' })
    expect(past.read(2)).toMatchObject({ payload: null, payloadOf: null, payloadRevision: 1 })
  })

  test('is bounded in bytes', () => {
    const past = new Past({ ...manual, payload: 'x'.repeat(60_000) })
    for (const letter of 'abcdefg') past.run().edit({ payload: letter.repeat(60_000) })
    expect(past.kept()).toEqual(['c', 'd', 'e', 'f'].map(letter => letter.repeat(60_000)))
    past.run('y'.repeat(60_000)).run('y'.repeat(60_000))
    expect(past.attempts.slice(-2).map(({ payload }) => payload?.in)).toEqual(['here', 'here'])
    expect(past.read(9)).toMatchObject({ payload: 'y'.repeat(60_000), payloadOf: 'run' })
  })

  test('goes when the job is told to keep none', () => {
    const past = new Past({ ...manual, payload: 'a' }).run('own').run().edit({ payload: 'b' })
    expect(past.kept()).toEqual(['own', 'a'])
    past.edit({ retention: { ...retention, payloads: false } }).run('other')
    expect(past.kept()).toEqual([])
    expect(past.attempts.at(-1)!.payload).toEqual({ in: 'off' })
    expect([1, 2, 3].map(run => past.read(run).payloadOf)).toEqual([null, null, null])
  })

  const few = { attempts: 1, ageMs: HOUR }
  test.each([
    ['young, with newer attempts', HOUR, ['a']],
    ['old, with newer attempts', HOUR + 1, []],
  ])('stays while its last attempt is %s', (_, later, kept) => {
    const past = new Past({ ...manual, payload: 'a', retention: few }).run()
    past.edit({ payload: 'b' }).run(undefined, T0 + later - 1)
    expect(past.kept()).toEqual(kept)
  })

  test('stays however old while its last attempt is among the newest', () => {
    const past = new Past({ ...manual, payload: 'a', retention: few }).run()
    past.edit({ payload: 'b' }, T0 + 300 * DAY).edit({ name: 'other' }, T0 + 600 * DAY)
    expect(past.kept()).toEqual(['a'])
  })

  test('leaves no trace where nothing was edited', () => {
    const past = new Past({ ...manual, retention: few }).run('own').run(undefined, T0 + 2 * HOUR)
    expect(past.job.spec).not.toHaveProperty('payloadHistory')
    expect(past.attempts.at(-1)).not.toHaveProperty('payload')
  })
})
