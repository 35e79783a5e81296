// Payloads and results as JSON: copied at the edge, read by the schema once, never shared.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { every, job, type RunHandle } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const list = z.object({ list: z.array(z.number()) })

function storeOf(kind: 'memory' | 'sqlite'): 'memory:' | `sqlite:${string}` {
  if (kind === 'memory') return 'memory:'
  const folder = mkdtempSync(join(tmpdir(), 'carillon-payloads-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'carillon.db')}`
}

describe.each(['memory', 'sqlite'] as const)('on %s', kind => {
  test('T4 a payload that a handler changes reaches no retry, later run or other row', async () => {
    const seen: number[] = []
    const grow = job('grow', {
      input: z.any(),
      run: (input: { list: number[] }, context) => {
        input.list.push(1)
        ;(context.job.metadata as { title?: string }).title = 'changed'
        seen.push(input.list.length)
        if (context.run.attempt === 1) throw new Error('once more')
      },
    })
    const t = await createTestScheduler({ jobs: [grow], store: storeOf(kind) })
    const payload = { list: [] }
    const retry = { limit: 1, delay: 'fixed', base: '1s' } as const
    const row = { handler: 'grow', when: every('1m'), payload, retry }
    for (const id of ['a', 'b']) {
      await t.scheduler.jobs.create({ id, ...row })
    }
    await t.advance('5m')
    await t.advance('10s')
    expect(seen).toHaveLength(2 * 2 * 5)
    expect(new Set(seen)).toEqual(new Set([1]))
    expect(payload).toEqual({ list: [] })
    expect((await t.scheduler.jobs.get('a')).spec.metadata).toEqual({})
    await t.stop()
  })

  test('N3 a run is read and repeated with the payload it got before an edit', async () => {
    const seen: unknown[] = []
    const work = job('work', { input: z.any(), run: (input: unknown) => void seen.push(input) })
    const t = await createTestScheduler({ jobs: [work], store: storeOf(kind) })
    const row = { handler: 'work', when: every('1h'), payload: { n: 1 } }
    await t.scheduler.jobs.create({ id: 'a', ...row })
    await t.advance('1h')
    await t.scheduler.jobs.edit('a', { payload: { n: 2 } })
    await t.advance('1h')
    const { runs } = t.scheduler
    expect(await runs.get('a.1')).toMatchObject({ payload: { n: 1 }, payloadRevision: 1 })
    expect(await runs.get('a.2')).toMatchObject({ payload: { n: 2 }, payloadRevision: 2 })
    const repeated = [await runs.retry('a.1'), await runs.replay('a.1')]
    await t.advance('1s')
    expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 1 }, { n: 1 }])
    for (const id of repeated) {
      expect(await runs.get(id)).toMatchObject({ payload: { n: 1 }, payloadOf: 'run' })
    }
    await t.scheduler.jobs.edit('a', { retention: { payloads: false } })
    expect(await runs.get('a.1')).toMatchObject({ payload: null, payloadOf: null })
    await expect(runs.retry('a.1')).rejects.toThrow('from revision 1 of the job, is no longer kept')
    await expect(runs.replay('a.1')).rejects.toThrow('no longer kept; replay it with a payload')
    await t.stop()
  })

  test('T4 what the caller changes after the call is not in the run', async () => {
    const first = job('first', { input: list, run: ({ list: [number] }) => number ?? null })
    const t = await createTestScheduler({ jobs: [first], store: storeOf(kind) })
    const input = { list: [1] }
    const run = await t.scheduler.trigger('first', input)
    input.list[0] = 2
    expect(await t.during(run.result())).toBe(1)
    await t.stop()
  })

  test('T4 the schema is applied once, to the JSON of its input', async () => {
    const inputs: unknown[] = []
    const add = job('add', {
      input: z.object({
        at: z.coerce.date<Date>(),
        n: z.number().transform(n => n + 1),
        gone: z.string().optional(),
      }),
      run: input => {
        inputs.push(input)
        return { at: input.at, n: input.n }
      },
    })
    const t = await createTestScheduler({ jobs: [add], store: storeOf(kind) })
    const at = new Date(5)
    const run = await t.scheduler.trigger('add', { at, n: 1, gone: undefined })
    expectTypeOf(run).toEqualTypeOf<RunHandle<{ at: string; n: number }>>()
    expect(await t.during(run.result())).toEqual({ at: at.toISOString(), n: 2 })
    expect(inputs).toEqual([{ at, n: 2 }])
    const [stored] = await t.scheduler.engine.store.get([run.id.replace(/\.1$/, '')])
    expect(stored!.spec.payload).toEqual({ at: at.toISOString(), n: 1 })
    await t.stop()
  })

  test('T4 a result that cannot be kept is left out, and the run has succeeded', async () => {
    const results: Record<string, unknown> = {
      large: 'x'.repeat(70_000),
      map: { of: new Map() },
      big: [1n],
      dates: [new Date(0), undefined],
    }
    const give = job('give', { input: z.string(), run: name => results[name] })
    const t = await createTestScheduler({ jobs: [give], store: storeOf(kind) })
    for (const name of ['large', 'map', 'big']) {
      const handle = await t.scheduler.trigger('give', name)
      expect(await t.during(handle.result())).toBeNull()
      const run = await t.scheduler.runs.get(handle.id)
      expect(run).toMatchObject({ status: 'completed', result: null, resultOmitted: true })
      const lines: string[] = []
      for await (const line of t.scheduler.runs.log(run.attempts[0]!.id)) lines.push(line.message)
      expect(lines).toEqual([expect.stringContaining('result omitted: ')])
    }
    const dates = await t.scheduler.trigger('give', 'dates')
    expect(await t.during(dates.result())).toEqual(['1970-01-01T00:00:00.000Z', null])
    expect((await t.scheduler.runs.get(dates.id)).resultOmitted).toBe(false)
    await t.stop()
  })

  test('T4 a checkpoint is a copy when it is left and when it is read', async () => {
    const seen: unknown[] = []
    const steps = job('steps', {
      retry: { limit: 2, delay: 'fixed', base: '1s' },
      run: async (_, context) => {
        const done = (context.checkpoint as number[] | undefined) ?? []
        seen.push([...done])
        done.push(context.run.attempt)
        if (context.run.attempt === 1) await context.heartbeat(done)
        done.push(99)
        throw new Error('again')
      },
    })
    const t = await createTestScheduler({ jobs: [steps], store: storeOf(kind) })
    await t.scheduler.trigger('steps', undefined)
    await t.advance('10s')
    expect(seen).toEqual([[], [1], [1]])
    await t.stop()
  })
})

