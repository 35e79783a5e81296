// T4: payloads and results are JSON of their own, in one process and across several.

import { expect, test } from 'vitest'
import { freshStore, runCli, runProgram, startProgram, startService } from './harness/index.ts'

const say = `const say = message => console.log(JSON.stringify(message))\n`

function messagesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

function storeOf(kind: 'memory' | 'sqlite' | 'postgres'): Promise<string> {
  return kind === 'memory' ? Promise.resolve('memory:') : freshStore(kind)
}

test.each(['memory', 'sqlite', 'postgres'] as const)(
  'T4 a payload changed by a handler reaches no retry, later run or other row, on %s',
  async kind => {
    const { stdout } = await runProgram(
      `import { createScheduler, every, job } from 'carillon'
${say}
const seen = []
let done
const enough = new Promise(resolve => { done = resolve })
const grow = job('grow', {
  run: (payload, { run }) => {
    payload.list.push('changed')
    seen.push({ length: payload.list.length, attempt: run.attempt })
    if (seen.length >= 12) done()
    if (run.attempt === 1) throw new Error('once more')
  },
})
const s = await createScheduler({ jobs: [grow], store: process.env.STORE }).start()
const payload = { list: [] }
const retry = { limit: 1, delay: 'fixed', base: '50ms' }
for (const id of ['a', 'b']) {
  await s.jobs.create({ id, handler: 'grow', when: every(200), payload, retry })
}
await enough
await s.stop()
const lengths = [...new Set(seen.map(one => one.length))]
say({ lengths, retried: seen.some(one => one.attempt === 2), payload })`,
      { env: { STORE: await storeOf(kind) } },
    )
    expect(messagesOf(stdout)).toEqual([{ lengths: [1], retried: true, payload: { list: [] } }])
  },
)

const shared = `import { createScheduler, job } from 'carillon'
import * as z from 'zod'
${say}
const remind = job('remind', {
  input: z.object({ at: z.coerce.date(), n: z.number().transform(n => n + 1) }),
  run: ({ at, n }) => ({ isDate: at instanceof Date, at, n }),
})
const dated = job('dated', { input: z.object({ when: z.date() }), run: () => 'ran' })
const options = { jobs: [remind, dated], store: process.env.STORE, print: () => {} }
const told = promise => promise.then(value => ({ value }), ({ code, message }) => ({ code, message }))
`

test.each(['sqlite', 'postgres'] as const)(
  'T4 web and worker agree on a Date, on %s',
  async kind => {
    const env = { STORE: await freshStore(kind) }
    const worker = startProgram(
      `${shared}
await createScheduler({ ...options, shutdown: { signals: true } }).start()
say({ ready: true })`,
      { env },
    )
    await worker.waitFor(/"ready":true/)
    const web = await runProgram(
      `${shared}
const s = await createScheduler({ ...options, queues: {} }).start()
const at = new Date(0)
const run = await s.trigger('remind', { at, n: 1 })
say({ result: await run.result() })
say(await told(s.trigger('dated', { when: at })))
await s.stop()`,
      { env },
    )
    const [answer, refused] = messagesOf(web.stdout)
    expect(answer).toEqual({
      result: { isDate: true, at: '1970-01-01T00:00:00.000Z', n: 2 },
    })
    expect(refused!['code']).toBe('PAYLOAD_INVALID')
    expect(refused!['message']).toMatch(/payload\.when: .*z\.coerce\.date\(\)/)
    await worker.kill('SIGTERM')
  },
)

test('T4 what JSON cannot carry is refused at the call with its path, in memory too', async () => {
  const { stdout } = await runProgram(
    `import { createScheduler, job } from 'carillon'
${say}
const any = job('any', { run: () => {} })
const s = await createScheduler({ jobs: [any], store: 'memory:' }).start()
const values = [
  { a: new Map() }, { a: new Set() }, { a: [1n] }, { a: () => 1 }, { a: NaN }, { a: [undefined] },
  { a: Buffer.from('x') },
]
for (const value of values) {
  const refused = await s.trigger('any', value).then(() => ({}), error => error)
  say({ code: refused.code, message: refused.message })
}
await s.trigger('any', { a: undefined, b: 1 })
await s.stop()`,
  )
  const refusals = messagesOf(stdout)
  expect(refusals).toHaveLength(7)
  for (const { code, message } of refusals) {
    expect(code).toBe('PAYLOAD_INVALID')
    expect(message).toMatch(/payload\.a(\.0)?: .*JSON/)
  }
})

test.each(['memory', 'sqlite', 'postgres'] as const)(
  'T4 a result that cannot be kept does not fail finished work, on %s',
  async kind => {
    const store = await storeOf(kind)
    const { stdout, stderr } = await runProgram(
      `import { createScheduler, job } from 'carillon'
${say}
let calls = 0
const give = job('give', { run: name => {
  calls++
  return { large: 'x'.repeat(70_000), map: { of: new Map() }, date: [new Date(0)] }[name]
} })
const s = await createScheduler({ jobs: [give], store: process.env.STORE }).start()
for (const name of ['large', 'map', 'date']) {
  const handle = await s.trigger('give', name)
  const result = await handle.result()
  const run = await s.runs.get(handle.id)
  say({ name, result, kind: typeof result?.[0], status: run.status, omitted: run.resultOmitted })
}
await s.stop()
say({ calls })`,
      { env: { STORE: store } },
    )
    const status = 'completed'
    expect(messagesOf(stdout)).toEqual([
      { name: 'large', result: null, kind: 'undefined', status, omitted: true },
      { name: 'map', result: null, kind: 'undefined', status, omitted: true },
      {
        name: 'date',
        result: ['1970-01-01T00:00:00.000Z'],
        kind: 'string',
        status,
        omitted: false,
      },
      { calls: 3 },
    ])
    expect(stderr.match(/WARN give .*result/g)).toHaveLength(2)
    if (kind !== 'sqlite') return
    const listed = await runCli(['runs', '--store', store, '--json'])
    expect(listed.stdout.match(/"reason": ?"result_omitted"/g)).toHaveLength(2)
  },
)

test('T4 a large result of a remote worker does not fail its task', async () => {
  const service = await startService([])
  const pushed = await service.request('POST', '/api/v1/tasks', { user_id: 'ana' })
  const claimed = await service.request('POST', '/api/v1/tasks/claim', { worker: 'w' })
  const [task] = claimed.body['tasks'] as unknown as { id: string; lease_token: string }[]
  expect(task!.id).toBe(pushed.body['id'])
  const path = `/api/v1/tasks/${encodeURIComponent(task!.id)}/complete`
  const done = await service.request('POST', path, {
    lease_token: task!.lease_token,
    result: 'x'.repeat(100_000),
  })
  expect(done).toMatchObject({ status: 200, body: { outcome: 'succeeded' } })
  const run = await service.request('GET', `/api/v1/runs/${encodeURIComponent(`${task!.id}.1`)}`)
  expect(run.body).toMatchObject({
    status: 'completed',
    result: null,
    result_omitted: true,
    executions: [{ result_omitted: true }],
  })
  await service.stop()
})
