// H4: handlers that run apart from the program or the service, from the packed package. What they do
// wrong stays with them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../packaging/package.ts'
import {
  eventually,
  runCli,
  runProgram,
  startService,
  type Answer,
  type Service,
} from './harness/index.ts'

const handlers = `
import { setTimeout as sleep } from 'node:timers/promises'
import { NoRetry } from 'carillon'

export default async function resize(input, context) {
  context.log.info('resizing', { file: input.file })
  context.progress(0.5, 'half')
  await context.heartbeat({ page: 2 })
  return {
    file: input.file,
    isDate: input.at instanceof Date,
    pid: process.pid,
    next: context.job.next(2).length,
    run: context.run.number,
    at: new Date(0),
  }
}
export const blocks = () => { for (;;); }
export const leaks = () => { const held = []; for (;;) held.push(Buffer.alloc(1e6, 1)) }
export const circular = () => { const value = {}; value.self = value; return value }
export const refuses = () => { throw new NoRetry('never again') }
export const listens = (_, { signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
`

test.each(['process', 'thread'] as const)(
  'H4 job() takes a handler of a module of its own, in a %s',
  async kind => {
    const program = `
    import { createScheduler, every, isolated, job, LimitExceeded } from 'carillon'
    import { z } from 'zod'
    const at = new URL('./handlers.mjs', import.meta.url)
    const kind = ${JSON.stringify(kind)}
    const apart = name => isolated(at, { kind, export: name })
    let ticks = 0
    const resize = job('resize', {
      input: z.object({ file: z.string(), at: z.coerce.date() }),
      run: isolated(at, { kind }),
      retry: false,
    })
    const s = createScheduler({
      store: 'memory:',
      print: () => {},
      logger: false,
      jobs: [
        resize,
        job('blocks', { run: apart('blocks'), timeout: '1s', retry: false }),
        job('circular', { run: apart('circular') }),
        job('refuses', { run: apart('refuses') }),
        job('tick', { schedule: every(100), run: () => { ticks++ } }),
      ],
    })
    await s.start()
    const say = message => console.log(JSON.stringify(message))
    const run = await s.trigger('resize', { file: 'a.png', at: '2026-01-01T00:00:00Z' })
    say({ resized: await run.result(), own: process.pid })
    say({ circular: await (await s.trigger('circular', null)).result() })
    say({ refused: await (await s.trigger('refuses', null)).result().catch(error => error.message) })
    const blocked = await s.trigger('blocks', null)
    const before = ticks
    say({ blocked: await blocked.result().catch(error => error.message), others: ticks - before })
    const trial = await resize.test({ file: 'b', at: '2026-01-01' })
    say({ trial: trial.status, logs: trial.logs })
    await s.stop()
    for (const wrong of [() => isolated('./x.mjs'), () => isolated(at, { memoryMb: 1, cores: 2 })]) {
      try { wrong() } catch ({ code, problems }) {
        say({ code, problems: problems.map(one => one.field) })
      }
    }`
    const { stdout, stderr } = await runProgram(program, { files: { 'handlers.mjs': handlers } })
    expect(stderr).toBe('')
    const [resized, circular, refused, blocked, trial, path, options] = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    const result = resized!['resized'] as Record<string, unknown>
    expect(result).toMatchObject({
      file: 'a.png',
      isDate: true,
      next: 1,
      run: 1,
      at: '1970-01-01T00:00:00.000Z',
    })
    expect(result['pid'] === resized!['own']).toBe(kind === 'thread')
    expect(circular).toEqual({ circular: null })
    expect(refused!['refused']).toContain('never again')
    expect(blocked!['blocked']).toContain('timeout')
    expect(blocked!['others']).toBeGreaterThan(3)
    expect(trial).toEqual({ trial: 'completed', logs: ['resizing'] })
    expect(path).toEqual({ code: 'SPEC_INVALID', problems: ['module'] })
    expect(options).toEqual({ code: 'SPEC_INVALID', problems: ['memoryMb', 'cores'] })
  },
)

async function runOf(service: Service, handler: string): Promise<string> {
  const made = await service.request('POST', '/api/v1/jobs', {
    name: handler,
    handler,
    retry: { limit: 0 },
  })
  expect(made.status).toBe(201)
  const { id } = made.body as unknown as { id: string }
  expect((await service.request('POST', `/api/v1/jobs/${id}/run`)).status).toBe(202)
  return id
}

