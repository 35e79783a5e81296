// Schedules made while running take every policy of a job, and keys of any length make valid ids.

import { expect, test } from 'vitest'
import * as z from 'zod'
import { cron, every, job } from '../../src/index.ts'
import { createTestScheduler } from '../../src/testing/index.ts'

test('T7 schedule() takes every policy a job takes; they win over those of the definition', async () => {
  const send = job('send', {
    overlap: 'allow',
    timeout: '5m',
    tags: ['all'],
    title: 'Send',
    queue: 'mail',
    retry: { limit: 9 },
    run: () => null,
  })
  const t = await createTestScheduler({ jobs: [send], defaults: { grace: '5s' } })
  const base = { when: every('1m', { jitter: '2s' }), input: undefined }
  const plain = await t.scheduler.schedule('send', { key: 'plain', ...base })
  const own = await t.scheduler.schedule('send', {
    key: 'own',
    ...base,
    overlap: { queue: 3 },
    missed: 'skip',
    grace: '7s',
    lateLimit: '1h',
    retry: { limit: 1, delay: 'fixed', base: '3s', exhausted: 'next' },
    timeout: false,
    priority: 'high',
    queue: 'slow',
    tenant: 'acme',
    user: 'ana',
    firstRun: 'now',
    retention: { runs: 5, for: '1d' },
    tags: ['acme'],
    title: 'Send for Acme',
    description: 'hourly',
  })
  const [kept, changed] = await t.scheduler.engine.store.get([plain.id, own.id])
  expect(kept!.spec).toMatchObject({
    overlap: { policy: 'allow' },
    timeoutMs: 300_000,
    graceMs: 5_000,
    tags: ['all'],
    queue: 'mail',
    jitterMs: 2_000,
    retry: { limit: 9 },
    metadata: { title: 'Send' },
  })
  expect(changed!.spec).toMatchObject({
    overlap: { policy: 'queue', limit: 3 },
    missed: { policy: 'skip' },
    graceMs: 7_000,
    lateLimitMs: 3_600_000,
    retry: { limit: 1, backoff: { kind: 'fixed', delayMs: 3_000 }, exhausted: 'next' },
    timeoutMs: null,
    priority: 4,
    queue: 'slow',
    tenant: 'acme',
    lane: 'acme/ana',
    first: 'now',
    retention: { attempts: 5, ageMs: 86_400_000 },
    tags: ['acme'],
    metadata: { title: 'Send for Acme', description: 'hourly' },
  })
  await t.stop()
})

test('T7 a schedule called again without a policy has that of its definition again', async () => {
  const send = job('send', { overlap: 'allow', run: () => null })
  const t = await createTestScheduler({ jobs: [send] })
  const options = { key: 'k', when: cron('0 8 * * *', { tz: 'UTC' }), input: undefined }
  await t.scheduler.schedule('send', { ...options, overlap: 'skip' })
  const { id } = await t.scheduler.schedule('send', options)
  expect((await t.scheduler.jobs.get(id)).spec.overlap).toEqual({ policy: 'allow' })
  await t.stop()
})

test('T7 a chain of 1,000 triggers that pass on their idempotency key ends', async () => {
  const ids: string[] = []
  const step = job('process-order-step', {
    input: z.number(),
    run: async (n, context): Promise<void> => {
      ids.push(context.run.id)
      if (n === 1_000) return
      const { idempotencyKey } = context
      await t.scheduler.trigger('process-order-step', n + 1, { idempotencyKey })
      // The same key makes the same run, hashed or not.
      await t.scheduler.trigger('process-order-step', n + 1, { idempotencyKey })
    },
  })
  const t = await createTestScheduler({ jobs: [step], app: 'shop' })
  await t.scheduler.trigger('process-order-step', 1, { idempotencyKey: 'order-7' })
  while (ids.length < 1_000) await t.advance('1s')
  await t.advance('1m')
  expect(ids).toHaveLength(1_000)
  expect(new Set(ids).size).toBe(1_000)
  expect(ids[0]).toBe('default:shop:process-order-step:order-7!.1')
  expect(ids[1]).toBe(
    'default:shop:process-order-step:default%3Ashop%3Aprocess-order-step%3Aorder-7!.1!.1',
  )
  await t.stop()
})

test('T7 messages show long ids without their middle', async () => {
  const t = await createTestScheduler({ jobs: [job('fail', { retry: false, run: fail })] })
  const run = await t.scheduler.trigger('fail', undefined, { idempotencyKey: 'k'.repeat(300) })
  const error = await t.during(run.result()).catch((thrown: Error) => thrown)
  expect(error.message).toMatch(/^run default:default:fail:k+…k+!\.1 failed: no$/)
  expect(error.message.length).toBeLessThan(120)
  await t.stop()
})

function fail(): never {
  throw new Error('no')
}
