// Tests of schedules without waiting: `node --test examples/time-travel.test.mjs`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cron, every, job } from 'carillon'
import { createTestScheduler } from 'carillon/testing'

const backup = job('backup', {
  schedule: cron('30 2 * * *', { tz: 'Europe/Berlin' }),
  retry: { limit: 2, base: '1m' },
  run: () => 'stored',
})

test('a night without 02:30 still has its backup, once', async () => {
  const t = await createTestScheduler({ jobs: [backup], now: '2027-03-27T12:00:00Z' })
  await t.advance('48h')
  const nights = t.runs(backup).map(run => [run.scheduledFor.toISOString(), run.note])
  assert.deepEqual(nights, [
    ['2027-03-28T01:00:00.000Z', 'dst-gap-shifted'],
    ['2027-03-29T00:30:00.000Z', undefined],
  ])
  await t.stop()
})

test('a week down is made up for by one run', async () => {
  const t = await createTestScheduler({ jobs: [backup], now: '2026-11-16T12:00:00Z' })
  await t.crash()
  await t.advance('7d')
  await t.restart()
  await t.advance('1s')
  const [run, ...others] = t.runs(backup)
  assert.equal(run.trigger, 'catch-up')
  assert.equal(run.missed, 6)
  assert.deepEqual(others, [])
  await t.stop()
})

test('a failure is tried again after a minute, then after two', async () => {
  const t = await createTestScheduler({ jobs: [backup], now: '2026-11-16T12:00:00Z' })
  t.fail(backup, { times: 2 })
  await t.advance('1d')
  const tries = t.runs(backup).map(run => [run.attempt, run.status, run.lateMs / 60_000])
  assert.deepEqual(tries, [
    [1, 'failed', 0],
    [2, 'failed', 1],
    [3, 'succeeded', 3],
  ])
  await t.stop()
})

test('two processes share the work without doubling it', async () => {
  const often = job('often', { schedule: every('10s'), run: () => undefined })
  const t = await createTestScheduler({ jobs: [often] })
  const other = await t.fork()
  await t.advance('5m')
  assert.equal(t.runs(often).length, 30)
  await other.stop()
  await t.stop()
})