/** The newest execution of a job, once it has ended. */
function ended(service: Service, id: string): Promise<Answer['body']> {
  return eventually('the execution to end', async () => {
    const { body } = await service.request('GET', `/api/v1/jobs/${id}/executions`)
    const [one] = body['executions'] as unknown as Answer['body'][]
    return one && (one['status'] as unknown) !== 'running' ? one : null
  })
}

const config = `
export default {
  handlers: {
    greet: ({ payload, log }) => { log.info('hello'); return { pid: process.pid, payload } },
    blocks: () => { for (;;); },
    leaks: () => { const held = []; for (;;) held.push(Buffer.alloc(1e6, 1)) },
    own: { module: './own.mjs', kind: 'process', cpuSeconds: 1 },
  },
}`

const own = `export default () => { for (;;); }`

test('H4 a service with --isolate answers and goes on while handlers block and leak', async () => {
  const service = await startService(['--isolate', 'process', '--isolate-memory-mb', '128'], {
    config,
    files: { 'own.mjs': own },
  })
  const blocked = await runOf(service, 'blocks')
  const leaking = await runOf(service, 'leaks')
  const burning = await runOf(service, 'own')
  const before = Date.now()
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  expect(Date.now() - before).toBeLessThan(2_000)
  const greeted = await ended(service, await runOf(service, 'greet'))
  expect(greeted).toMatchObject({ status: 'completed' })
  expect(greeted['result']!['pid']).not.toBe(service.program.pid)
  expect(greeted['cpu_time_ms']).toBeGreaterThan(0)
  expect(greeted['memory_peak_mb']).toBeGreaterThan(20)
  const leaked = await ended(service, leaking)
  expect(leaked).toMatchObject({ status: 'failed', reason: 'memory_limit' })
  expect(leaked['error_message']).toContain('memoryMb is 128')
  const burned = await ended(service, burning)
  expect(burned).toMatchObject({ status: 'failed', reason: 'cpu_limit' })
  expect(burned['cpu_time_ms']).toBeGreaterThan(1_000)
  const cancelled = await service.request('POST', `/api/v1/jobs/${blocked}/cancel`)
  expect(cancelled.status).toBe(200)
  expect(await ended(service, blocked)).toMatchObject({ status: 'cancelled' })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('H4 a blocked handler does not outlive a service that is killed', async () => {
  const pidFile = `
  import { writeFileSync } from 'node:fs'
  export default () => { writeFileSync('pid', String(process.pid)); for (;;); }`
  const service = await startService([], {
    config: `export default { handlers: { stuck: { module: './stuck.mjs' } } }`,
    files: { 'stuck.mjs': pidFile },
  })
  await runOf(service, 'stuck')
  const pid = await eventually('the handler to start', () => {
    try {
      return Number(readFileSync(join(service.folder, 'pid'), 'utf8')) || null
    } catch {
      return null
    }
  })
  await service.program.kill('SIGKILL')
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)
})

test('H4 the example of the documentation runs when it is copied', async () => {
  const page = readFileSync(join(root, 'docs/how-to/isolate-handlers.md'), 'utf8')
  const blocks = page.matchAll(/```js file (\S+)\n(.*?)```/gs)
  const files = Object.fromEntries([...blocks].map(([, name, code]) => [name!, code!]))
  const { stdout } = await runProgram(`await import('./jobs.mjs')`, { files })
  expect(stdout).toContain("{ file: 'cat.png', width: 320, isDone: true }")
})

test('H4 settings that cannot hold are refused by name', async () => {
  const wrong = `export default { handlers: {
    none: { module: './none.mjs' },
    much: { module: './own.mjs', memoryMb: 3, timeout: 5 },
    text: 'greet',
  } }`
  const { code, stderr } = await runCli(['serve', '--port', '0'], {
    files: { 'carillon.config.mjs': wrong, 'own.mjs': own },
  })
  expect(code).not.toBe(0)
  for (const field of ['none.module', 'much.memoryMb', 'much.timeout', 'handlers.text']) {
    expect(stderr).toContain(field)
  }
  const flag = await runCli(['serve', '--isolate', 'yes'])
  expect(flag.code).not.toBe(0)
  expect(flag.stderr).toContain('none, process, thread')
})
