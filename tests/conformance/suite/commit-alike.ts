// commit of many changes that come to the same: stores may write them together, but each is its own.

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../src/core/change.ts'
import type { Job } from '../../../src/core/job.ts'
import { pauseJob } from '../../../src/core/control/pause.ts'
import { settle, type Finish } from '../../../src/core/run/settle.ts'
import type { Store } from '../../../src/store/port.ts'
import { claimRequest, failed, job, readAll, succeeded, T0, write } from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const done: Finish = { outcome: succeeded, startedAt: T0 }

export function commitAlikeTests(bench: UseBench): void {
  describe('commit of changes that are alike', () => {
    it('writes those that end alike each as its own', async () => {
      const { store } = bench()
      const steps = await heldAlike(store, 130)
      expect(new Set((await store.commit(steps, { now: T0 + 5 })).results)).toEqual(
        new Set(['committed']),
      )
      await expectWritten(store, steps)
      await expectClaimable(store, 0)
    })

    it('leaves one of them alone that somebody else changed meanwhile', async () => {
      const { store } = bench()
      const steps = await heldAlike(store, 40)
      const other = await write(store, pauseJob(steps[7]!.before, {}, T0), T0)
      const { results } = await store.commit(steps, { now: T0 + 5 })
      expect(results.indexOf('conflict')).toBe(7)
      expect(results.filter(result => result === 'committed')).toHaveLength(39)
      expect(await stored(store, other.id)).toEqual(other)
      await expectWritten(store, steps.toSpliced(7, 1))
    })

    it('keeps apart what differs among them', async () => {
      const { store } = bench()
      const steps = await heldAlike(store, 40, [
        { outcome: succeeded, startedAt: T0 },
        { outcome: succeeded, startedAt: T0 + 1 },
        { outcome: { kind: 'succeeded', result: 'four', measures: null }, startedAt: T0 },
        { outcome: failed(), startedAt: T0 },
        { outcome: { kind: 'released' }, startedAt: T0 },
      ])
      expect(new Set((await store.commit(steps, { now: T0 + 5 })).results)).toEqual(
        new Set(['committed']),
      )
      await expectWritten(store, steps)
    })

    it('writes attempts under the ids they were given', async () => {
      const { store } = bench()
      const steps = (await heldAlike(store, 12)).map(step => ({
        ...step,
        attempt: { ...step.attempt!, id: `own-${step.job.id}` },
      }))
      expect(new Set((await store.commit(steps, { now: T0 + 5 })).results)).toEqual(
        new Set(['committed']),
      )
      await expectWritten(store, steps)
    })
  })
}

type Held = Change & { readonly before: Job }

/** Jobs made, claimed and done together; the ways they ended come in long turns. */
async function heldAlike(store: Store, count: number, ways: Finish[] = [done]): Promise<Held[]> {
  const names = Array.from({ length: count }, (_, i) => `job-${String(i).padStart(3, '0')}`)
  await put(store, ...names.map((name, i) => (i % 20 < 15 ? job(name) : failedBefore(name))))
  const claimed = await store.claim(claimRequest({ limit: count }))
  const turn = Math.ceil(count / ways.length)
  return claimed.map((before, i) => ({
    ...settle(before, ways[Math.floor(i / turn)]!, T0 + 5),
    before,
  }))
}

/** As after an import: nothing but what it had done before tells it apart. */
function failedBefore(name: string): Job {
  const made = job(name)
  return { ...made, totals: { ...made.totals, failed: 2 } }
}

async function expectWritten(store: Store, steps: readonly Change[]): Promise<void> {
  const jobs = await store.get(steps.map(step => step.job.id))
  expect(jobs).toEqual(steps.map(step => step.job))
  const attempts = await readAll(page => store.attempts({}, page))
  const byJob = new Map(attempts.map(attempt => [attempt.jobId, attempt]))
  expect(steps.map(step => byJob.get(step.job.id) ?? null)).toEqual(steps.map(s => s.attempt))
  const written = steps.filter(step => step.attempt !== null)
  expect(attempts).toHaveLength(written.length)
}

async function expectClaimable(store: Store, count: number): Promise<void> {
  expect(await store.claim(claimRequest({ limit: 10 }))).toHaveLength(count)
}
