// G3: one damaged record stops nobody. Schedules of one queue, each damaged in another way behind
// the back of a stopped service.

import { expect, test } from 'vitest'
import { damage, damageKinds, type DamageKind } from '../support/damage.ts'
import {
  eventually,
  freshStore,
  runCli,
  startService,
  type Service,
  type StoreKind,
} from './harness/index.ts'

const stores: readonly [StoreKind][] = [['sqlite'], ['postgres'], ['redis']]
const schedule = { cron: '* * * * * *', user_id: 'u', payload: {} }

async function create(service: Service): Promise<string> {
  const { status, body } = await service.request('POST', '/api/v1/fair/schedules', schedule)
  expect(status).toBe(201)
  return body['id'] as unknown as string
}

interface Planted {
  readonly url: string
  readonly healthy: readonly string[]
  readonly bad: ReadonlyMap<DamageKind, string>
}

/** A healthy schedule before and behind one for each kind of damage. */
async function plant(kind: StoreKind): Promise<Planted> {
  const url = await freshStore(kind)
  const service = await startService(['--store', url])
  const first = await create(service)
  const bad = new Map<DamageKind, string>()
  for (const one of damageKinds) bad.set(one, await create(service))
  const last = await create(service)
  await service.stop()
  for (const [one, id] of bad) await damage(url, id, one)
  return { url, healthy: [first, last], bad }
}

const lastRun = async (service: Service, id: string) =>
  (await service.request('GET', `/api/v1/fair/schedules/${id}`)).body['last_run']

/** In databases a row that is gone leaves nothing by which its job is known. */
const isGone = (kind: StoreKind, damaged: DamageKind) =>
  damaged === 'row missing' && kind !== 'redis'

test.each(stores)(
  'G3 H7 eleven damaged records on %s: the others fire, all is answered, and they are counted',
  async kind => {
    const { url, healthy, bad } = await plant(kind)
    const service = await startService(['--store', url])
    const before = await Promise.all(healthy.map(id => lastRun(service, id)))
    await eventually('healthy schedules fire', async () => {
      const now = await Promise.all(healthy.map(id => lastRun(service, id)))
      return now.every((at, i) => at !== before[i]) ? true : null
    })
    const metrics = await eventually('damage is counted', async () => {
      const text = (await service.request('GET', '/metrics')).body as unknown as string
      return /errors_total\{kind="record"\} [1-9]\d*/.exec(text)
    })
    expect(Number(/\d+$/.exec(metrics[0])![0])).toBeLessThanOrEqual(damageKinds.length)
    for (const path of [
      '/api/v1/fair/schedules',
      '/api/v1/fair/schedules/stats',
      '/api/v1/jobs',
      '/readyz',
    ]) {
      expect([path, (await service.request('GET', path)).status]).toEqual([path, 200])
    }
    const health = await service.request('GET', '/api/v1/fair/health')
    expect(health.status).toBe(200)
    const { record } = health.body['errors'] as unknown as { record: number }
    expect(record).toBeGreaterThan(0)
    const attention = await service.request('GET', '/api/v1/attention')
    expect(JSON.stringify(attention.body)).toContain('record is damaged')
    for (const [damaged, id] of bad) {
      const found = await service.request('GET', `/api/v1/jobs/${id}?form=native`)
      expect([damaged, found.status]).toEqual([damaged, isGone(kind, damaged) ? 404 : 200])
      if (found.status === 200) expect([damaged, found.body['status']]).toEqual([damaged, 'failed'])
      const edited = await service.request('PATCH', `/api/v1/jobs/${id}`, { name: 'x' })
      expect([damaged, edited.status < 500]).toEqual([damaged, true])
      const deleted = await service.request('DELETE', `/api/v1/jobs/${id}`)
      expect([damaged, deleted.status]).toEqual([damaged, isGone(kind, damaged) ? 404 : 204])
    }
    const errors = service.program.stderr.split('\n').filter(line => /"level":50/.test(line))
    expect(errors.length).toBeLessThan(30)
    await service.stop()
  },
)

test.each(stores)('G3 doctor on %s names eleven damaged records and mends them', async kind => {
  const { url, bad } = await plant(kind)
  const looked = await runCli(['doctor', '--store', url, '--json'])
  expect(looked.code).toBe(1)
  for (const [damaged, id] of bad) {
    if (!isGone(kind, damaged))
      expect([damaged, looked.stdout.includes(id)]).toEqual([damaged, true])
  }
  const repaired = await runCli(['doctor', '--store', url, '--repair', '--yes'])
  expect(repaired.code).toBe(0)
  const clean = await runCli(['doctor', '--store', url])
  expect(clean.code).toBe(0)
})
