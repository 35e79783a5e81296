// triggerMany: many runs of one job in one call, each with its own input and options.

import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import * as z from 'zod'
import { job, type RunHandle, type SchedulerError } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const input = z.object({ n: z.number().int() })

function doubler() {
  return job('double', { input, run: ({ n }) => n * 2 })
}

async function started(settings: { waitingMax?: number } = {}) {
  return createTestScheduler({ jobs: [doubler()], store: 'memory:', ...settings })
}

async function refusal(call: Promise<unknown>): Promise<SchedulerError> {
  return call.then(
    () => expect.unreachable('the call was accepted'),
    (error: unknown) => error as SchedulerError,
  )
}

describe('triggerMany', () => {
  test('resolves to typed handles in the order of the entries', async () => {
    const t = await started()
    const entries = Array.from({ length: 2_500 }, (_, n) => ({ input: { n } }))
    const runs = await t.scheduler.triggerMany('double', entries)
    expectTypeOf(runs).toEqualTypeOf<RunHandle<number>[]>()
    expect(new Set(runs.map(({ id }) => id)).size).toBe(2_500)
    const { store } = t.scheduler.engine
    const reads = vi.spyOn(store, 'attempts')
    const results = await t.during(Promise.all(runs.map(run => run.result())))
    expect(results).toEqual(entries.map(entry => entry.input.n * 2))
    // One look before and one after its end, and one when its job was first read; not one per batch.
    expect(reads.mock.calls.length).toBeLessThanOrEqual(3 * 2_500)
    await t.stop()
  })

  test('an entry wins over the options of the call', async () => {
    const t = await started()
    const runs = await t.scheduler.triggerMany(
      'double',
      [{ input: { n: 1 } }, { input: { n: 2 }, priority: 'low', user: 'b', delay: '2h' }],
      { priority: 'high', user: 'a', tenant: 'acme', delay: '1h' },
    )
    const jobs = await Promise.all(
      runs.map(({ id }) => t.scheduler.engine.client.get(id.slice(0, id.lastIndexOf('.')))),
    )
    const now = t.now.getTime()
    expect(jobs.map(({ spec, dueAt }) => [spec.priority, spec.lane, dueAt! - now])).toEqual([
      [4, 'acme/a', 3_600_000],
      [2, 'acme/b', 7_200_000],
    ])
    await t.stop()
  })

  test('the same key makes the same run, within a call and across calls', async () => {
    const t = await started()
    const entry = { input: { n: 4 }, idempotencyKey: 'order-7' }
    const [first, second] = await t.scheduler.triggerMany('double', [entry, entry])
    const [third] = await t.scheduler.triggerMany('double', [entry])
    const single = await t.scheduler.trigger('double', entry.input, { idempotencyKey: 'order-7' })
    expect(new Set([first!.id, second!.id, third!.id, single.id]).size).toBe(1)
    await t.stop()
  })

  test('names the problems of all entries at once and stores nothing', async () => {
    const t = await started()
    const loose = t.scheduler.triggerMany.bind(t.scheduler) as unknown as (
      ...given: unknown[]
    ) => Promise<unknown>
    const error = await refusal(
      loose('double', [{ input: { n: 1 } }, { input: { n: 'x' } }, { input: { n: 1.5 } }]),
    )
    expect(error.code).toBe('PAYLOAD_INVALID')
    expect(error.problems.map(({ field }) => field)).toEqual([
      'entries.1.input.n',
      'entries.2.input.n',
    ])
    const options = await refusal(loose('double', [{ input: { n: 1 }, prioritty: 3 }, 7]))
    expect(options.problems.map(({ field }) => field)).toEqual(['entries.0.prioritty', 'entries.1'])
    expect(options.message).toContain('did you mean')
    expect((await refusal(loose('double', { n: 1 }))).problems[0]!.field).toBe('entries')
    expect((await refusal(loose('double', [], { idempotencyKey: 'x' }))).problems).toHaveLength(1)
    const counts = await t.scheduler.engine.store.counts()
    expect(counts.filter(({ kind }) => kind === 'task')).toEqual([])
    await t.stop()
  })

  test('refuses more entries than the limit, with the limit', async () => {
    const t = await started()
    const entries = Array.from({ length: 100_001 }, () => ({ input: { n: 1 } }))
    const error = await refusal(t.scheduler.triggerMany('double', entries))
    expect(error.problems).toEqual([
      { field: 'entries', value: 100_001, rule: 'must be at most 100000 in one call' },
    ])
    expect(await t.scheduler.triggerMany('double', [])).toEqual([])
    await t.stop()
  })

  test('a full queue says which entries were enqueued', async () => {
    // The declared job is one of those that wait.
    const t = await started({ waitingMax: 4 })
    const entries = Array.from({ length: 5 }, (_, n) => ({ input: { n } }))
    const call = t.scheduler.triggerMany('double', entries, { delay: '1h' })
    const error = await refusal(call)
    expect(error.code).toBe('QUEUE_FULL')
    expect(error.message).toContain('2 of 5 were not enqueued')
    const { runs } = error.details as { runs: (string | null)[] }
    expect(runs.map(id => id !== null)).toEqual([true, true, true, false, false])
    await t.stop()
  })
})
