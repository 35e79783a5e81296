// G1: a store that is slower than the lease is not a crash, and the node says what is wrong.

import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/compose.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { FaultProxy } from '../support/servers/proxy.ts'
import { eventually, freshStore, startProgram, startService } from './harness/index.ts'

const LEASE_MS = 1_500
/** Each way: a round trip takes more than two thirds of the lease. */
const DELAY_MS = 600

async function slowPlace() {
  const url = await freshStore('postgres')
  const { hostname, port } = new URL(url)
  const proxy = await FaultProxy.to({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  return { url, proxy, through: proxy.through(url) }
}

const node = `
import { createScheduler, every, job } from 'carillon'
const names = ['a', 'b', 'c', 'd']
const jobs = names.map(name => job(name, { schedule: every(300), run: async () => {
  await new Promise(resolve => setTimeout(resolve, 20))
  console.log(JSON.stringify({ ran: name }))
} }))
const s = await createScheduler({ jobs, store: process.env.STORE, lockDurationMs: ${LEASE_MS},
  staleLockCheckMs: 300, checkIntervalMs: 300, print: () => {} }).start()
console.log('started')
process.on('SIGTERM', () => s.stop(100).then(() => process.exit(0)))`

test('G1 jobs on a store slower than the lease are neither crashed nor set aside', async () => {
  const { url, proxy, through } = await slowPlace()
  const nodes = [1, 2].map(() => startProgram(node, { env: { STORE: through } }))
  for (const one of nodes) await one.waitFor(/started/)
  await nodes[0]!.waitFor(/"ran"/)
  await proxy.set({ kind: 'slow', delayMs: DELAY_MS })
  for (const one of nodes) await one.waitFor(/claims take too long for the lease/)
  await new Promise(resolve => systemClock.after(4_000, () => resolve(null)))
  await proxy.set({ kind: 'pass' })
  const store = await openStore(url, { now: () => systemClock.now(), listens: false })
  onTestFinished(() => store.close())
  const since = await store.now()
  await eventually('every job runs again', async () => {
    const { items } = await store.attempts({ since, outcomes: ['succeeded'] }, { limit: 200 })
    return new Set(items.map(({ jobId }) => jobId)).size === 4 ? true : null
  })
  const { items: crashed } = await store.attempts({ outcomes: ['abandoned'] }, { limit: 200 })
  expect(crashed).toEqual([])
  const { items: jobs } = await store.list({}, { limit: 50 })
  expect(jobs.map(({ crashes }) => crashes)).toEqual([0, 0, 0, 0])
  for (const one of nodes) {
    expect(one.stderr.match(/claims take too long/g)).toHaveLength(1)
    await one.kill('SIGTERM')
  }
})

test('G1 a service whose claims come too late is not ready, says why, and recovers', async () => {
  const { proxy, through } = await slowPlace()
  const service = await startService(
    ['--store', through, '--lock-duration', `${LEASE_MS}ms`, '--check-interval', '300ms'],
    { config: `export default { handlers: { quick: () => 1 } }` },
  )
  const made = await service.request('POST', '/api/v1/jobs', {
    name: 'quick',
    handler: 'quick',
    trigger: { every: '1s' },
  })
  expect(made.status).toBe(201)
  expect((await service.request('GET', '/readyz')).status).toBe(200)
  await proxy.set({ kind: 'slow', delayMs: DELAY_MS })
  const reasons = await eventually('not ready', async () => {
    const { status, body } = await service.request('GET', '/readyz')
    const codes = ((body as unknown as { reasons?: { code: string }[] }).reasons ?? []).map(
      ({ code }) => code,
    )
    return status === 503 && codes.length > 0 ? codes : null
  })
  expect(reasons).toContain('claims_late')
  const { body } = await service.request('GET', '/api/v1/attention')
  expect(JSON.stringify(body)).toContain('claims take too long for the lease')
  await proxy.set({ kind: 'pass' })
  await eventually('ready', async () =>
    (await service.request('GET', '/readyz')).status === 200 ? true : null,
  )
  await service.stop()
})
