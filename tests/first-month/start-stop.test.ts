// T5: start and stop in every order, and a process that ends by itself afterwards.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  freshStore,
  runCli,
  runProgram,
  startProgram,
  startService,
  workFolder,
} from './harness/index.ts'

/** A job every 200 ms; at its exit the program tells how often it ran after the last stop. */
const ticking = `
import { createScheduler, every, job } from 'carillon'
let runs = 0
const tick = job('tick', { schedule: every(200), run: () => { runs++ } })
const s = createScheduler({ jobs: [tick], store: process.env.STORE, print: () => {} })
const say = message => console.log(JSON.stringify(message))
const ran = () => new Promise(resolve => {
  const from = runs
  const timer = setInterval(() => {
    if (runs === from) return
    clearInterval(timer)
    resolve()
  }, 20)
})
let before = 0
process.on('exit', () => say({ after: runs - before }))
const watchdog = setTimeout(() => { say({ stillAlive: true }); process.exit(9) }, 8_000)
watchdog.unref()
`

function messagesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

test.each(['sqlite', 'postgres', 'redis'] as const)(
  'T5 two starts and one stop end the scheduler and the process, on %s',
  async kind => {
    const { code, stdout } = await runProgram(
      `${ticking}
await Promise.all([s.start(), s.start()])
await ran()
say(await s.stop())
before = runs`,
      { env: { STORE: await freshStore(kind) } },
    )
    expect(messagesOf(stdout)).toEqual([{ clean: true, aborted: [] }, { after: 0 }])
    expect(code).toBe(0)
  },
)

test('T5 a stop during the start stops what was starting', async () => {
  const { code, stdout } = await runProgram(
    `${ticking}
const started = s.start()
say(await s.stop())
before = runs
await started`,
    { env: { STORE: await freshStore('sqlite') } },
  )
  expect(messagesOf(stdout)).toEqual([{ clean: true, aborted: [] }, { after: 0 }])
  expect(code).toBe(0)
})

test('T5 a scheduler starts again after its stop, also when called during it', async () => {
  const { code, stdout } = await runProgram(
    `${ticking}
await s.start()
await ran()
const stops = [s.stop(), s.stop()]
await s.start()
await ran()
say({ stops: await Promise.all(stops) })
await s.stop()
await s.start()
await ran()
await s.stop()
before = runs
say({ error: await s.trigger('tick').catch(error => error.message) })`,
    { env: { STORE: await freshStore('sqlite') } },
  )
  const clean = { clean: true, aborted: [] }
  expect(messagesOf(stdout)).toEqual([
    { stops: [clean, clean] },
    { error: 'the scheduler is stopped: start() starts it again' },
    { after: 0 },
  ])
  expect(code).toBe(0)
})

test('T5 a start that fails leaves nothing behind and can be tried again', async () => {
  const { code, stdout } = await runProgram(
    `
import { createScheduler, every, job } from 'carillon'
const say = message => console.log(JSON.stringify(message))
let isFailing = true
const s = createScheduler({
  jobs: [job('tick', { schedule: every('1h'), run: () => {} })],
  store: process.env.STORE,
  shutdown: { signals: true },
  print: () => { if (isFailing) throw new Error('stdout is gone') },
})
const listeners = () => process.listenerCount('SIGTERM')
say({ failed: await s.start().catch(error => error.message), listeners: listeners() })
isFailing = false
await s.start()
say({ listeners: listeners() })
await s.stop()
say({ listeners: listeners() })`,
    { env: { STORE: await freshStore('sqlite') } },
  )
  expect(messagesOf(stdout)).toEqual([
    { failed: 'stdout is gone', listeners: 0 },
    { listeners: 1 },
    { listeners: 0 },
  ])
  expect(code).toBe(0)
})

test('T5 a handler that ignores its signal is named, its late result refused with a warning', async () => {
  const program = startProgram(
    `
import { createScheduler, job } from 'carillon'
const say = message => console.log(JSON.stringify(message))
let release
const deaf = job('deaf', { run: () => new Promise(resolve => { release = resolve }) })
const lines = []
const keep = (_, message) => lines.push(message)
const logger = { debug() {}, info() {}, warn: keep, error: (_, message) => lines.push('error: ' + message) }
const s = createScheduler({
  jobs: [deaf], store: process.env.STORE, print: () => {}, logger, settings: { abortGraceMs: 200 },
})
await s.start()
const run = await s.trigger('deaf', undefined)
while (!release) await new Promise(resolve => setTimeout(resolve, 10))
const result = run.result().catch(error => error.code)
const { clean, aborted } = await s.stop({ grace: 100 })
say({ clean, aborted: aborted.map(id => id.includes(':deaf:')), result: await result })
release('late')
await new Promise(resolve => setImmediate(resolve))
say({ lines })`,
    { env: { STORE: await freshStore('sqlite') } },
  )
  const { code, stdout } = await program.exited
  expect(messagesOf(stdout)).toEqual([
    { clean: false, aborted: [true], result: 'SCHEDULER_STATE' },
    { lines: ['handler ignored its abort signal', 'late result refused'] },
  ])
  expect(code).toBe(0)
})

test('T5 schedule() works once the trouble of its first call is over', async () => {
  const folder = workFolder()
  // Where the data folder has to be.
  writeFileSync(join(folder, '.carillon'), '')
  const { code, stdout } = await runProgram(
    `
import { rmSync } from 'node:fs'
import { schedule, stopSchedules } from 'carillon'
const say = message => console.log(JSON.stringify(message))
let ran
const done = new Promise(resolve => { ran = resolve })
say({ failed: await schedule('tick', 200, () => ran()).then(() => false, () => true) })
rmSync('.carillon')
await schedule('tick', 200, () => ran())
await done
await stopSchedules()
say({ stopped: true })`,
    { folder },
  )
  expect(messagesOf(stdout)).toEqual([{ failed: true }, { stopped: true }])
  expect(code).toBe(0)
})

test('T5 a service told to stop lets the running job finish (guard)', async () => {
  const service = await startService([], {
    config: `export default { handlers: {
  slow: () => new Promise(resolve => setTimeout(resolve, 1_000)),
} }`,
  })
  const made = await service.request('POST', '/api/v1/jobs', {
    name: 'slow',
    handler: 'slow',
    trigger: { at: new Date().toISOString() },
  })
  expect(made.status).toBe(201)
  const id = made.body['id'] as unknown as string
  await service.program.waitUntil('running', async () => {
    const { body } = await service.request('GET', `/api/v1/jobs/${id}`)
    return (body['status'] as unknown) === 'running' ? true : null
  })
  expect(await service.stop()).toMatchObject({ code: 0 })
  const { stdout } = await runCli(['show', id, '--json'], { folder: service.folder })
  expect(stdout).toContain('"completed"')
})
