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

const env = {
  'CARILLON_SECRET_KEY.acme': 'referenced-canary',
  'CARILLON_SECRET_TINY.acme': 'abc',
  'CARILLON_SECRET_OTHER.globex': 'globex-canary',
}
const trigger = { every: '1h' }
const referring = {
  kind: 'http',
  url: 'https://example.com/hook',
  headers: { authorization: { secret: 'KEY', prefix: 'Bearer ' }, accept: 'text/plain' },
  params: [
    { name: 'key', value: { secret: 'KEY' } },
    { name: 'plain', value: 'PARAMCANARY' },
  ],
  body: { token: { secret: 'KEY' } },
}

test('S2: references are kept by name, and viewers see the names', async () => {
  const s = await startService({ env, works: false })
  const made = await s.as('admin').post('/api/v1/jobs', { name: 'x', trigger, action: referring })
  expect(made.status).toBe(201)
  expect(made.body['action']).toMatchObject(referring)
  const { body, text } = await s.as('viewer').get(`/api/v1/jobs/${made.body.id}`)
  expect(body['action']).toMatchObject({
    headers: referring.headers,
    params: [referring.params[0], { name: 'plain', value: '***' }],
    body: '***',
  })
  expect(text).not.toMatch(/canary/i)
  const same = await s.as('admin').patch(`/api/v1/jobs/${made.body.id}`, { action: referring })
  expect(same.body).toMatchObject({ revision: made.body.revision, action: referring })
})

test.each([
  [
    'headers.x-key',
    { headers: { 'x-key': { secret: 'NOPE' } } },
    /has no CARILLON_SECRET_NOPE.acme$/,
  ],
  [
    'headers.x-key',
    { headers: { 'x-key': { secret: 'OTHER' } } },
    /has no CARILLON_SECRET_OTHER.acme$/,
  ],
  ['headers.x-key', { headers: { 'x-key': { secret: 'TINY' } } }, /at least 4 characters/],
  ['headers.x-key', { headers: { 'x-key': 'abc' } }, /at least 4 characters/],
  ['headers.x-key', { headers: { 'x-key': '***' } }, /must be given/],
  ['params.0.value', { params: [{ name: 'k', value: { secret: 'NOPE' } }] }, /has no/],
  ['secrets.0', { secrets: [{ secret: 'NOPE' }] }, /has no/],
  ['url', { url: 'https://example.com/?***' }, /must be given/],
  ['body', { body: '***' }, /must be given/],
  ['body.a.0.b', { body: { a: [{ b: { secret: 'NOPE' } }] } }, /has no/],
])('S2: %s is refused at creation: %j', async (field, more, rule) => {
  const s = await startService({ env, works: false })
  const admin = s.as('admin')
  const broken = { kind: 'http', url: 'https://example.com/', ...more }
  const job = { name: 'x', trigger, action: broken }
  const errors = [{ field: `action.${field}`, rule: expect.stringMatching(rule) }]
  const refused = await admin.post('/api/v1/jobs', job)
  expect(refused).toMatchObject({ status: 400, body: { errors } })
  const jobs = [{ definition: 'a', job: { trigger, action: broken } }]
  const declared = await admin.post('/api/v1/reconcile', { app: 'x', mode: 'apply', jobs })
  expect(declared.body.errors).toMatchObject([{ field: `jobs.0.job.action.${field}` }])
  const { kind: _, ...http } = broken
  const flow = await admin.post('/api/v1/workflows', { name: 'w', steps: [{ id: 'a', http }] })
  expect(flow).toMatchObject({
    status: 422,
    body: { errors: [{ field: `steps.0.http.${field}` }] },
  })
  expect((await s.engine.store.list({}, { limit: 5 })).items).toEqual([])
})

