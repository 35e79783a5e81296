// T8: the test kit of the packed package with handlers that do real work.

import { expect, test } from 'vitest'
import { freshStore, runProgram } from './harness/index.ts'

const kit = `
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { every, job } from 'carillon'
import { createTestScheduler } from 'carillon/testing'
const say = message => console.log(JSON.stringify(message))
const counts = runs => {
  const sums = {}
  for (const { status } of runs) sums[status] = (sums[status] ?? 0) + 1
  return sums
}
`

function messagesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

test.each(['memory:', 'sqlite:test.db'])(
  'T8 24 hourly firings with files, timers and 80 ms of work all succeed, on %s',
  async store => {
    const { stdout } = await runProgram(
      `${kit}
const work = {
  file: () => readFile('package.json', 'utf8').catch(() => ''),
  timer: () => sleep(5),
  signal: (_, { signal }) => sleep(5, undefined, { signal }),
  long: () => sleep(80),
}
const jobs = Object.entries(work).map(([name, run]) =>
  job(name, { schedule: every('1h'), timeout: '1m', run }))
const t = await createTestScheduler({ jobs, store: process.env.STORE })
await t.advance('24h')
for (const one of jobs) say({ [one.name]: counts(t.runs(one)) })
await t.stop()`,
      { env: { STORE: store } },
    )
    const all = { succeeded: 24 }
    expect(messagesOf(stdout)).toEqual([
      { file: all },
      { timer: all },
      { signal: all },
      { long: all },
    ])
  },
)

test('T8 handlers that query PostgreSQL are waited for', async ({ skip }) => {
  const { stdout, stderr } = await runProgram(
    `${kit}
import pg from 'pg'
const pool = new pg.Pool({ connectionString: process.env.URL.replace(/[?].*/, '') })
const query = job('query', {
  schedule: every('1h'),
  timeout: '1m',
  run: async (_, { signal }) => (await pool.query('select pg_sleep(0.05)')).rowCount,
})
const t = await createTestScheduler({ jobs: [query] })
await t.advance('24h')
say(counts(t.runs(query)))
await t.stop()
await pool.end()`,
    { env: { URL: await freshStore('postgres', skip) } },
  )
  expect([messagesOf(stdout), stderr]).toEqual([[{ succeeded: 24 }], ''])
})

test('T8 the result of a triggered run needs no advance, and timeouts stay virtual', async () => {
  const { stdout, code } = await runProgram(`${kit}
const slow = job('slow', { run: () => sleep(30, 'done') })
const deaf = job('deaf', {
  schedule: every('1h'), timeout: '10m', retry: { limit: 0 },
  run: (_, { signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  }),
})
setTimeout(() => { say({ hangs: true }); process.exit(9) }, 8_000).unref()
const t = await createTestScheduler({ jobs: [slow, deaf] })
const run = await t.scheduler.trigger('slow', undefined)
say({ result: await run.result() })
await t.advance('71m')
say(counts(t.runs(deaf)))
await t.stop()`)
  expect(messagesOf(stdout)).toEqual([{ result: 'done' }, { timedOut: 1 }])
  expect(code).toBe(0)
})

test('T8 a handler that does not end is named', async () => {
  const { stdout } = await runProgram(`${kit}
const stuck = job('stuck', { schedule: every('1h'), timeout: '1d', run: () => new Promise(() => {}) })
const t = await createTestScheduler({ jobs: [stuck], handlerWaitMs: 200 })
const error = await t.advance('2h').then(() => null, error => error.message)
say({ isNamed: /still running after 200 ms of real time: stuck /.test(error) })
await t.stop()`)
  expect(messagesOf(stdout)).toEqual([{ isNamed: true }])
})
