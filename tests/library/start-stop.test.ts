// Starting and stopping in every order; what is left behind.

import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { createScheduler, every, job, type SchedulerOptions } from '../../src/index.ts'
import type { AnyJob } from '../../src/library/scheduler.ts'
import type { Logger } from '../../src/observe/log.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const quiet = { print: () => {}, store: 'memory:' }

/** Counts the states its node goes through. */
function watched(options: Partial<SchedulerOptions<readonly AnyJob[]>> = {}) {
  const states: string[] = []
  const scheduler = createScheduler({
    ...quiet,
    jobs: [],
    listen: events => events.on('stateChanged', ({ to }) => states.push(to)),
    ...options,
  })
  return { scheduler, states }
}

const life = ['starting', 'running', 'stopping', 'stopped']

describe('start and stop', () => {
  test('two starts at once are one', async () => {
    const { scheduler, states } = watched()
    expect(scheduler.start()).toBe(scheduler.start())
    await scheduler.start()
    expect(await scheduler.stop()).toEqual({ clean: true, aborted: [] })
    expect(states).toEqual(life)
  })

  test('a stop during the start waits for it and stops', async () => {
    const { scheduler, states } = watched()
    const started = scheduler.start()
    await scheduler.stop()
    await started
    expect(states).toEqual(life)
    expect(() => scheduler.engine).toThrow('the scheduler is stopped')
  })

  test('a start during the stop waits for it and starts', async () => {
    const { scheduler, states } = watched()
    await scheduler.start()
    const stopped = scheduler.stop()
    await scheduler.start()
    await stopped
    await Promise.all([scheduler.stop(), scheduler.stop()])
    expect(states).toEqual([...life, ...life])
  })

  test('a stop before the first start does nothing', async () => {
    const { scheduler, states } = watched()
    expect(await scheduler.stop()).toEqual({ clean: true, aborted: [] })
    await scheduler.start()
    await scheduler.stop()
    expect(states).toEqual(life)
  })

  test('messages tell not started, still starting and stopped apart', async () => {
    const { scheduler } = watched()
    expect(() => scheduler.jobs).toThrow('the scheduler is not started: call start() first')
    const started = scheduler.start()
    expect(() => scheduler.jobs).toThrow('the scheduler is still starting: await start()')
    await started
    await scheduler.stop()
    expect(() => scheduler.jobs).toThrow('the scheduler is stopped: start() starts it again')
  })
})

describe('a start that fails', () => {
  test('closes the store, takes its listeners off and can be tried again', async () => {
    const before = process.listenerCount('SIGTERM')
    let isFailing = true
    const { scheduler, states } = watched({
      jobs: [job('tick', { schedule: every('1h'), run: () => undefined })],
      shutdown: { signals: true },
      print: () => {
        if (isFailing) throw new Error('cannot print')
      },
    })
    await expect(scheduler.start()).rejects.toThrow('cannot print')
    expect(process.listenerCount('SIGTERM')).toBe(before)
    expect(() => scheduler.engine).toThrow('the scheduler is not started')
    isFailing = false
    await scheduler.start()
    expect(process.listenerCount('SIGTERM')).toBe(before + 1)
    await scheduler.stop()
    expect(process.listenerCount('SIGTERM')).toBe(before)
    expect(states).toEqual(life)
  })

  test('a stop called meanwhile is clean', async () => {
    const { scheduler } = watched({ store: 'nothing:' })
    const started = scheduler.start().catch((error: Error) => error.message)
    expect(await scheduler.stop()).toEqual({ clean: true, aborted: [] })
    expect(await started).toMatch('the store is not valid')
  })
})

describe('handlers that go on', () => {
  const lines: string[] = []
  const log = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`)
  }
  const logger: Logger = { debug: () => {}, info: () => {}, warn: log, error: log }

  test('are named, and what they return later is refused with a warning', async () => {
    let finish: (result: string) => void = () => {}
    let beat: Promise<void> | null = null
    const deaf = job('deaf', {
      run: async (_: void, context) => {
        const result = await new Promise<string>(resolve => {
          finish = resolve
        })
        beat = context.heartbeat()
        await beat.catch(() => {})
        return result
      },
    })
    const t = await createTestScheduler({ jobs: [deaf], logger, handlerWaitMs: 0 })
    const { scheduler } = t
    const run = await scheduler.trigger('deaf', undefined)
    await t.advance('1s')
    const result = run.result().catch((error: unknown) => error)
    const stopped = await t.stop()
    expect(stopped).toEqual({ clean: false, aborted: [expect.stringContaining(':deaf:')] })
    expect(await result).toMatchObject({
      code: 'SCHEDULER_STATE',
      message: expect.stringMatching(/^the scheduler was stopped before run .* ended$/),
    })
    expect(lines.filter(line => line.startsWith('late'))).toEqual([])
    finish('late')
    await t.during(new Promise<void>(resolve => setImmediate(resolve)))
    await expect(beat).rejects.toThrow('aborted: shutdown')
    expect(lines.filter(line => line.startsWith('late'))).toEqual([
      expect.stringMatching(/^late result refused .*:deaf:.*"reason":"shutdown"/),
    ])
    expect(() => scheduler.runs).toThrow('the scheduler is stopped')
  })

  test('one left behind by an earlier timeout is named too', async () => {
    const deaf = job('deaf', {
      timeout: '1m',
      retry: { limit: 0 },
      run: () => new Promise<void>(() => {}),
    })
    const t = await createTestScheduler({ jobs: [deaf], handlerWaitMs: 0 })
    await t.scheduler.trigger('deaf', undefined)
    await t.advance('10m')
    expect(t.runs(deaf)).toMatchObject([{ status: 'timedOut' }])
    const stopped = await t.stop()
    expect(stopped).toEqual({ clean: false, aborted: [expect.stringContaining(':deaf:')] })
  })
})
