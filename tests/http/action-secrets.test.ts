// S2: secrets of actions are masked wherever their payloads are shown, and queries and bodies of
// requests are for those who may edit.

import { expect, test } from 'vitest'
import { startService, type Service } from './service.ts'

const secret = `whsec_${Buffer.from('nine times nine bytes of secret').toString('base64')}`
const action = {
  kind: 'http',
  url: 'https://example.com/hook?api_key=QUERYCANARY',
  headers: { authorization: 'Bearer HEADERCANARY', 'x-api-key': 'XKEYCANARY' },
  body: { token: 'BODYCANARY' },
  secrets: [secret],
}
const never = ['HEADERCANARY', 'XKEYCANARY', secret]
const editorsOnly = ['QUERYCANARY', 'BODYCANARY']

async function started(): Promise<{ s: Service; id: string }> {
  const s = await startService({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const made = await s.as('admin').post('/api/v1/jobs', {
    name: 'hooks',
    overlap: 'allow',
    trigger: { every: '1m' },
    action,
  })
  expect(made.status).toBe(201)
  await s.advance('2m')
  return { s, id: made.body.id }
}

const pathsOf = async (s: Service, id: string) => {
  const tasks = (await s.as('admin').get('/api/v1/tasks')).body.tasks as { id: string }[]
  expect(tasks.length).toBeGreaterThan(0)
  const task = tasks.at(-1)!.id
  return [
    '/api/v1/tasks',
    `/api/v1/tasks/${task}`,
    `/api/v1/runs/${task}.1`,
    '/api/v1/runs',
    `/api/v1/jobs/${id}/executions`,
    '/api/v1/jobs',
    `/api/v1/jobs/${id}`,
    '/api/v1/audit',
    '/api/v1/attention',
  ]
}

test.each(['viewer', 'operator', 'admin'] as const)(
  'S2: no path shows a secret of an action to a %s',
  async role => {
    const { s, id } = await started()
    for (const path of await pathsOf(s, id)) {
      const { text, status } = await s.as(role).get(path)
      if (status === 403) continue
      expect({ path, status }).toEqual({ path, status: 200 })
      const hidden = role === 'admin' ? never : [...never, ...editorsOnly]
      const shown = hidden.filter(canary => text.includes(canary))
      expect({ path, shown }).toEqual({ path, shown: [] })
    }
  },
)

test('S2: whoever may edit sees the query and the body, in jobs and tasks alike', async () => {
  const { s, id } = await started()
  for (const path of ['/api/v1/tasks', `/api/v1/jobs/${id}`]) {
    const { text } = await s.as('admin').get(path)
    for (const canary of editorsOnly) expect(text).toContain(canary)
  }
})

test('S2: answers of a control action follow the role of the caller', async () => {
  const { s, id } = await started()
  const { text, status } = await s.as('operator').post(`/api/v1/jobs/${id}/pause`)
  expect(status).toBe(200)
  expect([...never, ...editorsOnly].filter(canary => text.includes(canary))).toEqual([])
})

test('S2: steps of workflows follow the role of the caller', async () => {
  const { s } = await started()
  const { kind: _, ...http } = action
  const steps = [{ id: 'a', http }]
  const made = await s
    .as('admin')
    .post('/api/v1/workflows', { name: 'w', active: true, trigger_nodes: [], steps })
  expect(made.body.detail).toBeUndefined()
  const path = `/api/v1/workflows/${made.body.id}`
  const { text } = await s.as('viewer').get(path)
  expect([...never, ...editorsOnly].filter(canary => text.includes(canary))).toEqual([])
  expect((await s.as('admin').get(path)).text).toContain('QUERYCANARY')
})
