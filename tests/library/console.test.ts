// What the library prints to the standard error when no logger was given.

import { expect, test, vi } from 'vitest'
import {
  createScheduler,
  createTaskScheduler,
  every,
  job,
  type JobOptions,
} from '../../src/index.ts'
import type { Events } from '../../src/runtime/events.ts'
import { logToConsole } from '../../src/observe/console-log.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

/** A scheduler whose console lines are kept, without their first word. */
async function printed(
  run: () => unknown,
  options: Partial<Pick<JobOptions<never, unknown>, 'retry' | 'schedule' | 'timeout'>>,
  name = 'nightly',
) {
  const lines: string[] = []
  const heard: Events[] = []
  const definition = job(name, { ...options, run })
  const t = await createTestScheduler({
    jobs: [definition],
    handlerWaitMs: 0,
    listen: events => {
      heard.push(events)
      const now = () => Date.parse('2026-01-01T12:00:00Z')
      const write = (line: string) => lines.push(line.replace(/^carillon /, ''))
      logToConsole(events, { now, write, hasCommand: true })
    },
  })
  return { t, lines, events: heard[0]! }
}

const hourly = { schedule: every('1h') }

test('a failing job prints its first failure, that it gave up, and its recovery', async () => {
  let isDown = true
  const { t, lines } = await printed(
    () => {
      if (isDown) throw new Error('partner API down\n  at line 2')
    },
    { ...hourly, retry: { limit: 2, exhausted: 'next' } },
  )
  await t.advance('10h')
  isDown = false
  await t.advance('5h')
  await t.stop()
  expect(lines).toEqual([
    '2026-01-01T01:00:00.000Z WARN nightly failed: partner API down. Retry in 1m. See: carillon why nightly',
    '2026-01-01T01:03:00.000Z ERROR nightly failed: partner API down (attempt 3). Gave up on this run; ' +
      'next run at 2026-01-01T02:00:00.000Z. See: carillon why nightly',
    '2026-01-01T10:01:00.000Z INFO nightly recovered after 28 failures, 9 runs given up',
  ])
})

test('a job that ends says so, and its name is quoted for the shell', async () => {
  const { t, lines } = await printed(
    () => Promise.reject(new Error('no')),
    { ...hourly, retry: { limit: 0, exhausted: 'stop' } },
    "Bob's report",
  )
  await t.advance('3h')
  await t.stop()
  expect(lines).toEqual([
    "2026-01-01T01:00:00.000Z ERROR Bob's report failed: no. Gave up; it does not run again. " +
      "See: carillon why 'Bob'\\''s report'",
  ])
})

test('triggered runs of one job share their lines', async () => {
  let isDown = true
  const { t, lines } = await printed(
    () => {
      if (isDown) throw new Error('down')
    },
    { retry: { limit: 0 } },
  )
  for (let i = 0; i < 100; i++) await t.scheduler.trigger('nightly', undefined)
  await t.advance('1m')
  isDown = false
  await t.scheduler.trigger('nightly', undefined)
  await t.advance('1m')
  await t.stop()
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/ERROR nightly failed: down\. Gave up\. See: carillon why \S+$/)
  expect(lines[1]).toMatch(/INFO nightly recovered after 100 failures, 100 runs given up$/)
})

test('a job that fails every other time does not flood the console', async () => {
  let count = 0
  const { t, lines } = await printed(
    () => {
      if (count++ % 2 === 0) throw new Error('flaky')
    },
    { schedule: every('1s'), retry: { limit: 0, exhausted: 'next' } },
  )
  await t.advance('1m')
  await t.stop()
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.length).toBeLessThanOrEqual(8)
})

test('a timeout and a handler that ignores its signal are told', async () => {
  const { t, lines } = await printed(() => new Promise(() => {}), {
    ...hourly,
    timeout: '1m',
    retry: { limit: 0, exhausted: 'next' },
  })
  await t.advance('90m')
  await t.stop()
  expect(lines).toEqual([
    expect.stringMatching(/WARN nightly ignored its abort signal and still runs. See: /),
    expect.stringMatching(/ERROR nightly timed out: ran longer than its timeout of 60000 ms. Gave/),
  ])
})

test('trouble with the store is one line when it begins and one when it is over', async () => {
  const { t, lines } = await printed(() => undefined, { schedule: every('1s') })
  t.partition()
  await t.advance('1m')
  t.partition(false)
  await t.advance('1m')
  await t.stop()
  expect(lines).toEqual([
    expect.stringMatching(
      /ERROR the store failed \(\w+\): the test took the store away. The store cannot be reached. Work goes/,
    ),
    expect.stringMatching(/INFO the store answers again after \S+$/),
  ])
})

test('a store that only failed to write outcomes is back with the next outcome', async () => {
  const { t, lines, events } = await printed(() => undefined, hourly)
  for (let i = 0; i < 3; i++) {
    events.emit('error', { kind: 'store', error: new Error('disk full'), during: 'settle' })
  }
  await t.advance('1h')
  await t.stop()
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain('the store answers again')
})

test('createScheduler prints by default, logger: false is silence, a logger gets fields', async () => {
  const spy = vi.spyOn(console, 'error').mockImplementation(() => {})
  const warned: string[] = []
  const note = (_: object, message: string) => warned.push(message)
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note }
  const failing = job('failing', { retry: { limit: 0 }, run: () => Promise.reject(new Error('x')) })
  const counts: number[] = []
  for (const given of [{}, { logger: false as const }, { logger }]) {
    const s = createScheduler({ jobs: [failing], store: 'memory:', print: () => {}, ...given })
    await s.start()
    const run = await s.trigger('failing', undefined)
    await run.result().catch(() => {})
    await s.stop()
    counts.push(spy.mock.calls.length)
  }
  expect(counts).toEqual([1, 1, 1])
  expect(spy.mock.calls[0]![0]).toMatch(/^carillon \S+ ERROR failing failed: x\. Gave up\.$/)
  expect(warned).toEqual(['job failed', 'alert raised'])
  spy.mockRestore()
})

test('createTaskScheduler prints the first failure of a task, not each of them', async () => {
  const spy = vi.spyOn(console, 'error').mockImplementation(() => {})
  const info = vi.spyOn(console, 'info').mockImplementation(() => {})
  let calls = 0
  const failedTwice = new Promise<void>(resolve => {
    const callback = () => {
      if (++calls === 3) resolve()
      throw new Error('no')
    }
    const tasks = createTaskScheduler({ store: 'memory:' })
    void tasks.initialize([['sync', '* * * * *', callback, 10]])
    onStop.push(() => tasks.stop())
  })
  await failedTwice
  for (const stop of onStop) await stop()
  expect(spy.mock.calls.map(([line]) => String(line))).toEqual([
    expect.stringMatching(/WARN sync failed: no\. Retry in 10ms\.$/),
  ])
  spy.mockRestore()
  info.mockRestore()
})

const onStop: (() => Promise<void>)[] = []
