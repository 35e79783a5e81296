// `scheduler.workflows` as a program uses it, on the real scheduler under virtual time.

import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { every, job, type WorkflowOptions } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const load = job('load', { run: () => ({ items: [1, 2, 3] }) })
const sum = job('sum', {
  input: z.object({ items: z.array(z.number()) }),
  run: ({ items }, { log, idempotencyKey }) => {
    log.info(`adding ${items.length}`)
    return { total: items.reduce((a, b) => a + b, 0), key: idempotencyKey }
  },
})
const steps = [
  { id: 'load', handler: 'load' },
  { id: 'add', handler: 'sum', needs: ['load'], input: { items: { $from: 'steps.load.items' } } },
]

async function started(workflows: WorkflowOptions | null = {}) {
  const options = { jobs: [load, sum], now: '2026-01-05T12:00:00Z' } as const
  const made = await createTestScheduler(workflows ? { ...options, workflows } : options)
  onTestFinished(async () => {
    await made.stop()
  })
  return made
}

test('A15: a workflow is added, changed, listed and removed', async () => {
  const { scheduler } = await started()
  const made = await scheduler.workflows.add({ name: 'totals', steps })
  expect(made).toMatchObject({ id: 1, name: 'totals', active: true, revision: 1 })
  const changed = await scheduler.workflows.update(1, { active: false }, { revision: 1 })
  expect(changed).toMatchObject({ active: false, revision: 2 })
  await scheduler.workflows.add({ name: 'second', steps })
  await scheduler.workflows.add({ name: 'theirs', steps }, { tenant: 'acme' })
  const names: string[] = []
  for await (const { name } of scheduler.workflows.list()) names.push(name)
  expect(names).toEqual(['totals', 'second'])
  await scheduler.workflows.remove(1)
  await expect(scheduler.workflows.get(1)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
  expect(await scheduler.workflows.get(1, { tenant: 'acme' })).toMatchObject({ name: 'theirs' })
})

test('A15: run by hand, its steps call the jobs of the scheduler by name', async () => {
  const made = await started()
  const { scheduler } = made
  await scheduler.workflows.add({ name: 'totals', steps })
  const run = await scheduler.workflows.run(1)
  await made.advance('1s')
  expect(await run.result()).toEqual({
    load: { items: [1, 2, 3] },
    add: { total: 6, key: `${run.id}/add` },
  })
  const detail = await scheduler.workflows.steps(run.id)
  expect(detail).toMatchObject({ workflow: 1, entry: 'schedule-1' })
  expect(detail!.steps.map(({ id, status }) => [id, status])).toEqual([
    ['load', 'completed'],
    ['add', 'completed'],
  ])
})

test('A15: a schedule runs it again and again', async () => {
  const made = await started()
  const { scheduler } = made
  await scheduler.workflows.add({ name: 'totals', steps })
  const { id } = await scheduler.workflows.schedule(1, { when: every('1h'), name: 'Hourly' })
  await made.advance('3h')
  expect(await scheduler.jobs.get(id)).toMatchObject({
    spec: { name: 'Hourly', handler: 'action:workflow' },
    totals: { succeeded: 3, failed: 0 },
  })
})

test('A15: input that does not fit the job of a step is a failure no retry can mend', async () => {
  const made = await started()
  const { scheduler } = made
  await scheduler.workflows.add({ name: 'w', steps: [{ id: 'add', handler: 'sum', input: 5 }] })
  const run = await scheduler.workflows.run(1)
  await made.advance('1s')
  await expect(run.result()).rejects.toThrow('step add: the payload of sum is not valid')
  const detail = await scheduler.workflows.steps(run.id)
  expect(detail!.steps).toMatchObject([{ id: 'add', status: 'failed', attempt: 1 }])
})

test('a process without the option keeps workflows and leaves running them to others', async () => {
  const made = await started(null)
  const { scheduler } = made
  await scheduler.workflows.add({ name: 'totals', steps })
  await scheduler.workflows.run(1)
  await made.advance('1m')
  const { items } = await scheduler.engine.store.list({ handler: 'action:workflow' }, { limit: 5 })
  expect(items.map(({ state }) => state)).toEqual(['waiting'])
})

test('internal hosts that cannot be understood are refused at the start', async () => {
  await expect(started({ allowHosts: ['http://x/'] })).rejects.toMatchObject({
    code: 'SETTINGS_INVALID',
    problems: [{ field: 'workflows.allowHosts', value: 'http://x/' }],
  })
})