describe('what a payload may be', () => {
  const dated = job('dated', { input: z.object({ when: z.date() }), run: () => null })
  const free = job('free', { input: z.any(), run: () => null })

  test('T4 a Date is refused at the call unless the schema reads its ISO string', async () => {
    const t = await createTestScheduler({ jobs: [dated] })
    const calls = [
      t.scheduler.trigger('dated', { when: new Date() }),
      t.scheduler.schedule('dated', {
        key: 'k',
        when: every('1m'),
        input: { when: new Date() },
      }),
      t.scheduler.jobs.create({ handler: 'dated', payload: { when: new Date() } as never }),
      t.scheduler.fair.push({
        userId: 'u',
        handler: 'dated',
        payload: { when: new Date() } as never,
      }),
    ]
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({
        code: 'PAYLOAD_INVALID',
        message: expect.stringMatching(/payload\.when: .*z\.coerce\.date\(\)/) as string,
      })
    }
    await t.stop()
  })

  test.each([
    ['a map', { a: new Map() }, /payload\.a: a Map cannot be carried as JSON/],
    ['a function', { a: [() => 1] }, /payload\.a\.0: a function cannot be carried/],
    ['a big integer', 1n, /payload: a BigInt cannot be carried/],
    ['undefined in a list', [undefined], /payload\.0: is undefined/],
  ])('T4 %s is refused at the call with its path', async (_, payload, message) => {
    const t = await createTestScheduler({ jobs: [free] })
    await expect(t.scheduler.trigger('free', payload)).rejects.toThrow(message)
    await expect(t.scheduler.jobs.run('free', { payload: payload as never })).rejects.toThrow(
      message,
    )
    await expect(
      t.scheduler.fair.addSchedule({ cron: '* * * * *', userId: 'u', payload: payload as never }),
    ).rejects.toThrow(message)
    await t.stop()
  })

  test('T4 a payload that is left out fits a schema that allows that', async () => {
    const maybe = job('maybe', { input: z.string().optional(), run: input => input ?? 'none' })
    const nothing = job('nothing', { input: z.string().nullable(), run: input => input === null })
    const t = await createTestScheduler({ jobs: [maybe, nothing] })
    expect(await t.during((await t.scheduler.trigger('maybe', undefined)).result())).toBe('none')
    expect(await t.during((await t.scheduler.trigger('nothing', null)).result())).toBe(true)
    await t.stop()
  })

  test('T4 a handler tried alone gets and gives what it would in a scheduler', async () => {
    const echo = job('echo', {
      input: z.object({ at: z.coerce.date<Date>() }),
      run: ({ at }) => ({ at, later: undefined }),
    })
    const trial = await echo.test({ at: new Date(0) })
    expectTypeOf(trial.result).toEqualTypeOf<{ at: string } | undefined>()
    expect(trial).toMatchObject({ status: 'completed', result: { at: '1970-01-01T00:00:00.000Z' } })
    expect(await dated.test({ when: new Date(0) })).toMatchObject({ status: 'failed' })
    expect(await free.test(() => 1)).toMatchObject({ status: 'failed' })
  })
})
