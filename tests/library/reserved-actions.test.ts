// S1: a program cannot make rows for built-in actions under their names, whichever call it uses.

import { expect, test } from 'vitest'
import { every, job } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const run = () => null
const reserved = { problems: [{ field: 'handler' }] }

test('S1: a definition with the name of an action is refused, with and without a schedule', () => {
  const named = { code: 'SPEC_INVALID', problems: [expect.objectContaining({ field: 'name' })] }
  for (const options of [{ run }, { run, schedule: every('1h') }]) {
    expect(() => job('action:http', options)).toThrowError(expect.objectContaining(named))
  }
})

test('S1: jobs.create and fair.push refuse the names of actions and store nothing', async () => {
  await using t = await createTestScheduler({ jobs: [job('ok', { run })] })
  const { scheduler } = t
  const payload = { action: { kind: 'http', url: 'https://example.com/' }, payload: null }
  const create = scheduler.jobs.create({ handler: 'action:http', payload })
  await expect(create).rejects.toMatchObject(reserved)
  const push = scheduler.fair.push({ userId: 'u', handler: 'action:http', payload })
  await expect(push).rejects.toMatchObject(reserved)
  const rows = []
  for await (const row of scheduler.jobs.list()) rows.push(row.id)
  expect(rows).toEqual(['default:default:ok:main'])
})

test('S1: jobs.edit and jobs.run of an action change what it works on, never its settings', async () => {
  await using t = await createTestScheduler({ jobs: [] })
  const { scheduler } = t
  const steps = [{ id: 'a', handler: 'nothing' }]
  const workflow = await scheduler.workflows.add({ name: 'w', steps })
  const row = await scheduler.workflows.schedule(workflow.id, { when: every('1h') })
  const forged = { action: { kind: 'workflow', workflow_id: 99, owner: 'x' }, payload: 1 }
  await scheduler.jobs.edit(row.id, { payload: forged })
  const { spec } = await scheduler.jobs.get(row.id)
  expect(spec.payload).toMatchObject({ action: { workflow_id: workflow.id }, payload: forged })
  await scheduler.jobs.pause(row.id)
  await scheduler.jobs.run(row.id, { payload: forged })
  const payloads = []
  for await (const task of scheduler.jobs.list({ kind: 'task' })) payloads.push(task.spec.payload)
  expect(payloads).toMatchObject([{ action: { workflow_id: workflow.id }, payload: forged }])
})
