// N3 S2: a run of an action is replayed with what is stored, never with the mask that stands for it.

import { expect, test } from 'vitest'
import type { Role } from '../../src/service/auth/principal.ts'
import { eventually } from '../support/servers/wait.ts'
import { site } from '../actions/site.ts'
import { startService, type Wire } from './service.ts'

const canaries = ['QUERYCANARY', 'HEADERCANARY']

/** A webhook whose runs lie side by side: each is a task of its own, with the payload of the job. */
async function hooked() {
  const web = await site((_, response) => response.end('ok'))
  const s = await startService({ allowHosts: [`127.0.0.1:${web.port}`] })
  const action = {
    kind: 'http',
    url: `${web.origin}/hook?api_key=QUERYCANARY`,
    headers: { authorization: 'Bearer HEADERCANARY' },
  }
  const made = await s.as('admin').post('/api/v1/jobs', {
    name: 'hook',
    overlap: 'allow',
    trigger: { every: '1h' },
    payload: { n: 1 },
    action,
  })
  expect(made.status).toBe(201)
  const asked = async (count: number) => {
    await eventually(`request ${count}`, async () => {
      await s.advance('1s')
      return web.asked.length >= count ? true : undefined
    })
    expect(web.asked).toHaveLength(count)
    return web.asked.at(-1)!
  }
  const run = await s.as('operator').post(`/api/v1/jobs/${made.body.id}/run`, {})
  await asked(1)
  const { body } = await s.as('admin').get('/api/v1/tasks')
  const [task] = body['tasks'] as Wire[]
  const path = `/api/v1/runs/${task!['id']}.1`
  expect(run.status).toBe(202)
  return { s, asked, path, id: made.body.id, task: task!['id'], action }
}

const sent = {
  path: '/hook?api_key=QUERYCANARY',
  headers: { authorization: 'Bearer HEADERCANARY' },
  body: '{"n":1}',
}

test.each<Role>(['viewer', 'operator', 'admin'])(
  'N3 S2 a %s sees what the run works on, and nothing of the settings',
  async role => {
    const { s, path } = await hooked()
    const { body, text } = await s.as(role).get(path)
    expect(body['payload']).toEqual({ n: 1 })
    expect(canaries.filter(canary => text.includes(canary))).toEqual([])
  },
)

test.each<Role>(['operator', 'admin'])(
  'N3 a replay by an %s with what was shown calls what is stored',
  async role => {
    const { s, asked, path, task, id } = await hooked()
    const caller = s.as(role)
    const replay = async (payload: unknown, to = `${path}/replay`) =>
      expect((await caller.post(to, { payload })).status).toBe(202)
    await replay((await caller.get(path)).body['payload'])
    expect(await asked(2)).toMatchObject(sent)
    // The stored form with its secrets masked, as tasks are shown.
    const shown = (await caller.get(`/api/v1/tasks/${task}`)).body['payload']
    expect(JSON.stringify(shown)).toContain('***')
    await replay(shown)
    expect(await asked(3)).toMatchObject(sent)
    await replay(shown, `/api/v1/jobs/${id}/run`)
    expect(await asked(4)).toMatchObject(sent)
    await replay({ ...(shown as Wire), payload: { n: 2 } })
    expect(await asked(5)).toMatchObject({ ...sent, body: '{"n":2}' })
    expect((await caller.post(`${path}/retry`)).status).toBe(202)
    expect(await asked(6)).toMatchObject(sent)
  },
)

test('N3 settings that were changed and still hold the mask are refused, and nothing is called', async () => {
  const { s, asked, path, task, id } = await hooked()
  const operator = s.as('operator')
  const shown = (await operator.get(`/api/v1/tasks/${task}`)).body['payload'] as {
    action: Wire
  }
  const payload = { ...shown, action: { ...shown.action, method: 'PUT' } }
  const ways = [
    { to: `${path}/replay`, status: 422 },
    { to: `/api/v1/jobs/${id}/run`, status: 400 },
  ]
  for (const { to, status } of ways) {
    expect(await operator.post(to, { payload })).toMatchObject({
      status,
      body: { errors: [{ field: expect.stringMatching(/^payload\.action\./), value: '***' }] },
    })
  }
  await s.advance('1m')
  await asked(1)
})

test('N3 a replay of a replay has the settings as they are now', async () => {
  const { s, asked, path, id, action } = await hooked()
  const operator = s.as('operator')
  const first = await operator.post(`${path}/replay`, {})
  expect(await asked(2)).toMatchObject(sent)
  const rotated = { ...action, headers: { authorization: 'Bearer NEWCANARY' } }
  expect((await s.as('admin').patch(`/api/v1/jobs/${id}`, { action: rotated })).status).toBe(200)
  expect((await operator.post(`/api/v1/runs/${first.body.run_id}/replay`, {})).status).toBe(202)
  expect(await asked(3)).toMatchObject({ ...sent, headers: rotated.headers })
})
