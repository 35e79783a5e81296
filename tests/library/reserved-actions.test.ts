// S1: a program cannot make rows for built-in actions under their names, whichever call it uses.

import { expect, test } from 'vitest'
import { every, job } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const run = () => null
const reserved = { problems: [{ field: 'handler' }] }

test('S1: a definition with the name of an action is refused at the start', async () => {
  const jobs = [job('action:http', { run, schedule: every('1h') })]
  await expect(createTestScheduler({ jobs })).rejects.toMatchObject(reserved)
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
