// G5: trouble of the store is told, and nothing is acknowledged that would be lost.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { askRedis, startRedis } from '../support/servers/redis.ts'
import { eventually, runCli, startService, workFolder, type Service } from './harness/index.ts'

const schedule = { cron: '* * * * * *', user_id: 'u', payload: {} }
const create = (service: Service) => service.request('POST', '/api/v1/fair/schedules', schedule)

async function untilStatus(service: Service, status: number): Promise<string> {
  return eventually(`/readyz answers ${status}`, async () => {
    const answer = await service.request('GET', '/readyz')
    return answer.status === status ? JSON.stringify(answer.body) : null
  })
}

const attention = async (service: Service) =>
  JSON.stringify((await service.request('GET', '/api/v1/attention')).body)

async function ownRedis() {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  return { server, store: `${server.url}?namespace=first-month` }
}

test('G5 H7 a locked SQLite file: health answers, writes wait, it is told and counted', async () => {
  const path = join(workFolder(), 'carillon.db')
  const service = await startService(['--store', `sqlite:${path}`])
  expect((await create(service)).status).toBe(201)
  const other = openDatabase(path)
  onTestFinished(() => other.close())
  other.exec('pragma busy_timeout = 2000')
  other.exec('begin immediate')
  const waiting = create(service)
  let slowest = 0
  const until = Date.now() + 2_000
  while (Date.now() < until) {
    const began = Date.now()
    expect((await service.request('GET', '/healthz')).status).toBe(200)
    slowest = Math.max(slowest, Date.now() - began)
  }
  // Five times the bound of 50 ms, and what two busy cores add.
  expect(slowest).toBeLessThan(1_000)
  other.exec('rollback')
  expect((await waiting).status).toBe(201)
  other.exec('begin immediate')
  // The first call that fails gives the code: a claim, or the write of an outcome. Both name the cause.
  expect(await untilStatus(service, 503)).toMatch(/store_locked|outcomes_unwritten/)
  expect(await attention(service)).toContain('locked by another process')
  const health = await service.request('GET', '/api/v1/fair/health')
  expect(Number((health.body['errors'] as Record<string, unknown>)['claim'])).toBeGreaterThan(0)
  other.exec('rollback')
  await untilStatus(service, 200)
  expect(await attention(service)).not.toContain('locked by another process')
  await service.stop()
})

test('G5 a SQLite file that is deleted: not ready, an error, and nothing is acknowledged', async () => {
  const path = join(workFolder(), 'carillon.db')
  const service = await startService(['--store', `sqlite:${path}`])
  expect((await create(service)).status).toBe(201)
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  expect((await create(service)).status).toBe(503)
  expect(await untilStatus(service, 503)).toContain('store_lost')
  expect(await attention(service)).toContain('restore a backup')
  expect(service.program.stderr).toMatch(/deleted/)
  await service.program.kill()
})

test('G5 a SQLite file whose log is deleted: not ready, and a stop loses nothing', async () => {
  const path = join(workFolder(), 'carillon.db')
  const service = await startService(['--store', `sqlite:${path}`])
  expect((await create(service)).status).toBe(201)
  rmSync(`${path}-wal`)
  expect((await create(service)).status).toBe(503)
  expect(await untilStatus(service, 503)).toContain('store_lost')
  await service.stop()
  const listed = await runCli(['list', '--store', `sqlite:${path}`, '--json'])
  expect(listed.stdout.match(/"id"/g)).toHaveLength(1)
})

test('G5 a Redis server that is flushed: not ready, an error, and nothing is acknowledged', async () => {
  const { server, store } = await ownRedis()
  const service = await startService(['--store', store])
  expect((await create(service)).status).toBe(201)
  await askRedis(server.url, 'FLUSHALL')
  expect((await create(service)).status).toBe(503)
  expect(await untilStatus(service, 503)).toContain('store_lost')
  expect(await attention(service)).toContain('lost its marker')
  await service.program.kill()
})

test('G5 a flushed Redis that a command opened anew: services stay not ready until restarted', async () => {
  const { server, store } = await ownRedis()
  const services = await Promise.all([1, 2].map(() => startService(['--store', store])))
  for (const service of services) expect((await create(service)).status).toBe(201)
  await askRedis(server.url, 'FLUSHALL')
  expect((await runCli(['list', '--store', store])).code).toBe(0)
  for (const service of services) {
    expect((await create(service)).status).toBe(503)
    expect(await untilStatus(service, 503)).toContain('store_lost')
    expect(await attention(service)).toContain('restart this process')
  }
  expect((await runCli(['list', '--store', store, '--json'])).stdout).not.toContain('"id"')
  for (const service of services) await service.program.kill()
  const again = await Promise.all([1, 2].map(() => startService(['--store', store])))
  for (const service of again) {
    await untilStatus(service, 200)
    expect((await create(service)).status).toBe(201)
    await service.stop()
  }
})

test('G5 a Redis namespace without its marker: every open says what to do, doctor adopts', async () => {
  const { server, store } = await ownRedis()
  const service = await startService(['--store', store])
  expect((await create(service)).status).toBe(201)
  await service.stop()
  await askRedis(server.url, 'DEL', '{first-month}:meta')
  const listed = await runCli(['list', '--store', store])
  expect(listed.code).not.toBe(0)
  expect(listed.stderr).toContain('doctor --repair')
  expect((await runCli(['doctor', '--store', store])).code).toBe(1)
  expect((await runCli(['doctor', '--store', store, '--repair', '--yes'])).code).toBe(0)
  const after = await runCli(['list', '--store', store, '--json'])
  expect(after.code).toBe(0)
  expect(after.stdout).toContain('"id"')
})

test('G5 Redis at maxmemory: told, not ready, nothing set aside, and on it goes', async () => {
  const { server, store } = await ownRedis()
  const service = await startService(['--store', store, '--lock-duration', '2s'])
  const id = (await create(service)).body['id'] as unknown as string
  await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory', '1mb')
  expect(await untilStatus(service, 503)).toContain('store_full')
  expect((await create(service)).status).toBe(503)
  expect(await attention(service)).toContain('no room left')
  await askRedis(server.url, 'CONFIG', 'SET', 'maxmemory', '0')
  await untilStatus(service, 200)
  expect((await create(service)).status).toBe(201)
  const { body } = await service.request('GET', `/api/v1/fair/schedules/${id}`)
  expect(body['is_active']).toBe(true)
  expect((await service.request('GET', '/metrics')).body).not.toMatch(
    /outcome="abandoned"[^\n]* [1-9]/,
  )
  await service.stop()
})

test('G5 doctor on a malformed SQLite file says to restore a backup', async () => {
  const folder = workFolder({ 'carillon.db': `SQLite format 3\0${'x'.repeat(8_000)}` })
  const { code, stdout, stderr } = await runCli([
    'doctor',
    '--store',
    `sqlite:${join(folder, 'carillon.db')}`,
  ])
  expect(code).not.toBe(0)
  expect(stdout + stderr).toContain('restore a backup')
})
