// While outcomes cannot be written nothing new is claimed, finished runs keep their leases, and the
// node says that it is not ready; then it goes on with every run counted once.

import { expect, test } from 'vitest'
import { eventually } from '../../tests/support/servers/wait.ts'
import { systemIds } from '../compose.ts'
import type { Change } from '../core/change.ts'
import { SchedulerError } from '../core/errors.ts'
import { completeSpec } from '../core/spec.ts'
import { createEngine } from '../create-engine.ts'
import { systemClock } from '../runtime/clock.ts'
import { MemoryStore } from '../store/memory/store.ts'
import type { ClaimRequest, CommitOptions } from '../store/port.ts'

/** As Redis near its limit: small writes pass, outcomes do not. */
class Full extends MemoryStore {
  isFull = true
  claimed: string[] = []

  override async commit(changes: readonly Change[], options: CommitOptions) {
    if (this.isFull) throw new SchedulerError('STORE_FULL', 'no room')
    return super.commit(changes, options)
  }

  override async claim(request: ClaimRequest) {
    const jobs = await super.claim(request)
    this.claimed.push(...jobs.map(({ id }) => id))
    return jobs
  }
}

const task = (id: string) => {
  const trigger = { kind: 'once', at: systemClock.now() } as const
  return { id, kind: 'task' as const, spec: completeSpec({ handler: 'work', trigger }) }
}

test('outcomes that cannot be written stop claims, and nobody takes their runs for crashed', async () => {
  const store = new Full(() => systemClock.now())
  await store.open()
  const settings = {
    nodeId: 'n',
    leaseMs: 600,
    cancelCheckMs: 50,
    reapMs: 100,
    checkIntervalMs: 50,
  }
  const engine = createEngine({ store, clock: systemClock, ids: systemIds(), settings })
  const ran: string[] = []
  engine.handlers.set('work', async ({ job }) => void ran.push(job.id))
  await engine.node.start()
  await engine.client.create([task('a')])
  await eventually('trouble', () => (engine.troubles.has('outcomes_unwritten') ? true : null))
  expect(engine.troubles.isBlocked).toBe(true)
  await engine.client.create([task('b')])
  // Renewed beyond its first end: otherwise others would have taken it over.
  const until = async () => (await store.get(['a']))[0]!.lease?.until ?? 0
  const end = await until()
  await eventually('renewed', async () => {
    const now = await until()
    return now > end + 600 && systemClock.now() > end ? true : null
  })
  expect(ran).toEqual(['a'])
  store.isFull = false
  await eventually('both are done', async () => {
    const jobs = await store.get(['a', 'b'])
    return jobs.every(({ state }) => state === 'completed') ? true : null
  })
  expect(engine.troubles.isBlocked).toBe(false)
  expect(ran).toEqual(['a', 'b'])
  const { items } = await store.attempts({}, { limit: 10 })
  expect(items.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded'])
  await engine.node.stop()
})
