// Every field of a job is read back as it was written, on every path that reads jobs.

import { describe, expect, it } from 'vitest'
import { cancelJob } from '../../../src/core/control/control.ts'
import { change } from '../../../src/core/change.ts'
import type { Job, Pause, RunRequest } from '../../../src/core/job.ts'
import type { Json } from '../../../src/core/json.ts'
import type { JobSpec } from '../../../src/core/spec.ts'
import { DAY, INSTANT_MAX } from '../../../src/core/time.ts'
import type { Trigger } from '../../../src/core/schedule/trigger.ts'
import { claimOne, job, newJob, onRequest, T0, write } from '../../support/builders.ts'
import { allJobs, put, stored, type UseBench } from './bench.ts'

const LARGE = Number.MAX_SAFE_INTEGER
const oddText = 'q"\'`\\ \n\t\u0001 ö 日本 😀 \u2028 %_ NULL'

const payload: Json = {
  '': null,
  [oddText]: oddText,
  numbers: [0, -1, 0.1, 1e308, 5e-324, LARGE, -LARGE],
  nested: [[[{ a: [{ b: { c: [true, false, null] } }] }]]],
  empty: [{}, [], ''],
  date: '2026-01-05T12:00:00.000Z',
}

const declared = { app: 'shop ö', definition: "it's", key: '{"a":1}', generation: '2026-11-15' }
const pause: Pause = { at: T0, until: T0 + 1_000, note: oddText }

function request(id: string, more: Partial<RunRequest> = {}): RunRequest {
  return {
    id,
    kind: 'manual',
    dueAt: T0 + 5,
    occurrence: T0 - 5,
    to: null,
    payload: undefined,
    run: 3,
    attempt: 1,
    failures: 2,
    failingSince: T0 - 9,
    retryOf: null,
    ...more,
  }
}

const fullSpec: JobSpec = {
  ...job('x').spec,
  name: oddText,
  payload,
  tenant: 'tenant ö',
  lane: 'tenant ö\u0001user',
  priority: 6,
  trigger: { kind: 'cron', expression: '*/5 * * * *', zone: 'UTC', dialect: 'extended', dst: null },
  first: 'now',
  startAt: T0 - 1,
  endAt: INSTANT_MAX,
  runLimit: 1_000_000_000,
  jitterMs: 999,
  missed: { policy: 'all', max: 1_000, maxAgeMs: 366 * DAY },
  overlap: { policy: 'queue', limit: 100 },
  retry: {
    limit: null,
    backoff: { kind: 'exponential', baseMs: 1, maxMs: 9, jitter: 0.123456789 },
    resetAfterMs: 12,
    exhausted: 'wait',
    yields: true,
  },
  lateLimitMs: 77,
  timeoutMs: null,
  tags: ['a', 'ö', ''],
  metadata: { owner: { team: 'x' }, list: [1] },
}

/** Waiting, with every part that can be set on a waiting row. */
function fullJob(): Job {
  const plain = newJob({ id: oddText, kind: 'task', seriesId: 'sériès', declared, spec: fullSpec })
  return {
    ...plain,
    waitingFor: 'retry',
    dueAt: T0,
    nextAt: T0 - 60_000,
    retryAt: T0,
    floor: T0 - 1,
    backlog: 42,
    missed: 31_536_000,
    current: { run: 9, attempt: 4, failures: 3, failingSince: T0 - 8, retryOf: 2 },
    serving: 'r2',
    requests: [
      request('r1'),
      request('r2', { payload: null }),
      request('r3', { payload, kind: 'retry', retryOf: 1 }),
      request('r4', { kind: 'backfill', to: T0 + 9, run: 0, attempt: 0, failingSince: null }),
    ],
    crashes: 4,
    counters: { runs: 2 ** 40, attempts: 2 ** 41, fence: LARGE - 1, concluded: 12 },
    totals: {
      succeeded: 1,
      failed: 2,
      cancelled: 3,
      other: 4,
      skipped: LARGE,
      durationMs: LARGE - 1,
    },
    hold: {
      attemptId: 'ä-1',
      owner: oddText,
      until: T0,
      isStillRunning: true,
      waitsFor: { name: oddText, since: T0 },
    },
    pauseAsked: pause,
    last: { startedAt: T0 - 3, finishedAt: T0 - 2, outcome: 'timedOut', succeededAt: T0 - 99 },
    lastError: { name: 'Ö', message: oddText, stack: 'a\nb' },
    createdAt: T0 - 1,
    updatedAt: T0 - 1,
    revision: 17,
    version: 33,
  }
}

export function fieldTests(bench: UseBench): void {
  insertedFields(bench)
  committedFields(bench)
  triggerFields(bench)
}