test('S2: an action sent back as a viewer sees it keeps its query, parameters and body', async () => {
  const s = await startService({ works: false })
  const admin = s.as('admin')
  const params = [{ name: 'a', value: 'PARAMCANARY' }]
  const made = await admin.post('/api/v1/jobs', {
    name: 'x',
    trigger,
    action: { ...action, params },
  })
  const path = `/api/v1/jobs/${made.body.id}`
  const seen = await s.as('viewer').get(path)
  expect(seen.body['action']).toMatchObject({ url: 'https://example.com/hook?***', body: '***' })
  const edited = await admin.put(path, { ...seen.body, name: 'renamed' })
  expect(edited).toMatchObject({
    status: 200,
    body: { name: 'renamed', action: made.body['action'] },
  })
  const http = { url: action.url, method: 'POST', body: action.body }
  const flow = await admin.post('/api/v1/workflows', { name: 'w', steps: [{ id: 'a', http }] })
  const steps = (await s.as('viewer').get('/api/v1/workflows/1')).body['steps']
  const again = await admin.patch('/api/v1/workflows/1', { name: 'v', steps })
  expect(again).toMatchObject({ status: 200, body: { steps: flow.body['steps'] } })
})

test('S2: input of commands is for those who may edit', async () => {
  const { shownCommand } = await import('../../src/actions/command/settings.ts')
  const settings = {
    kind: 'command' as const,
    argv: ['psql'],
    env: { A: 'canary' },
    stdin: 'canary',
  }
  expect(JSON.stringify(shownCommand(settings, { mayEdit: false }))).not.toContain('canary')
  expect(shownCommand(settings, { mayEdit: true })).toMatchObject({
    stdin: 'canary',
    env: { A: '***' },
  })
})

test('B17: the address of a crawl stays whole for viewers', async () => {
  const s = await startService({ works: false })
  const url = 'https://example.com/?page=1'
  const { id } = (await s.as('admin').post('/api/v1/jobs', { url, source_id: 'x' })).body
  expect((await s.as('viewer').get(`/api/v1/jobs/${id}`)).body['url']).toBe(url)
})

test('S2: the run of an action without a payload shows its viewer no settings', async () => {
  const { s, id } = await started()
  const asked = await s.as('operator').post(`/api/v1/jobs/${id}/run`, {})
  await s.advance('1s')
  const { body } = await s.as('viewer').get(`/api/v1/runs/${asked.body.run_id}`)
  expect(body['payload']).toBe(null)
})

test('N3: a replay gives an edited action what the run was given, not its old settings', async () => {
  const { s, id } = await started()
  const asked = await s.as('operator').post(`/api/v1/jobs/${id}/run`, { payload: { n: 1 } })
  await s.advance('1s')
  const moved = { kind: 'http', url: 'https://elsewhere.example.com/' }
  expect((await s.as('admin').patch(`/api/v1/jobs/${id}`, { action: moved })).status).toBe(200)
  const run = `/api/v1/runs/${asked.body.run_id}`
  const replayed = await s.as('operator').post(`${run}/replay`, {})
  expect(replayed.status).toBe(202)
  const task = replayed.body.run_id.replace(/\.\d+$/, '')
  const [stored] = await s.engine.store.get([task])
  expect(stored!.spec.payload).toMatchObject({ action: moved, payload: { n: 1 } })
  expect(JSON.stringify(stored)).not.toContain('CANARY')
})

test('S2: a job that gets a handler instead of its action loses the settings of the action', async () => {
  const s = await startService({ handlers: { work: () => null } })
  const made = await s
    .as('admin')
    .post('/api/v1/jobs', { name: 'hooks', trigger: { every: '1h' }, action, payload: { n: 1 } })
  const path = `/api/v1/jobs/${made.body.id}`
  const { status } = await s.as('admin').patch(path, { handler: 'work' })
  expect(status).toBe(200)
  const { body, text } = await s.as('viewer').get(path)
  expect([...never, ...editorsOnly].filter(canary => text.includes(canary))).toEqual([])
  expect(body['payload']).toEqual({ n: 1 })
})
