// What a start refuses before it opens anything, and what a worker refuses when it is made.

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createScheduler, every, job, type SchedulerError } from '../../src/index.ts'
import { createWorker } from '../../src/worker/index.ts'

const run = () => null
const ok = job('ok', { run })
const report = z.object({ q: z.string() })

describe('T6 a schedule whose payload its schema refuses', () => {
  test('does not compile', () => {
    // @ts-expect-error -- the schema needs a payload
    job('a', { input: report, schedule: every('5m'), run })
    // @ts-expect-error -- every entry needs one
    job('b', { input: report, schedule: [{ key: 'k', when: every('5m') }], run })
    // @ts-expect-error -- of the right type
    job('c', { input: report, schedule: every('5m'), payload: { q: 1 }, run })
    job('d', { input: report, schedule: every('5m'), payload: { q: 'a' }, run })
    job('e', {
      input: report,
      schedule: [{ key: 'k', when: every('5m'), payload: { q: 'a' } }],
      run,
    })
    job('f', {
      input: report,
      schedule: [{ key: 'k', when: every('5m') }],
      payload: { q: 'a' },
      run,
    })
    job('g', { input: report.optional(), schedule: every('5m'), run: input => input?.q })
    job('h', { input: report, run: ({ q }) => q.length })
    const bare = job('i', { schedule: every('5m'), run: (_, context) => context.run.id })
    expect(bare.name).toBe('i')
  })

  test('is refused at start, all of them at once, and nothing is opened', async () => {
    const schedules = every('5m')
    const jobs = [
      job('one', { input: report, schedule: schedules, run } as never),
      job('two', {
        input: report,
        schedule: [
          { key: 'a', when: schedules, payload: { q: 'fine' } },
          { key: 'b', when: schedules, payload: { q: 7 } },
        ],
        run,
      } as never),
      job('three', {
        input: z.object({ at: z.date() }),
        schedule: schedules,
        payload: { at: new Date(0) },
        run,
      }),
      job('four', { input: report, run }),
    ]
    const scheduler = createScheduler({ jobs, store: 'nothing:', print: () => {} })
    const error = (await scheduler.start().catch((thrown: unknown) => thrown)) as SchedulerError
    expect(error.code).toBe('PAYLOAD_INVALID')
    expect(error.problems.map(({ field }) => field)).toEqual([
      'one.payload',
      'two.schedule.b.payload.q',
      'three.payload.at',
    ])
    expect(error.message).toContain('z.coerce.date()')
  })
})

test('T6 what the specs of several jobs have wrong is refused at once, at start', async () => {
  const jobs = [
    job('one', { schedule: every(0), timeout: 0, run }),
    job('two', { schedule: [{ key: 'k', when: every('5m') }], grace: '9000d', run }),
    job('three', { retry: { exhausted: 'next' }, run }),
    ok,
  ]
  const scheduler = createScheduler({ jobs, store: 'memory:', print: () => {} })
  const error = (await scheduler.start().catch((thrown: unknown) => thrown)) as SchedulerError
  expect(error.problems.map(({ field }) => field)).toEqual([
    'one.trigger.everyMs',
    'one.timeoutMs',
    'two.k.graceMs',
    'three.retry.exhausted',
  ])
})

test.each([
  [undefined, /url: is required.*token: is required.*run: is required.*name: is required/],
  [
    { url: 'x', token: 't', run, name: 'w', concurency: 3, concurrency: 0, queues: 'a' },
    /url: must be the address.*concurency: is not an option; known are url.*concurrency: .*queues: /,
  ],
])('T6 createWorker refuses case %#', (options, text) => {
  expect(() => createWorker(options as never)).toThrow(text)
})
