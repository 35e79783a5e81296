// T6 and T7: mistakes are refused where they are made, and what is right works however long it goes on.

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../packaging/package.ts'
import { freshStore, runCli, runProgram, workFolder } from './harness/index.ts'

const say = `const say = message => console.log(JSON.stringify(message))\n`

function messagesOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

interface Refusal {
  readonly call: string
  readonly name: string
  readonly code: string
  readonly message: string
}

test('T6 wrong options are refused everywhere in JavaScript with field, value and hint', async () => {
  const { stdout } = await runProgram(
    `import { createScheduler, cron, every, job, schedule } from 'carillon'
import { createClient } from 'carillon/client'
import { createTestScheduler } from 'carillon/testing'
${say}
const run = () => {}
const ok = job('ok', { run })
const s = await createScheduler({ jobs: [ok], store: 'memory:' }).start()
const when = every('5m')
const calls = {
  jobRetries: () => job('x', { run, retries: 5 }),
  jobCron: () => job('x', { run, schedule: '0 7 * * *' }),
  jobRetry: () => job('x', { run, retry: { limits: 3 }, overlap: 'never' }),
  slot: () => createScheduler({ jobs: [], slot: 5, app: '' }),
  notJobs: () => createScheduler({ jobs: [() => 1] }),
  testKit: () => createTestScheduler({ jobs: [() => 1], slot: 5 }),
  priorty: () => s.trigger('ok', 1, { priorty: 1 }),
  emptyKey: () => s.trigger('ok', 1, { idempotencyKey: '' }),
  noKey: () => s.schedule('ok', { when }),
  whenCron: () => s.schedule('ok', { key: 'k', when: '0 7 * * *' }),
  create: () => s.jobs.create({ handler: 'ok', when: '5m', payloads: 1 }),
  push: () => s.fair.push({ user: 'ana' }),
  every: () => every('5m', { jiter: '1s' }),
  cron: () => cron('0 7 * * *', { tz: 'UTC', zone: 'UTC' }),
  oneLiner: () => schedule('x', '5m', run, { retries: 5 }),
  noRun: () => schedule('x', '5m'),
  eventTypes: () => s.events({ types: ['run.strated'] }),
  states: () => s.jobs.list({ states: ['wating'] }).next(),
  outcomes: () => s.runs.list({ outcomes: ['sucess'], since: 'x' }).next(),
  pauseNothing: () => s.jobs.pause(),
  cancelNothing: () => s.runs.cancel(),
  ledgerOfNothing: () => s.runs.ledger(),
  pushMany: () => s.fair.pushMany(5),
  client: () => createClient({ ulr: 'http://127.0.0.1' }),
}
for (const [call, make] of Object.entries(calls)) {
  try {
    await make()
    say({ call, name: 'accepted' })
  } catch ({ name, code, message }) {
    say({ call, name, code, message })
  }
}
await s.stop()
process.exit(0)`,
  )
  const refusals = messagesOf(stdout) as unknown as Refusal[]
  expect(refusals).toHaveLength(24)
  for (const { call, name } of refusals) expect([call, name]).toEqual([call, 'SchedulerError'])
  const texts = Object.fromEntries(refusals.map(({ call, message }) => [call, message]))
  expect(texts['jobRetries']).toMatch(/retries: is not an option; did you mean retry\? \(got 5\)/)
  expect(texts['jobCron']).toMatch(/schedule: .*cron\('0 7 \* \* \*', \{ tz/)
  expect(texts['jobRetry']).toMatch(
    /retry\.limits: .*did you mean limit\?.*overlap: |overlap: .*limits/,
  )
  expect(texts['slot']).toMatch(/slot: .*did you mean slots\?.*app: /)
  expect(texts['notJobs']).toMatch(/jobs\.0: must be a job made by job\(\)/)
  expect(texts['priorty']).toMatch(/did you mean priority\?/)
  expect(texts['emptyKey']).toMatch(/idempotencyKey: must be a text that is not empty/)
  expect(texts['noKey']).toMatch(/key: is required/)
  expect(texts['whenCron']).toMatch(/when: .*cron\('0 7 \* \* \*', \{ tz/)
  expect(texts['create']).toMatch(/when: .*every\('5m'\).*payloads: .*payload\?/)
  expect(texts['eventTypes']).toMatch(/did you mean run\.started\?/)
  expect(texts['states']).toMatch(/states\.0: .*did you mean waiting\?/)
  expect(texts['client']).toMatch(/did you mean url\?.*url: is required/)
  expect(texts['push']).toMatch(/user: .*did you mean userId\?/)
})

test('T6 a schedule whose payload its schema refuses stops the start, and nothing is opened', async () => {
  const folder = workFolder()
  const { code, stderr } = await runProgram(
    `import { createScheduler, every, job } from 'carillon'
import * as z from 'zod'
const input = z.object({ q: z.string() })
const run = () => {}
const jobs = [
  job('one', { input, schedule: every('5m'), run }),
  job('two', { input, schedule: [{ key: 'k', when: every('5m'), payload: { q: 7 } }], run }),
]
await createScheduler({ jobs }).start()`,
    { folder },
  )
  expect(code).toBe(1)
  expect(stderr).toMatch(/PAYLOAD_INVALID/)
  expect(stderr).toMatch(/one\.payload: .*two\.schedule\.k\.payload\.q: /)
  expect(readdirSync(folder)).not.toContain('.carillon')
})

test('T6 and does not compile', () => {
  const folder = workFolder({
    'jobs.ts': `import { createScheduler, every, job } from 'carillon'
import * as z from 'zod'
const input = z.object({ q: z.string() })
// @ts-expect-error the schema needs a payload
job('a', { input, schedule: every('5m'), run: () => null })
const b = job('b', { input, schedule: every('5m'), payload: { q: 'x' }, run: () => ({ at: new Date() }) })
const s = createScheduler({ jobs: [b] })
const run = await s.trigger('b', { q: 'x' })
export const at: string = (await run.result()).at
`,
  })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023']
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--types', '']
  const compile = () =>
    execFileSync(process.execPath, [tsc, ...options, ...modules, 'jobs.ts'], {
      cwd: folder,
      encoding: 'utf8',
    })
  expect(compile).not.toThrow()
})

test.each(['sqlite', 'postgres'] as const)(
  'T7 schedule() keeps every policy of a customer, on %s',
  async kind => {
    const store = await freshStore(kind)
    const { stdout } = await runProgram(
      `import { createScheduler, every, job } from 'carillon'
${say}
const digest = job('digest', { overlap: 'skip', tags: ['all'], run: () => {} })
const s = await createScheduler({ jobs: [digest], store: process.env.STORE }).start()
const { id } = await s.schedule('digest', {
  key: 'acme', when: every('1h', { jitter: '5m' }), overlap: { queue: 3 }, missed: 'skip',
  retry: { limit: 1, exhausted: 'next' }, timeout: '7m', priority: 'high', queue: 'slow', tags: ['acme'],
})
say({ id })
await s.stop()`,
      { env: { STORE: store } },
    )
    const [made] = messagesOf(stdout)
    expect(made).toBeDefined()
    const shown = await runCli(['show', made!['id'] as string, '--store', store, '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      queue: 'slow',
      priority: 4,
      tags: ['acme'],
      retry: { limit: 1, exhausted: 'next' },
      timeout_seconds: 420,
    })
    expect(shown.stdout).toMatch(/"queue"[^}]*"limit": ?3|"limit": ?3/)
  },
)

test.each([
  ['memory', 1_000],
  ['sqlite', 100],
] as const)(
  'T7 a chain of triggers that pass on their key ends, on %s with %i links',
  async (kind, links) => {
    const { stdout } = await runProgram(
      `import { createScheduler, job } from 'carillon'
${say}
let links = 0
let longest = 0
let end
const ended = new Promise(resolve => { end = resolve })
const step = job('process-order-step', {
  retry: false,
  run: async (n, { idempotencyKey, run }) => {
    links++
    longest = Math.max(longest, run.id.length)
    if (n === Number(process.env.LINKS)) return end()
    await s.trigger('process-order-step', n + 1, { idempotencyKey }).catch(error => end(error.message))
  },
})
const s = await createScheduler({ jobs: [step], store: process.env.STORE, app: 'shop' }).start()
const first = await s.trigger('process-order-step', 1, { idempotencyKey: 'order-7' })
const error = await ended
await s.stop()
say({ first: first.id, links, isShort: longest <= 410, error })`,
      {
        env: {
          LINKS: String(links),
          STORE: kind === 'memory' ? 'memory:' : await freshStore('sqlite'),
        },
      },
    )
    expect(messagesOf(stdout)).toEqual([
      { first: 'default:shop:process-order-step:order-7!.1', links, isShort: true },
    ])
  },
)
