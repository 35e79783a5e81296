// S2: what a command is called with is for those who may edit it.

import { expect, test } from 'vitest'
import { startService } from './service.ts'

const JOBS = '/api/v1/jobs'
const canaries = ['ARGVCANARY', 'SHELLCANARY', 'STDINCANARY']
const commands = [
  { kind: 'command', argv: ['true', '--password', 'ARGVCANARY'], env: { TOKEN: 'ENVCANARY' } },
  { kind: 'command', shell: 'true SHELLCANARY', stdin: 'STDINCANARY', env: { TOKEN: 'ENVCANARY' } },
]

test.each(['viewer', 'operator', 'admin'] as const)(
  'S2 arguments and shell lines of commands are shown to a %s only if they may edit',
  async role => {
    const s = await startService({ allowCommands: ['acme'], works: false })
    const admin = s.as('admin')
    const ids: string[] = []
    for (const [i, action] of commands.entries()) {
      const job = { name: `c${i}`, overlap: 'allow', trigger: { every: '1h' }, action }
      const made = await admin.post(JOBS, job)
      expect(made.status).toBe(201)
      ids.push(made.body.id)
    }
    const runs: string[] = []
    for (const id of ids) {
      const { status, body } = await s.as('operator').post(`${JOBS}/${id}/run`, {})
      expect(status).toBe(202)
      runs.push(body.run_id)
    }
    const { items } = await s.engine.store.list({ kind: 'task' }, { limit: 10 })
    expect(items.length).toBe(2)
    const asides = items.flatMap(({ id }) => [`/api/v1/tasks/${id}`, `/api/v1/runs/${id}.1`])
    const ofJobs = ids.flatMap(id => [`${JOBS}/${id}`, `${JOBS}/${id}/executions`])
    const lists = [JOBS, '/api/v1/tasks', '/api/v1/runs', '/api/v1/audit', '/api/v1/attention']
    const paths = [...lists, ...ofJobs, ...asides, ...runs.map(run => `/api/v1/runs/${run}`)]
    for (const path of paths) {
      const { status, text } = await s.as(role).get(path)
      if (status === 403 || status === 404) continue
      expect({ path, status }).toEqual({ path, status: 200 })
      const hidden = ['ENVCANARY', ...(role === 'admin' ? [] : canaries)]
      const shown = hidden.filter(canary => text.includes(canary))
      expect({ path, shown }).toEqual({ path, shown: [] })
    }
    const masked = [
      { argv: ['true', '***', '***'], env: { TOKEN: '***' } },
      { shell: '***', stdin: '***', env: { TOKEN: '***' } },
    ]
    for (const [i, id] of ids.entries()) {
      const { body } = await s.as(role).get(`${JOBS}/${id}`)
      const whole = { ...commands[i], env: { TOKEN: '***' } }
      expect(body['action']).toEqual(role === 'admin' ? whole : { kind: 'command', ...masked[i] })
    }
  },
)

test('S2 an edit with what was shown keeps the command, its variables included', async () => {
  const s = await startService({ allowCommands: ['acme'], works: false })
  const admin = s.as('admin')
  for (const action of commands) {
    const made = await admin.post(JOBS, { name: 'c', trigger: { every: '1h' }, action })
    const path = `${JOBS}/${made.body.id}`
    const { body } = await admin.get(path)
    expect((await admin.patch(path, { action: body['action'] })).status).toBe(200)
    const [job] = await s.engine.store.get([made.body.id])
    expect(job!.spec.payload).toMatchObject({ action })
  }
})
