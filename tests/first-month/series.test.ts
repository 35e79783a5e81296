// T9: jobs whose occurrences run as tasks tell the truth about them, wherever a person looks.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findFaketime } from '../support/servers/binaries.ts'
import {
  eventually,
  freshStore,
  runCli,
  signToken,
  startProgram,
  startService,
  workFolder,
  type Service,
} from './harness/index.ts'
import type { Body } from './harness/service.ts'

const library = findFaketime()

/** A wall clock that comes to a full minute within so many seconds. */
function clockBeforeMinute(seconds: number): Record<string, string> {
  const ahead = (60 - seconds - new Date().getUTCSeconds() + 60) % 60
  const file = join(workFolder(), 'clock')
  writeFileSync(file, `+${ahead}s`)
  return {
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
}

const get = async (service: Service, path: string): Promise<Body> =>
  (await service.request('GET', path)).body

async function jobOf(service: Service, name: string): Promise<Body & { readonly id: string }> {
  const { jobs } = (await get(service, `/api/v1/jobs?search=${name}`)) as unknown as {
    jobs: (Body & { readonly id: string })[]
  }
  return jobs[0]!
}

const path = (id: string, rest = '') => `/api/v1/jobs/${encodeURIComponent(id)}${rest}`

const allow = {
  tenant: 'default',
  trigger: { every: '1s' },
  overlap: 'allow',
  retry: { limit: 0 },
}

const config = `
  let runs = 0
  export default {
    handlers: {
      flaky: () => { if (runs++ % 2 === 0) throw new Error('even') },
      broken: () => { throw new Error('always') },
    },
  }`

test.skipIf(library === null)(
  'T9 an imported crontab line that fails is red everywhere after its first run',
  async () => {
    const crontab = '# name: failing\n* * * * * /bin/false\n# name: working\n* * * * * /bin/true\n'
    const folder = workFolder({ crontab })
    const service = await startService(['--allow-commands'], {
      folder,
      env: clockBeforeMinute(6),
    })
    const env = { CARILLON_URL: service.url, CARILLON_TOKEN: signToken({ tenant: 'default' }) }
    const cli = (...args: string[]) => runCli(args, { folder, env })
    const imported = await cli('import', 'crontab', 'crontab', '--yes')
    expect(imported.stderr + imported.stdout).toMatch(/2 (to add|added)/)
    const failing = await eventually(
      'a failed run is counted',
      async () => {
        const job = await jobOf(service, 'failing')
        return (job['error_message'] as unknown) === null ? null : job
      },
      60_000,
    )
    const working = await jobOf(service, 'working')
    expect(working['error_message']).toBeNull()

    const stats = await get(service, path(failing.id, '/stats'))
    expect(stats).toMatchObject({ successful_runs: 0, success_rate: 0 })
    expect(Number(stats['failed_runs'])).toBeGreaterThanOrEqual(1)
    expect(stats['total_executions']).toEqual(stats['failed_runs'])
    expect(await get(service, path(working.id, '/stats'))).toMatchObject({
      failed_runs: 0,
      success_rate: 1,
    })
    const beat = await get(service, path(failing.id, '/heartbeat'))
    expect(beat['slots']).toMatchObject([{ failed: 1, ok: 0, expected: 1 }])
    expect((await get(service, path(failing.id, '/lateness')))['count']).toBe(1)
    const { findings } = (await get(service, '/api/v1/attention')) as unknown as {
      findings: { code: string; job_id: string }[]
    }
    const found = findings.filter(({ code }) => code === 'failing').map(({ job_id }) => job_id)
    expect(found).toEqual([failing.id])
    const last = await get(service, '/api/v1/jobs?last=failed')
    expect(last['jobs']).toMatchObject([{ id: failing.id }])
    const sums = await get(service, '/api/v1/scheduler/metrics')
    expect(sums['executions']).toMatchObject({ failed: 1, completed: 1 })

    expect((await cli('list')).stdout).toMatch(/failing.*✕ \d+s/)
    expect((await cli('list')).stdout).toMatch(/working.*✓ \d+s/)
    const { stdout } = await cli('show', 'failing')
    expect(stdout).toMatch(/runs\s+1, 0\.0 % ok/)
    expect(stdout).toMatch(/last 60\s+✕/)
    expect(stdout).toMatch(/last error/)
    const doctor = await cli('doctor')
    expect(doctor.stdout + doctor.stderr).not.toMatch(/wrong-sums|differ/)
  },
)

test('T9 sums equal the history of the tasks, also after kill -9', async () => {
  const folder = workFolder({ 'carillon.config.mjs': config })
  let service = await startService([], { folder })
  const body = { ...allow, name: 'flaky', handler: 'flaky', trigger: { every: 300 } }
  const made = await service.request('POST', '/api/v1/jobs', body)
  expect(made.status).toBe(201)
  const id = made.body['id'] as unknown as string
  const runsOf = async (): Promise<{ status: string }[]> => {
    const answer = await get(service, `/api/v1/runs?job=${id}&limit=250`)
    return (answer as unknown as { runs: { status: string }[] }).runs
  }
  for (let kills = 0; kills < 2; kills++) {
    const before = (await runsOf()).length
    await eventually('it ran', async () => ((await runsOf()).length >= before + 4 ? true : null))
    await service.program.kill('SIGKILL')
    service = await startService([], { folder })
  }
  await service.request('POST', path(id, '/pause'), {})
  const stats = await eventually(
    'all runs are counted',
    async () => {
      const runs = await runsOf()
      const { failed_runs, successful_runs } = await get(service, path(id, '/stats'))
      const count = (status: string) => runs.filter(run => run.status === status).length
      const isOver = count('running') + count('queued') + count('retrying') === 0
      const sums = [Number(successful_runs), Number(failed_runs)]
      const isTrue = sums[0] === count('completed') && sums[1] === count('failed')
      return isOver && isTrue ? sums : null
    },
    30_000,
  )
  expect(stats[0]).toBeGreaterThan(3)
  expect(stats[1]).toBeGreaterThan(3)
})

test('T9 a failing series raises an alert', async () => {
  const sink = startProgram(`
    import { createServer } from 'node:http'
    const server = createServer((request, answer) => {
      let text = ''
      request.on('data', part => (text += part))
      request.on('end', () => { console.log(text); answer.end() })
    }).listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))`)
  const [, port] = await sink.waitFor(/"port":(\d+)/)
  const service = await startService([], {
    config,
    env: {
      CARILLON_ALERT_URL: `http://127.0.0.1:${port}/`,
      CARILLON_ALLOW_HOSTS: `127.0.0.1:${port}`,
    },
  })
  const body = { ...allow, name: 'broken', handler: 'broken', trigger: { every: 500 } }
  expect((await service.request('POST', '/api/v1/jobs', body)).status).toBe(201)
  const [alert] = await sink.waitFor(/.*"success_rate".*/, 40_000)
  expect(JSON.parse(alert)).toMatchObject({
    type: 'alert.raised',
    data: { condition: 'success_rate', value: 0, job: { name: 'broken' } },
  })
})

test('T9 what remote workers say about the tasks of a fair schedule is counted at it', async () => {
  const service = await startService()
  const token = signToken({ tenant: 'default' })
  const ask = (method: string, url: string, body?: unknown) =>
    service.request(method, url, body, { token })
  const made = await ask('POST', '/api/v1/fair/schedules', {
    cron: '* * * * * *',
    user_id: 'ana',
    payload: { report: 1 },
  })
  expect(made.status).toBe(201)
  const id = made.body['id'] as unknown as string
  for (let i = 0; i < 2; i++) {
    const claimed = await ask('POST', '/api/v1/tasks/claim', { worker: 'w', wait_seconds: 10 })
    const [task] = claimed.body['tasks'] as unknown as { id: string; lease_token: string }[]
    const error = { message: 'the worker gave up' }
    const to = `/api/v1/tasks/${encodeURIComponent(task!.id)}/fail`
    const said = await ask('POST', to, { lease_token: task!.lease_token, error, final: true })
    expect(said.status).toBe(200)
  }
  const stats = await eventually('both are counted', async () => {
    const found = await get(service, path(id, '/stats'))
    return Number(found['failed_runs']) === 2 ? found : null
  })
  expect(stats).toMatchObject({ successful_runs: 0, success_rate: 0 })
  const job = await get(service, path(id))
  expect(job['error_message']).toBe('the worker gave up')
})

test.each(['postgres', 'redis'] as const)(
  'T9 two nodes count each run of a series once, on %s',
  async kind => {
    const source = `
      import { createScheduler, every, job } from 'carillon'
      const role = process.argv[2]
      let runs = 0
      const both = ['one', 'two'].map(name => job(name, {
        schedule: every(250),
        overlap: 'allow',
        retry: false,
        run: () => { if (runs++ % 3 === 0) throw new Error('third') },
      }))
      const s = createScheduler({ jobs: both, store: process.env.STORE, logger: false, print: () => {} })
      await s.start()
      console.log(JSON.stringify({ role, started: true }))
      process.stdin.once('data', async () => {
        await s.stop()
        console.log(JSON.stringify({ role, runs }))
        process.exit(0)
      })`
    const env = { STORE: await freshStore(kind) }
    const nodes = ['a', 'b'].map(role => startProgram(source, { env, args: [role] }))
    for (const node of nodes) await node.waitFor(/started/)
    await new Promise(resolve => setTimeout(resolve, 3_000))
    for (const node of nodes) node.write('stop\n')
    await Promise.all(nodes.map(node => node.exited))
    const runs = nodes.reduce((sum, node) => sum + Number(node.messages().at(-1)?.['runs']), 0)
    const service = await startService(['--store', env.STORE, '--no-worker'])
    const { jobs } = (await get(service, '/api/v1/jobs')) as unknown as { jobs: { id: string }[] }
    expect(jobs).toHaveLength(2)
    let counted = 0
    for (const { id } of jobs) {
      const stats = await get(service, path(id, '/stats'))
      counted += Number(stats['successful_runs']) + Number(stats['failed_runs'])
      expect(Number(stats['failed_runs'])).toBeGreaterThan(0)
    }
    expect(runs).toBeGreaterThan(10)
    expect(counted).toBe(runs)
  },
)
