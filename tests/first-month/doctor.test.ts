// T10: doctor finds nothing wrong with what Carillon wrote itself.

import { expect, test } from 'vitest'
import { freshStore, runCli, startService, type Service } from './harness/index.ts'

interface Finding {
  readonly severity: string
  readonly text: string
}

/** The exit code of doctor, and what it calls an error. */
async function examined(service: Service, store: readonly string[] = []) {
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...store], {
    folder: service.folder,
  })
  const found = JSON.parse(stdout || '{}') as { readonly findings?: readonly Finding[] }
  const errors = (found.findings ?? []).filter(({ severity }) => severity === 'error')
  return { code, errors, stderr }
}

const sound = { code: 0, errors: [], stderr: '' }

async function finishedRuns({ program }: Service, atLeast: number): Promise<void> {
  await program.waitUntil(`${atLeast} runs`, () => {
    const found = program.stderr.match(/Job completed successfully/g) ?? []
    return found.length >= atLeast ? true : null
  })
}

test('T10 doctor is clean on the demo: new, played for a while, killed and started again', async () => {
  const service = await startService(['--demo'])
  expect(await examined(service)).toEqual(sound)
  await service.program.waitFor(/Executing job/)
  expect(await examined(service)).toEqual(sound)
  await service.program.kill('SIGKILL')
  expect(await examined(service)).toEqual(sound)
  const again = await startService(['--demo'], { folder: service.folder })
  expect(await examined(again)).toEqual(sound)
  expect(await again.stop()).toMatchObject({ code: 0 })
  expect(await examined(again)).toEqual(sound)
})

const flow = {
  name: 'Reports',
  trigger_nodes: [{ id: 'trigger', kind: 'schedule', priority: 1, active: true }],
  steps: [{ id: 'work', handler: 'work' }],
}
const at = () => new Date().toISOString()

/** One of everything the service takes. */
async function makeAll(service: Service): Promise<void> {
  const workflow = await service.request('POST', '/api/v1/workflows', flow)
  expect(workflow.status).toBe(201)
  const workflow_id = workflow.body['id']
  const work = { handler: 'work' }
  const bodies: readonly (readonly [string, object])[] = [
    ['/api/v1/jobs', { ...work, name: 'every', trigger: { every: '1s' } }],
    [
      '/api/v1/jobs',
      { ...work, name: 'allow', trigger: { cron: '* * * * * *' }, overlap: 'allow' },
    ],
    ['/api/v1/jobs', { ...work, name: 'once', trigger: { at: at() } }],
    ['/api/v1/jobs', { ...work, name: 'manual', trigger: { manual: true } }],
    ['/api/v1/jobs', { name: 'fails', handler: 'fails', trigger: { every: '1s' } }],
    [
      '/api/v1/jobs',
      { source_id: 's', source_name: 'n', url: 'https://example.com', interval_minutes: 30 },
    ],
    [
      '/api/v1/schedules',
      { name: 'a', workflow_id, trigger_node_id: 'trigger', interval_seconds: 60, max_retries: 1 },
    ],
    ['/api/v1/fair/schedules', { cron: '* * * * *', user_id: 'ana', priority: 3, payload: {} }],
    ['/api/v1/tasks', { user_id: 'ana', payload: { n: 1 } }],
    [
      '/api/v1/sources',
      {
        name: 'rates',
        schedule: 'daily',
        url: 'https://api.example.com/rates',
        table: 'rates',
        response: { dataPath: 'rates', fields: [{ source: 'code', target: 'code' }] },
      },
    ],
  ]
  for (const [path, body] of bodies) {
    const { status, body: answer } = await service.request('POST', path, body)
    expect([path, status, status < 300 ? '' : JSON.stringify(answer)]).toEqual([path, 201, ''])
  }
}

test.each(['sqlite', 'postgres', 'redis'] as const)(
  'T10 doctor is clean after jobs of every route, running and killed, on %s (guard)',
  async kind => {
    const store = ['--store', await freshStore(kind)]
    const service = await startService([...store, '--allow-commands'], {
      config: `export default { handlers: {
  work: () => 'done',
  fails: () => { throw new Error('no') },
} }`,
      files: { crontab: '* * * * * /bin/true\n@daily /bin/false\n' },
    })
    await makeAll(service)
    const imported = await runCli(['import', 'crontab', 'crontab', '--yes', ...store], {
      folder: service.folder,
    })
    expect(imported.code).toBe(0)
    await finishedRuns(service, 5)
    expect(await examined(service, store)).toEqual(sound)
    await service.program.kill('SIGKILL')
    expect(await examined(service, store)).toEqual(sound)
  },
)
