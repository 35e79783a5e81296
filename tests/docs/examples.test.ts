// The examples as their readers run them: plain Node on the built package.

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from './pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'carillon-examples-'))
/** Far more than any of them takes, also where many things run at once. */
const LIMIT_MS = 50_000
/** The dashboard is built too. */
const BUILD_MS = 240_000

beforeAll(() => {
  const script = join(root, 'scripts/build.ts')
  execFileSync(process.execPath, ['--import', 'tsx', script], { cwd: root, stdio: 'pipe' })
}, BUILD_MS)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Sends SIGTERM, once, as soon as what was printed matches `stopAt`. */
function run(args: readonly string[], stopAt: RegExp | null = null): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NO_COLOR: '1', TZ: 'UTC' }
    const child = spawn(process.execPath, args, { cwd: folder, env, timeout: LIMIT_MS })
    let output = ''
    let isStopped = stopAt === null
    const hear = (chunk: Buffer) => {
      output += chunk.toString('utf8')
      if (isStopped || !stopAt?.test(output)) return
      isStopped = true
      child.kill('SIGTERM')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('error', reject)
    child.on('close', code => resolve({ code, output }))
  })
}

const example = (name: string): string => join(root, 'examples', name)

// Each is a process of its own, and most of its time it waits.
describe.concurrent('the examples', () => {
  test('one-liner: three runs, then it ends by itself', async () => {
    const { code, output } = await run([example('one-liner.mjs')])
    expect(output).toMatch(/cleanup: run 1\ncleanup: run 2\ncleanup: run 3\n$/)
    expect(code).toBe(0)
  })

  test('declared: a retried result, a refusal that is not retried, a payload that does not fit', async () => {
    const { code, output } = await run([example('declared.mjs')])
    expect(output).toContain('+ invoice          0 7 1 * * Europe/Berlin')
    expect(output).toMatch(/^Will run at \d{4}-\d\d-\d\dT/m)
    expect(output).toContain("result: { customer: 'acme', attempts: 2 }")
    expect(output).toMatch(/^failed: .*there is no such customer$/m)
    expect(output).toContain('PAYLOAD_INVALID: payload.cents')
    expect(output).toContain('clean stop: true')
    expect(code).toBe(0)
  })

  test('per-customer: the same key edits, another key adds', async () => {
    const { code, output } = await run([example('per-customer.mjs')])
    expect(output.split('\n').filter(line => line.includes('* *'))).toEqual([
      'customer:acme  0 8 * * 1,4  Europe/London',
      'customer:globex  0 8 * * 1,4  America/New_York',
      'customer:initech  30 6 * * 1,4  Asia/Kolkata',
    ])
    expect(code).toBe(0)
  })

  test('time-travel: its tests pass', async () => {
    const { code, output } = await run(['--test', example('time-travel.test.mjs')])
    expect(output).toMatch(/pass 4\b/)
    expect(code).toBe(0)
  })

  test('workflow-schedules: a failed run is retried, and every step is seen', async () => {
    const { code, output } = await run([example('workflow-schedules/run.mjs')])
    expect(output.split('\n').map(line => line.trimEnd())).toEqual([
      'scheduled',
      'done: 2 runs, 1 error',
      'sched-…-n0-rc0 failed',
      '  collect completed',
      '  report failed the printer is out of paper',
      'sched-…-n0-rc1 completed',
      '  collect completed',
      '  report completed',
      'sched-…-n1-rc0 completed',
      '  collect completed',
      '  report completed',
      '',
    ])
    expect(code).toBe(0)
  })

  test('interval-jobs: a crawl, what it found, and a schedule that does not move', async () => {
    const { code, output } = await run([example('interval-jobs/run.mjs')])
    expect(output).toBe(
      [
        'created: pending',
        'completed: 3 pages, 3 indexed',
        'found: Carillons',
        'scheduled: first run in 30 minutes',
        'paused null',
        'scheduled',
        'success rate 1',
        'the schedule did not move: true',
        '',
      ].join('\n'),
    )
    expect(code).toBe(0)
  })

  test('declared-tasks: tried again after a failure, and the next start tells what changed', async () => {
    const { code, output } = await run([example('declared-tasks.mjs')])
    expect(output).toContain('tasks in UTC: added every-minute (* * * * * UTC), added report')
    expect(output).toMatch(/try 1\n[\s\S]*failed: busy[\s\S]*try 2\n/)
    const changed = 'changed report cron "0 7 * * 1-5" → "30 6 * * 1-5", removed every-minute'
    expect(output).toContain(changed)
    expect(output).toMatch(/stopped\n$/)
    expect(code).toBe(0)
  })

  test('sources: a failure, a retry by hand, a repeat that adds nothing, rows deleted', async () => {
    const { code, output } = await run([example('sources/fetch.mjs')])
    const lines = output.trim().split('\n')
    expect(lines).toContain('prices: answered 503, next try in 2 minutes')
    expect(lines).toContain('prices: 3 pages, 5 records, 5 new rows')
    const stock = lines.filter(line => line.startsWith('stock: 2 pages'))
    expect(stock).toEqual([
      'stock: 2 pages, 5 records, 5 new rows',
      'stock: 2 pages, 5 records, 0 new rows',
    ])
    expect(lines.slice(-2)).toEqual(['prices: 5 rows deleted', 'stock: 5 rows deleted'])
    expect(code).toBe(0)
  })

  test('the demo starts, runs a job, stops at a signal and goes on at the next start', async () => {
    const first = await run([example('demo.mjs')], /✓ finished/)
    expect(first.output).toContain('carillon: 5 declared, 5 added')
    expect(first.output).toMatch(/^\d\d:\d\d:\d\d UTC {2}\w+ +▶ started$/m)
    expect(first.output).toContain('Stopped.')
    expect(first.code).toBe(0)
    const second = await run([example('demo.mjs')], /indexing +next: .*\n/)
    expect(second.output).not.toContain('declared')
    expect(second.output).toMatch(/ticker +next: .*, runs so far: 1$/m)
    expect(second.output).toContain('Stopped.')
    expect(second.code).toBe(0)
  })
})

test('every example is run', () => {
  const here = [
    'declared-tasks.mjs',
    'declared.mjs',
    'demo.mjs',
    'interval-jobs',
    'one-liner.mjs',
    'per-customer.mjs',
    'service.mjs',
    'sources',
    'time-travel.test.mjs',
    'workflow-schedules',
  ]
  // With the suite of what they show: they need more than the built package.
  const elsewhere = ['workers']
  const names = readdirSync(join(root, 'examples'))
  expect(names.filter(name => !elsewhere.includes(name)).sort()).toEqual(here)
})
