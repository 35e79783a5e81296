// T2: what follows the last retry. Recurring jobs go on, single ones stop, and the original routes
// keep their own rules.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  freshStore,
  runCli,
  runProgram,
  signToken,
  startService,
  workFolder,
} from './harness/index.ts'

function messagesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

test.each(['sqlite', 'postgres'] as const)(
  'T2 recurring jobs that fail run again at their next firing, on %s',
  async kind => {
    const { stdout } = await runProgram(
      `
import { createScheduler, every, job, NoRetry } from 'carillon'
const runs = { plain: 0, final: 0, spent: 0 }
const fails = (name, error, more) => job(name, {
  schedule: every(300),
  ...more,
  run: () => { runs[name]++; throw error },
})
const s = createScheduler({
  jobs: [
    fails('plain', new Error('down'), { retry: false }),
    fails('final', new NoRetry('no such thing')),
    fails('spent', new Error('down'), { retry: { limit: 1, base: 50 } }),
  ],
  store: process.env.STORE,
  print: () => {},
  checkIntervalMs: 200,
})
await s.start()
const until = Date.now() + 8_000
while (Date.now() < until && !(runs.plain >= 3 && runs.final >= 3 && runs.spent >= 6)) {
  await new Promise(resolve => setTimeout(resolve, 50))
}
for (const name of Object.keys(runs)) {
  const { ended } = await s.jobs.get(name)
  console.log(JSON.stringify({ name, again: runs[name] >= 3, ended: ended?.reason ?? null }))
}
await s.stop()`,
      { env: { STORE: await freshStore(kind) } },
    )
    expect(messagesOf(stdout)).toEqual(
      ['plain', 'final', 'spent'].map(name => ({ name, again: true, ended: null })),
    )
  },
)

test('T2 the default follows the trigger, also through edits', async () => {
  const { stdout } = await runProgram(`
import { at, createScheduler, every, job } from 'carillon'
const s = createScheduler({ jobs: [job('work', { run: () => {} })], store: 'memory:', print: () => {} })
await s.start()
const say = (name, { spec }) => console.log(JSON.stringify({ [name]: spec.retry.exhausted }))
const made = await s.jobs.create({ id: 'a', handler: 'work', when: every('1h'), retry: { limit: 1 } })
say('recurring', made)
say('once', await s.jobs.create({ id: 'b', handler: 'work', when: at(new Date(Date.now() + 60_000)) }))
say('manual', await s.jobs.create({ id: 'c', handler: 'work' }))
say('edited', await s.jobs.edit('c', { when: every('2h') }))
const refused = await s.jobs.create({ id: 'd', handler: 'work', retry: { exhausted: 'next' } })
  .catch(error => error.code)
console.log(JSON.stringify({ refused }))
await s.stop()`)
  expect(Object.assign({}, ...messagesOf(stdout))).toEqual({
    recurring: 'next',
    once: 'stop',
    manual: 'stop',
    edited: 'next',
    refused: 'SPEC_INVALID',
  })
})

test('T2 a triggered run that fails has failed for good (guard)', async () => {
  const { stdout } = await runProgram(`
import { createScheduler, job } from 'carillon'
const work = job('work', { retry: false, run: () => { throw new Error('down') } })
const s = await createScheduler({ jobs: [work], store: 'memory:', print: () => {} }).start()
const run = await s.trigger('work', undefined)
await run.result().catch(error => console.log(JSON.stringify({ code: error.code })))
await s.stop()`)
  expect(messagesOf(stdout)).toEqual([{ code: 'RUN_FAILED' }])
})

/** Answers every request with this status. */
async function receiver(status: number): Promise<{ readonly url: string; count: () => number }> {
  let count = 0
  const server = createServer((request, response) => {
    count++
    request.resume()
    response.writeHead(status).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, count: () => count }
}

const reachable = { CARILLON_ALLOW_HOSTS: '127.0.0.1:*' }

test('T2 a 404 ends the run of an http job, and on /schedules it is retried', async () => {
  const service = await startService([], { env: reachable })
  const { url, count } = await receiver(404)
  const job = await service.request('POST', '/api/v1/jobs', {
    name: 'ping',
    trigger: { every: '1s' },
    action: { kind: 'http', url, method: 'GET' },
  })
  expect(job).toMatchObject({ status: 201 })
  const flow = await service.request('POST', '/api/v1/workflows', {
    id: 1,
    name: 'flow',
    active: true,
    trigger_nodes: [{ id: 'n', kind: 'schedule', priority: 1, active: true }],
    steps: [{ id: 'call', http: { url, method: 'GET' } }],
  })
  expect(flow.status).toBe(201)
  const schedule = await service.request('POST', '/api/v1/schedules', {
    name: 's',
    workflow_id: 1,
    interval_seconds: 1,
    max_retries: 2,
  })
  expect(schedule.status).toBe(201)
  const read = async (kind: string, { body }: typeof job) => {
    const { id } = body as unknown as { id: string }
    return (await service.request('GET', `/api/v1/${kind}/${id}`)).body as Record<string, unknown>
  }
  await expect
    .poll(() => read('schedules', schedule), { timeout: 20_000 })
    .toMatchObject({ status: 'dead', error_count: 3 })
  // One interval, then retries after one and two intervals: the job has fired about as often.
  expect(count()).toBeGreaterThanOrEqual(6)
  expect(await read('jobs', job)).toMatchObject({ next_run_at: expect.any(String) })
})

test('T2 jobs from the command and from files go on; flat crawl jobs stop', async () => {
  const service = await startService([], { env: reachable })
  const exhausted = async (id: string) => {
    const { body } = await service.request('GET', `/api/v1/jobs/${id}?form=both`)
    return (body as unknown as { retry: { exhausted: string } }).retry.exhausted
  }
  const env = { CARILLON_SERVER: service.url, CARILLON_TOKEN: signToken() }
  const add = ['add', 'ping', '--every', '1h', '--http', 'http://127.0.0.1:9/', '--json']
  const added = await runCli(add, { env })
  expect(added).toMatchObject({ code: 0, stderr: '' })
  const folder = workFolder()
  const file = join(folder, 'jobs.yaml')
  writeFileSync(
    file,
    `app: reports
jobs:
  - name: report
    trigger: { cron: '0 7 * * *' }
    action: { kind: http, url: 'http://127.0.0.1:9/' }
`,
  )
  const applied = await runCli(['apply', '-f', file, '--yes'], { env, folder })
  expect(applied).toMatchObject({ code: 0 })
  const { body } = await service.request('GET', '/api/v1/jobs?limit=50')
  const { jobs } = body as unknown as { jobs: { id: string; name: string }[] }
  expect(jobs.map(({ name }) => name).sort()).toEqual(['ping', 'report'])
  for (const { id } of jobs) expect(await exhausted(id)).toBe('next')
  const flat = await service.request('POST', '/api/v1/jobs', {
    source_id: 'site',
    url: 'http://127.0.0.1:9/',
    interval_minutes: 5,
  })
  expect(await exhausted((flat.body as unknown as { id: string }).id)).toBe('stop')
})
