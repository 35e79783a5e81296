// T3: failures reach the console by default, one line per job and episode.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshStore, runCli, runProgram, startProgram, workFolder } from './harness/index.ts'

const linesOf = (stderr: string): string[] => stderr.split('\n').filter(line => line !== '')

test('T3 a job that gives up says so on the standard error, and names the command to look', async () => {
  const folder = workFolder()
  const { code, stderr } = await runProgram(
    `
import { createScheduler, every, job } from 'carillon'
const report = job('monthly report', {
  schedule: every('1s'),
  retry: { limit: 1, base: '50ms', exhausted: 'stop' },
  run: () => { throw new Error('partner API down') },
})
const s = createScheduler({ jobs: [report] })
const ends = s.events({ types: ['job.ended'] })
await s.start()
await ends.next()
await s.stop()`,
    { folder },
  )
  expect(code).toBe(0)
  expect(linesOf(stderr)).toEqual([
    expect.stringMatching(
      /^carillon \S+Z WARN monthly report failed: partner API down\. Retry in \S+\. See: carillon why 'm/,
    ),
    expect.stringMatching(
      /ERROR monthly report failed: partner API down \(attempt 2\)\. Gave up; it does not run again\. See: /,
    ),
  ])
  const looked = await runCli(['why', 'monthly report'], { folder })
  expect(looked.code).toBe(0)
})

test('T3 thirty failures in a row are one line, the recovery another; false is silence', async () => {
  const source = `
import { createScheduler, every, job } from 'carillon'
let calls = 0
let finish
const done = new Promise(resolve => { finish = resolve })
const flaky = job('flaky', {
  schedule: every(50),
  retry: { limit: 0, exhausted: 'next' },
  run: () => {
    if (++calls <= 30) throw new Error('down')
    if (calls === 33) finish()
  },
})
const silent = process.argv[2] === 'silent' ? { logger: false } : {}
const options = { jobs: [flaky], store: process.env.STORE, print: () => {}, ...silent }
const s = await createScheduler(options).start()
await done
await s.stop()`
  const heard = await runProgram(source, { env: { STORE: await freshStore('sqlite') } })
  expect(linesOf(heard.stderr)).toEqual([
    expect.stringMatching(/ERROR flaky failed: down\. Gave up on this run; next run at /),
    expect.stringMatching(/INFO flaky recovered after 30 failures, 30 runs given up$/),
  ])
  const silent = await runProgram(source, {
    env: { STORE: await freshStore('sqlite') },
    args: ['silent'],
  })
  expect(silent.stderr).toBe('')
})

test('T3 schedule() and createTaskScheduler print failures without any option', async () => {
  const { stderr } = await runProgram(`
import { createTaskScheduler, schedule, stopSchedules } from 'carillon'
let finish
let done = new Promise(resolve => { finish = resolve })
let calls = 0
const failing = () => {
  if (++calls === 3) finish()
  throw new Error('no luck')
}
await schedule('one-liner', 100, failing, { retry: { limit: 0, exhausted: 'next' } })
await done
await stopSchedules()
done = new Promise(resolve => { finish = resolve })
calls = 0
const tasks = createTaskScheduler({ store: 'sqlite:tasks.db' })
await tasks.initialize([['declared', '* * * * *', failing, 50]])
await done
await tasks.stop()`)
  const lines = linesOf(stderr)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/ERROR one-liner failed: no luck\. Gave up on this run; next run at /)
  expect(lines[1]).toMatch(/WARN declared failed: no luck\. Retry in 50ms\. See: carillon why \S+$/)
})

test('T3 trouble with the store is one line when it begins and one when it is over', async () => {
  const folder = workFolder()
  mkdirSync(join(folder, 'data'))
  const program = startProgram(
    `
import { createScheduler, every, job } from 'carillon'
const tick = job('tick', { schedule: every(200), run: () => {} })
const s = await createScheduler({ jobs: [tick], store: process.env.STORE, print: () => {} }).start()
const { store } = s.engine
let isDown = false
for (const name of ['claim', 'commit', 'due', 'queues', 'renew']) {
  const real = store[name]?.bind(store)
  if (real) store[name] = (...args) => isDown ? Promise.reject(Error('connection refused')) : real(...args)
}
process.stdin.on('data', text => { isDown = String(text).trim() === 'down' })
process.on('SIGTERM', async () => { await s.stop(); process.exit(0) })
console.log('{"ready":true}')`,
    { folder, env: { STORE: `sqlite:${join(folder, 'data', 'carillon.db')}` } },
  )
  await program.waitFor(/ready/)
  program.write('down\n')
  await program.waitFor(/the store failed .*connection refused/)
  program.write('up\n')
  await program.waitFor(/the store answers again after/)
  const { stderr } = await program.kill('SIGTERM')
  expect(linesOf(stderr)).toHaveLength(2)
})

test('T3 pino is not loaded for the default lines (guard)', async () => {
  const { stdout } = await runProgram(`
import { createRequire } from 'node:module'
import { createScheduler, job } from 'carillon'
const jobs = [job('a', { run: () => {} })]
const { cache } = createRequire(import.meta.url)
const isLoaded = () => Object.keys(cache).some(path => path.includes('/pino/'))
for (const given of [{}, { logger: 'error' }]) {
  const s = await createScheduler({ jobs, store: 'memory:', print: () => {}, ...given }).start()
  await s.stop()
  console.log(JSON.stringify({ isLoaded: isLoaded() }))
}`)
  expect(stdout).toBe('{"isLoaded":false}\n{"isLoaded":true}\n')
})
