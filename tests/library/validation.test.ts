// Wrong options are refused where they are given: every one at once, with field, value and a hint.

import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import {
  at,
  createScheduler,
  createTaskScheduler,
  cron,
  daily,
  every,
  job,
  schedule,
  type SchedulerError,
} from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

const run = () => null
const ok = job('ok', { run })

/** The message of the refusal; a raw TypeError or no error at all fails the test. */
async function refusal(call: () => unknown): Promise<{ code: string; text: string }> {
  const error = (await Promise.resolve()
    .then(call)
    .then(
      () => null,
      (thrown: unknown) => thrown,
    )) as SchedulerError | null
  expect(error?.name).toBe('SchedulerError')
  expect(error!.problems.length).toBeGreaterThan(0)
  return { code: error!.code, text: error!.message }
}

// Calls as JavaScript makes them.
const loose = {
  job,
  createScheduler,
  createTestScheduler,
  cron,
  every,
  daily,
  at,
  createClient,
} as unknown as Record<string, (...given: unknown[]) => unknown>

describe('T6 definitions, triggers and schedulers', () => {
  test.each<[string, () => unknown, string, RegExp]>([
    [
      'job',
      () => loose.job!('x', { run, retries: 5 }),
      'SPEC_INVALID',
      /retries: is not an option; did you mean retry\? \(got 5\)/,
    ],
    [
      'job',
      () => loose.job!('x', { run, retry: { limits: 1 } }),
      'SPEC_INVALID',
      /retry\.limits: .* did you mean limit\?/,
    ],
    [
      'job',
      () => loose.job!('x', { run, overlap: 'never' }),
      'SPEC_INVALID',
      /overlap: must be one of skip, replace, allow, queue/,
    ],
    [
      'job',
      () => loose.job!('x', { run, overlap: { limit: 3 } }),
      'SPEC_INVALID',
      /overlap\.limit: is not an option.*overlap\.queue: is required/,
    ],
    [
      'job',
      () => loose.job!('x', { run, missed: { all: { maximum: 3 } } }),
      'SPEC_INVALID',
      /missed\.all\.maximum/,
    ],
    [
      'job',
      () => loose.job!('x', { run, timeout: 'soon', grace: -1 }),
      'SPEC_INVALID',
      /timeout: .*grace: /,
    ],
    [
      'job',
      () => loose.job!('x', { run, schedule: '0 7 * * *' }),
      'SPEC_INVALID',
      /schedule: .*: use cron\('0 7 \* \* \*', \{ tz/,
    ],
    [
      'job',
      () => loose.job!('x', { run, schedule: ['5m'] }),
      'SPEC_INVALID',
      /schedule\.0: .*: use every\('5m'\)/,
    ],
    [
      'job',
      () => loose.job!('x', { run, schedule: [{ when: '5m' }] }),
      'SPEC_INVALID',
      /schedule\.0\.when: .*schedule\.0\.key: is required/,
    ],
    [
      'job',
      () => loose.job!('x', { run, input: { q: 'string' } }),
      'SPEC_INVALID',
      /input: must be a Standard Schema/,
    ],
    [
      'job',
      () => loose.job!('x', { run, payload: { at: new Map() } }),
      'SPEC_INVALID',
      /payload\.at: a Map/,
    ],
    ['job', () => loose.job!('x'), 'SPEC_INVALID', /options: must be an object/],
    ['job', () => loose.job!('', {}), 'SPEC_INVALID', /name: .*run: is required/],
    [
      'every',
      () => loose.every!('5m', { time: 3 }),
      'SPEC_INVALID',
      /time: is not an option; did you mean times\?/,
    ],
    ['cron', () => loose.cron!('0 7 * * *'), 'SPEC_INVALID', /tz: is required/],
    ['cron', () => loose.cron!('0 7 * * *', 'UTC'), 'SPEC_INVALID', /options: must be an object/],
    [
      'cron',
      () => loose.cron!(7, { tz: 'UTC' }),
      'SPEC_INVALID',
      /cron: must be a cron expression/,
    ],
    [
      'cron',
      () => loose.cron!('0 7 * * *', { zone: 'UTC', dst: { gap: 'x' } }),
      'SPEC_INVALID',
      /zone: .*dst\.gap: .*tz: is required/,
    ],
    ['daily', () => loose.daily!('07:30'), 'SPEC_INVALID', /tz: is required/],
    [
      'daily',
      () => loose.daily!('07:30', { tz: 'UTC', on: 'mon' }),
      'SPEC_INVALID',
      /on: must be a list of/,
    ],
    ['at', () => loose.at!('tomorrow'), 'SPEC_INVALID', /at: must be a Date/],
    [
      'createScheduler',
      () => loose.createScheduler!({ jobs: [() => 1] }),
      'SETTINGS_INVALID',
      /jobs\.0: must be a job made by job\(\) \(got a function\)/,
    ],
    [
      'createScheduler',
      () => loose.createScheduler!(),
      'SETTINGS_INVALID',
      /options: must be an object/,
    ],
    ['createScheduler', () => loose.createScheduler!({}), 'SETTINGS_INVALID', /jobs: is required/],
    [
      'createScheduler',
      () => loose.createScheduler!({ jobs: [ok, ok] }),
      'SETTINGS_INVALID',
      /different names/,
    ],
    [
      'createScheduler',
      () => loose.createScheduler!({ jobs: [], slot: 5, lockDuration: 1 }),
      'SETTINGS_INVALID',
      /slot: is not an option; did you mean slots\?.*lockDuration: .*lockDurationMs/,
    ],
    [
      'createScheduler',
      () =>
        loose.createScheduler!({ jobs: [], settings: { lease: 1 }, queues: { mail: { slot: 1 } } }),
      'SETTINGS_INVALID',
      /settings\.lease.*|queues\.mail\.slot: .* did you mean slots\?/,
    ],
    [
      'createScheduler',
      () =>
        loose.createScheduler!({ jobs: [], defaults: { retries: 1 }, shutdown: { signal: true } }),
      'SETTINGS_INVALID',
      /defaults\.retries: .* retry\?.*shutdown\.signal: .* signals\?/,
    ],
    [
      'createScheduler',
      () => loose.createScheduler!({ jobs: [], store: 5, orphans: 'delete' }),
      'SETTINGS_INVALID',
      /store: .*orphans: /,
    ],
    [
      'createTestScheduler',
      () => loose.createTestScheduler!({ jobs: [() => 1], slot: 1 }),
      'SETTINGS_INVALID',
      /jobs\.0: .*slot: /,
    ],
    [
      'createTestScheduler',
      () => loose.createTestScheduler!(),
      'SETTINGS_INVALID',
      /jobs: is required/,
    ],
    [
      'createTaskScheduler',
      () => createTaskScheduler({ zone: 'UTC' } as never),
      'SETTINGS_INVALID',
      /zone: is not an option/,
    ],
    [
      'schedule',
      () => schedule('x', '5m', run, { retries: 5 } as never),
      'SPEC_INVALID',
      /retries: .* did you mean retry\?/,
    ],
    [
      'schedule',
      () => (schedule as unknown as (...given: unknown[]) => unknown)('x', '5m'),
      'SPEC_INVALID',
      /run: must be a function \(got nothing\)/,
    ],
    ['createClient', () => loose.createClient!(), 'SETTINGS_INVALID', /options: must be an object/],
    [
      'createClient',
      () => loose.createClient!({ ulr: 'http://x', url: 'x', retries: -1 }),
      'SETTINGS_INVALID',
      /ulr: .* did you mean url\?.*url: must be an address.*retries: /,
    ],
  ])('%s refuses case %#', async (_, call, code, text) => {
    const refused = await refusal(call)
    expect(refused.code).toBe(code)
    expect(refused.text).toMatch(text)
  })
})

describe('T6 calls of a running scheduler', () => {
  type Loose = Record<string, (...given: unknown[]) => Promise<unknown>>
  const when = every('1m')

  test.each<
    [string, (s: { top: Loose; jobs: Loose; fair: Loose; runs: Loose }) => unknown, RegExp]
  >([
    [
      'trigger',
      s => s.top.trigger!('ok', undefined, { priorty: 1 }),
      /trigger of ok is not valid: priorty: is not an option; did you mean priority\? \(got 1\)/,
    ],
    [
      'trigger',
      s => s.top.trigger!('ok', undefined, { idempotencyKey: '' }),
      /idempotencyKey: must be a text that is not empty/,
    ],
    ['trigger', s => s.top.trigger!('ok', undefined, { delay: 'x', user: '' }), /delay: .*user: /],
    ['schedule', s => s.top.schedule!('ok', { when }), /key: is required/],
    [
      'schedule',
      s => s.top.schedule!('ok', { key: '', when }),
      /key: must be a text that is not empty/,
    ],
    [
      'schedule',
      s => s.top.schedule!('ok', { key: 'k', when: '0 7 * * *' }),
      /when: .*: use cron\('0 7 \* \* \*', \{ tz/,
    ],
    [
      'schedule',
      s => s.top.schedule!('ok', { key: 'k', when, overlaps: 'skip', retry: { limit: -1 } }),
      /overlaps: .* did you mean overlap\?.*retry\.limit: /,
    ],
    ['schedule', s => s.top.schedule!('ok'), /options: must be an object/],
    [
      'jobs.create',
      s => s.jobs.create!({ when, payloads: 1 }),
      /payloads: .* did you mean payload\?.*handler: is required/,
    ],
    [
      'jobs.create',
      s => s.jobs.create!({ handler: 'ok', when: '5m' }),
      /when: .*: use every\('5m'\)/,
    ],
    ['jobs.edit', s => s.jobs.edit!('ok', { handler: 'x' }), /handler: is not an option/],
    [
      'jobs.pause',
      s => s.jobs.pause!('ok', { till: 'x' }),
      /till: is not an option; known are until, note/,
    ],
    ['jobs.run', s => s.jobs.run!('ok', { input: 1 }), /input: is not an option/],
    ['jobs.backfill', s => s.jobs.backfill!('ok', { from: new Date() }), /to: is required/],
    [
      'jobs.list',
      s => (s.jobs.list!({ name: 'x' }) as unknown as AsyncGenerator).next(),
      /name: is not an option/,
    ],
    [
      'runs.list',
      s => (s.runs.list!({ job: 'x' }) as unknown as AsyncGenerator).next(),
      /job: is not an option; known are jobId/,
    ],
    [
      'events',
      s => s.top.events!({ types: 'run.started' }),
      /types: must be a list of run\.started/,
    ],
    [
      'events',
      s => s.top.events!({ types: ['run.strated'] }),
      /types\.0: must be one of .*; did you mean run\.started\? \(got "run\.strated"\)/,
    ],
    [
      'jobs.list',
      s => (s.jobs.list!({ states: ['wating'] }) as unknown as AsyncGenerator).next(),
      /states\.0: .* did you mean waiting\?/,
    ],
    [
      'runs.list',
      s => (s.runs.list!({ outcomes: ['sucess'], since: 'x' }) as unknown as AsyncGenerator).next(),
      /outcomes\.0: must be one of succeeded.*since: must be a moment/,
    ],
    ['jobs.get', s => s.jobs.get!(), /selector: must be a text that is not empty \(got nothing\)/],
    ['jobs.pause', s => s.jobs.pause!(), /selector: /],
    ['jobs.remove', s => s.jobs.remove!(['ok', undefined]), /selector: /],
    ['jobs.cancel', s => s.jobs.cancel!({}), /selector: .*\(got \{\}\)/],
    ['why', s => s.top.why!(), /selector: /],
    ['runs.get', s => s.runs.get!(), /id: must be a text that is not empty/],
    ['runs.cancel', s => s.runs.cancel!(5), /id: .*\(got 5\)/],
    ['runs.retry', s => s.runs.retry!(), /id: /],
    ['runs.replay', s => s.runs.replay!(), /id: /],
    ['runs.ledger', s => s.runs.ledger!(), /jobId: /],
    ['runs.log', s => s.runs.log!(), /attemptId: /],
    ['fair.pushMany', s => s.fair.pushMany!(5), /tasks: must be a list of/],
    [
      'fair.pushMany',
      s => s.fair.pushMany!([{ userId: 'u' }, null, { user: 'v' }]),
      /tasks\.1: must be an object.*tasks\.2\.user: .* userId\?.*tasks\.2\.userId: is required/,
    ],
    [
      'fair.addSchedule',
      s => s.fair.addSchedule!({ cron: '* * * * *', user: 'u' }),
      /user: .* userId\?.*userId: is required/,
    ],
    [
      'fair.push',
      s => s.fair.push!({ userId: 'u', key: '' }),
      /key: must be a text that is not empty/,
    ],
    ['fair.pushMany', s => s.fair.pushMany!([{ userId: 'u', prio: 1 }]), /prio: is not an option/],
    [
      'fair.updateSchedule',
      s => s.fair.updateSchedule!('x', { active: true }),
      /active: is not an option; did you mean isActive\?/,
    ],
    [
      'fair.setUser',
      s => s.fair.setUser!('u', { weigth: 2 }),
      /weigth: is not an option; did you mean weight\?/,
    ],
    ['fair.getSchedule', s => s.fair.getSchedule!(5), /id: must be/],
    ['fair.updateSchedule', s => s.fair.updateSchedule!('', {}), /id: must/],
    ['fair.removeSchedule', s => s.fair.removeSchedule!(), /id: /],
    [
      'fair.stats',
      s => s.fair.stats!({ tennant: 'a' }),
      /tennant: is not an option; did you mean tenant\?/,
    ],
  ])('%s refuses case %#', async (_, call, text) => {
    const t = await createTestScheduler({ jobs: [ok] })
    const top = t.scheduler as unknown as Loose & { jobs: Loose; fair: Loose; runs: Loose }
    const before = await t.scheduler.engine.store.counts()
    const { jobs, fair, runs } = top
    const refused = await refusal(() => call({ top, jobs, fair, runs }))
    expect(refused.text).toMatch(text)
    expect(await t.scheduler.engine.store.counts()).toEqual(before)
    await t.stop()
  })

  test('an unknown name is told with the one that was meant', async () => {
    const t = await createTestScheduler({ jobs: [ok, job('reports', { run })] })
    await expect(t.scheduler.trigger('report' as 'ok', undefined)).rejects.toThrow(
      'there is no job named report; did you mean reports?',
    )
    await t.stop()
  })
})