function insertedFields(bench: UseBench): void {
  describe('fields of an inserted job', () => {
    it('are read back by get, list and claim', async () => {
      const { store, second } = bench()
      const full = fullJob()
      await put(store, full)
      expect(await stored(store, full.id)).toEqual(full)
      expect(await allJobs(await second())).toEqual([full])
      const claimed = await claimOne(store, T0)
      expect(claimed).toEqual({
        ...full,
        state: 'running',
        dueAt: null,
        lease: claimed.lease,
        counters: { ...full.counters, attempts: 2 ** 41 + 1, fence: LARGE },
        version: 34,
      })
      expect(await stored(await second(), full.id)).toEqual(claimed)
      expect(await store.overdue({ now: T0 + DAY, limit: 1 })).toEqual([claimed])
    })

    it('keep a payload of null apart from none in requests', async () => {
      const { store } = bench()
      await put(store, fullJob())
      const { requests } = await stored(store, fullJob().id)
      expect(requests.map(held => held.payload)).toEqual([undefined, null, payload, undefined])
      expect(requests[1]!.payload).toBeNull()
    })

    it('are read back when nothing optional is set', async () => {
      const { store } = bench()
      const bare = job('a', { ...onRequest, timeoutMs: null })
      await put(store, bare)
      expect(await stored(store, 'a')).toEqual(bare)
    })

    it.each<[string, Json]>([
      ['null', null],
      ['a text', ''],
      ['a number', 0],
      ['a truth value', false],
      ['a list', []],
      ['a text with a zero character', 'a\u0000b'],
      ['a large text', 'x'.repeat(60_000)],
    ])('may hold %s as payload', async (_, value) => {
      const { store } = bench()
      await put(store, job('a', { payload: value }))
      expect((await claimOne(store, T0)).spec.payload).toEqual(value)
    })
  })
}

function committedFields(bench: UseBench): void {
  describe('fields of a committed job', () => {
    it('are read back with everything set, paused', async () => {
      const { store } = bench()
      const plain = newJob({ id: oddText, kind: 'task', seriesId: 'sériès' })
      await put(store, plain)
      const target: Job = {
        ...fullJob(),
        createdAt: plain.createdAt,
        state: 'paused',
        dueAt: null,
        pause,
      }
      const step = change(plain, target, T0 + 1, { specChanged: true })
      const written = await write(store, step, T0 + 1)
      expect(written.declared).toEqual(declared)
      expect(await stored(store, plain.id)).toEqual(written)
      expect(await store.overdue({ now: pause.until!, limit: 1 })).toEqual([written])
    })

    it('are read back with everything set, ended', async () => {
      const { store } = bench()
      const full = fullJob()
      await put(store, full)
      const target: Job = {
        ...full,
        state: 'failed',
        dueAt: null,
        ended: { at: T0, reason: 'crash_loop' },
        expireAt: INSTANT_MAX,
      }
      const written = await write(store, change(full, target, T0), T0)
      expect(await stored(store, full.id)).toEqual(written)
    })

    it('are read back with the reason a person gave for an end', async () => {
      const { store } = bench()
      const plain = newJob()
      await put(store, plain)
      const written = await write(store, cancelJob(plain, 'zu spät \0 "x"', T0), T0)
      expect(written.ended?.note).toBe('zu spät \0 "x"')
      expect(await stored(store, plain.id)).toEqual(written)
    })

    it('are read back when every optional one is taken away again', async () => {
      const { store } = bench()
      const full = fullJob()
      await put(store, full)
      const bare = newJob({ id: full.id, kind: 'task', seriesId: 'sériès', spec: onRequest })
      const step = change(full, { ...bare, createdAt: full.createdAt }, T0, { specChanged: true })
      const written = await write(store, step, T0)
      expect(await stored(store, full.id)).toEqual(written)
    })
  })
}

const triggers: Trigger[] = [
  { kind: 'once', at: INSTANT_MAX },
  { kind: 'once', at: 0 },
  { kind: 'interval', everyMs: 1, from: 'schedule', anchor: null },
  { kind: 'interval', everyMs: 366 * DAY, from: 'schedule', anchor: -5 },
  { kind: 'interval', everyMs: 1_500, from: 'start', anchor: null },
  { kind: 'interval', everyMs: 1_500, from: 'finish', anchor: null },
  {
    kind: 'cron',
    expression: '0 0 12 * * 1#2',
    zone: 'Europe/Berlin',
    dialect: 'extended',
    dst: { gap: 'skip', fold: 'both' },
  },
  { kind: 'manual' },
]

function triggerFields(bench: UseBench): void {
  describe('triggers', () => {
    it('of every kind are read back', async () => {
      const { store } = bench()
      const jobs = triggers.map((trigger, i) => job(`job-${i}`, { trigger }))
      await put(store, ...jobs)
      expect(await allJobs(store)).toEqual(jobs)
    })
  })
}
