// G6: after a cancel, a timeout or a replace the next run waits for the old handler; what was
// cancelled can be read; a killed process leaves no waiting behind where the system proves its end.

import { expect, test } from 'vitest'
import { freshStore, runProgram, startProgram, startService } from './harness/index.ts'

/** A handler that ignores its signal for a while and tells how many of it run at once. */
const deaf = `
import { createScheduler, every, job } from 'carillon'
const say = message => console.log(JSON.stringify(message))
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
let live = 0, most = 0, calls = 0
const run = ms => async () => {
  calls++
  most = Math.max(most, ++live)
  await sleep(typeof ms === 'function' ? ms(calls) : ms)
  live--
}
const until = async (check, ms = 15_000) => {
  for (const end = Date.now() + ms; !check() && Date.now() < end;) await sleep(20)
}
const open = (jobs, settings = {}) => createScheduler({
  jobs, store: process.env.STORE, settings, print: () => {},
}).start()
`

test.each(['sqlite', 'postgres', 'redis'] as const)(
  'G6 a run asked for after a cancel waits for the old handler, on %s',
  async kind => {
    const { stdout } = await runProgram(
      `${deaf}
      const s = await open([job('report', { schedule: every('1h'), run: run(2_500) })])
      const first = await s.jobs.run('report')
      await until(() => calls === 1)
      await s.runs.cancel(first)
      say({ status: (await s.runs.get(first)).status, live })
      await s.jobs.run('report')
      await until(() => calls === 2)
      say({ calls, most })
      process.exit(0)`,
      { env: { STORE: await freshStore(kind) } },
    )
    expect(stdout).toContain('{"status":"cancelled","live":1}')
    expect(stdout).toContain('{"calls":2,"most":1}')
  },
)

test('G6 a retry after a timeout waits for the handler that timed out', async () => {
  const { stdout } = await runProgram(
    `${deaf}
    const policy = { timeout: '200ms', retry: { limit: 1, delay: 'fixed', base: '100ms' } }
    const s = await open([job('slow', { ...policy, run: run(2_500) })], { abortGraceMs: 100 })
    await s.trigger('slow', null)
    await until(() => calls === 2)
    say({ calls, most })
    process.exit(0)`,
    { env: { STORE: await freshStore('sqlite') } },
  )
  expect(stdout).toContain('{"calls":2,"most":1}')
})

test('G6 overlap replace starts the new run when the old handler returned', async () => {
  const { stdout } = await runProgram(
    `${deaf}
    const policy = { schedule: every('1s'), overlap: 'replace' }
    const s = await open([job('sync', { ...policy, run: run(2_500) })], { abortGraceMs: 100 })
    await until(() => calls === 3)
    say({ calls, most })
    process.exit(0)`,
    { env: { STORE: await freshStore('sqlite') } },
  )
  expect(stdout).toContain('{"calls":3,"most":1}')
})

test('G6 a handler that outlasts the hold is reported, and the next run starts', async () => {
  const { stdout, stderr } = await runProgram(
    `${deaf}
    const s = await open([job('stuck', { schedule: every('1h'), run: run(8_000) })], { holdMs: 1_000 })
    const first = await s.jobs.run('stuck')
    await until(() => calls === 1)
    await s.runs.cancel(first)
    await s.jobs.run('stuck')
    await sleep(300)
    say({ early: calls, why: (await s.why('stuck')).verdict })
    await until(() => calls === 2)
    await sleep(300)
    say({ calls, most })
    process.exit(0)`,
    { env: { STORE: await freshStore('sqlite') } },
  )
  expect(stdout).toMatch(/"early":1,"why":"Waits for the previous handler to end/)
  expect(stdout).toContain('{"calls":2,"most":2}')
  expect(stderr).toMatch(/still runs|still_running/)
})

test.each(['sqlite', 'postgres', 'redis'] as const)(
  'G6 a queued run that was acknowledged and cancelled stays readable, on %s',
  async kind => {
    const long = '() => new Promise(resolve => setTimeout(resolve, 10_000))'
    const config = `export default { handlers: { long: ${long} } }`
    const service = await startService(['--store', await freshStore(kind)], { config })
    const trigger = { every: '1h' }
    const made = await service.request('POST', '/api/v1/jobs', {
      name: 'j',
      handler: 'long',
      trigger,
    })
    const path = `/api/v1/jobs/${textOf(made.body['id'])}/run`
    await service.request('POST', path)
    const queued = await service.request('POST', path)
    expect(queued.status).toBe(202)
    const run = `/api/v1/runs/${textOf(queued.body['run_id'])}`
    expect((await service.request('POST', `${run}/cancel`)).status).toBe(200)
    const read = await service.request('GET', run)
    expect(read).toMatchObject({ status: 200, body: { status: 'cancelled', started_at: null } })
    await service.program.kill()
  },
)

test('G6 a killed process is taken over at once when it is started again, on SQLite', async () => {
  const STORE = await freshStore('sqlite')
  const source = `${deaf}
    const s = await open([job('once', { run: async () => {
      say({ at: Date.now(), pid: process.pid })
      await sleep(process.env.SLEEP)
      say({ done: process.pid })
    } })])
    if (process.env.SLEEP > 1) await s.trigger('once', null)`
  const first = startProgram(source, { env: { STORE, SLEEP: '60000' } })
  await first.waitFor(/"at"/)
  await first.kill('SIGKILL')
  const second = startProgram(source, { env: { STORE, SLEEP: '1' } })
  // Leases last 15 s by default.
  const [done] = await second.waitFor(/"done":\d+/, 8_000)
  expect(done).toBe(`"done":${second.pid}`)
  await second.kill()
})

function textOf(value: unknown): string {
  return value as string
}
