// Damaged records: one row that does not decode stops nobody. It is set aside as failed, listed,
// counted, removable, and no claim meets it again.

import { describe, expect, it } from 'vitest'
import { isDamaged } from '../../../src/core/stored/damage.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimOne,
  claimRequest,
  failed,
  finish,
  job,
  newJob,
  readAll,
  T0,
} from '../../support/builders.ts'
import {
  besideKinds,
  damage,
  damageBeside,
  damageKinds,
  type DamageKind,
} from '../../support/damage.ts'
import { put, type Bench, type UseBench } from './bench.ts'

const everySecond = {
  trigger: {
    kind: 'cron',
    expression: '* * * * * *',
    zone: 'UTC',
    dialect: 'extended',
    dst: null,
  },
} as const

/** Readable all the same: what they say is for the core to refuse. */
const readable: readonly DamageKind[] = ['cron invalid', 'zone invalid']
const unreadable = damageKinds.filter(kind => !readable.includes(kind))

/** Three schedules, the middle one damaged; the handle has nothing of them in its memory. */
async function damaged(bench: Bench, kind: DamageKind): Promise<Store> {
  const { store, url, second } = bench
  const jobs = ['a', 'bad', 'z'].map(id => newJob({ id, spec: everySecond }))
  await put(store, ...jobs)
  await damage(url!, 'bad', kind)
  return second()
}

const due = T0 + 1_000
const take = (store: Store, limit: number) => store.claim(claimRequest({ now: due, limit }))

/** Claims that give nothing and yet leave something due would be made over and over. */
async function claimAll(store: Store, limit: number): Promise<string[]> {
  const ids: string[] = []
  for (let rounds = 0; rounds < 10; rounds++) {
    ids.push(...(await take(store, limit)).map(({ id }) => id))
    const next = await store.nextDueAt([{ queue: 'default', handler: 'work' }])
    if (next === null || next > due) return ids.sort()
  }
  throw new Error('something stays due for ever')
}

export function damageTests(bench: UseBench): void {
  const each = (
    kinds: readonly DamageKind[],
    title: string,
    body: (kind: DamageKind) => Promise<void>,
  ) => {
    it.each(kinds.map(kind => [kind]))(title, async kind => {
      // Memory has no records to damage.
      if (bench().store.kind !== 'memory') await body(kind)
      expect(bench().url === null).toBe(bench().store.kind === 'memory')
    })
  }

  describe('damaged records', () => {
    each(unreadable, '%s: healthy jobs of the queue are claimed, all at once', async kind => {
      const store = await damaged(bench(), kind)
      expect(await claimAll(store, 10)).toEqual(['a', 'z'])
    })

    each(unreadable, '%s: healthy jobs of the queue are claimed, one by one', async kind => {
      const store = await damaged(bench(), kind)
      expect(await claimAll(store, 1)).toEqual(['a', 'z'])
    })

    each(unreadable, '%s: with rules too', async kind => {
      const store = await damaged(bench(), kind)
      const claimed: string[] = []
      for (let i = 0; i < 3; i++) {
        const jobs = await store.claim(claimRequest({ now: due, limit: 2, hasLimits: true }))
        claimed.push(...jobs.map(({ id }) => id))
      }
      expect(claimed.sort()).toEqual(['a', 'z'])
    })

    each(unreadable, '%s: inserting and claiming in one step goes on', async kind => {
      const store = await damaged(bench(), kind)
      const made = job('new')
      const request = claimRequest({ now: due, limit: 10 })
      const { results, claimed } = await store.insert([made], { now: due, claim: request })
      expect(results).toEqual(['inserted'])
      expect(claimed.map(({ id }) => id).sort()).toEqual(['a', 'new', 'z'])
    })

    each(unreadable, '%s: is told once, with a reason', async kind => {
      const store = await damaged(bench(), kind)
      const told: string[] = []
      store.listen({
        onDamage: held => told.push(`${held.id}: ${held.lastError!.message}`),
      })
      await claimAll(store, 10)
      await claimAll(store, 10)
      await store.list({}, { limit: 10 })
      expect(told).toHaveLength(isGone(bench(), kind) ? 0 : 1)
    })

    each(unreadable, '%s: reads answer and show it as failed', async kind => {
      const store = await damaged(bench(), kind)
      const isLost = isGone(bench(), kind)
      for (let i = 0; i < 2; i++) {
        const { items } = await store.list({}, { limit: 10 })
        expect(items.map(({ id }) => id)).toEqual(isLost ? ['a', 'z'] : ['a', 'bad', 'z'])
        const [bad] = await store.get(['bad'])
        expect(bad === undefined).toBe(isLost)
        if (bad === undefined) continue
        expect(bad).toMatchObject({ state: 'failed', ended: { reason: 'damaged' }, lease: null })
        expect(bad.spec).toMatchObject({ tenant: 'default', queue: 'default', handler: 'work' })
      }
      const ended = await store.list({ states: ['failed'], kind: 'job' }, { limit: 10 })
      expect(ended.items.map(({ id }) => id)).toEqual(isLost ? [] : ['bad'])
      expect(await store.count({ search: 'bad' }, 10)).toBe(isLost ? 0 : 1)
      expect((await store.upcoming({ from: 0, until: due + 1, limit: 10 })).length).toBe(2)
      const { items } = await store.maintenance.dump({ limit: 100, cursor: null })
      expect(items.length >= 0).toBe(true)
      await store.prune({ now: due, limit: 100, endedTasksMax: 10 })
    })

    each(unreadable, '%s: counts stay right', async kind => {
      const store = await damaged(bench(), kind)
      if (isGone(bench(), kind)) return
      await store.list({}, { limit: 10 })
      const counts = await store.counts()
      const of = (state: string) =>
        counts.filter(one => one.state === state).reduce((sum, { count }) => sum + count, 0)
      expect([of('waiting'), of('failed'), of('running')]).toEqual([2, 1, 0])
    })

    each(unreadable, '%s: can be removed, seen before or not', async kind => {
      const store = await damaged(bench(), kind)
      expect(await store.remove(['bad'])).toEqual([!isGone(bench(), kind)])
      expect(await store.get(['bad'])).toEqual([])
      expect(await claimAll(store, 10)).toEqual(['a', 'z'])
      if (!isGone(bench(), kind)) {
        for (const fault of await store.maintenance.inspect(10))
          await store.maintenance.repair(fault)
        expect(await store.maintenance.inspect(10)).toEqual([])
      }
    })

    each(unreadable, '%s: while it runs, is not reaped over and over', async kind => {
      const { store, url, second } = bench()
      await put(
        store,
        newJob({ id: 'bad', spec: everySecond }),
        newJob({ id: 'z', spec: everySecond }),
      )
      expect(await claimAll(store, 10)).toEqual(['bad', 'z'])
      await damage(url!, 'bad', kind)
      const other = await second()
      const late = due + 60_000
      for (let i = 0; i < 3; i++) {
        const found = await other.overdue({ now: late, limit: 10 })
        expect(found.filter(held => !isDamaged(held)).map(({ id }) => id)).toEqual(['z'])
        if (i > 0) expect(found).toHaveLength(1)
      }
    })

    each(readable, '%s: is whole as a record', async kind => {
      const store = await damaged(bench(), kind)
      expect(await claimAll(store, 10)).toEqual(['a', 'bad', 'z'])
      expect((await store.get(['bad']))[0]!.state).toBe('running')
    })
  })
}

export function besideTests(bench: UseBench): void {
  describe('damaged texts beside the jobs', () => {
    it.each(besideKinds.map(kind => [kind]))('%s: reads, writes and dumps go on', async kind => {
      const { store, url, second } = bench()
      await put(store, job('a'))
      const ran = await claimOne(store, T0)
      const { token, attemptId } = ran.lease!
      const at = { jobId: 'a', token, fence: ran.counters.fence, attemptId }
      const line = { at: T0, level: 'info', message: 'm', fields: { n: 1 } } as const
      await store.report([{ ...at, checkpoint: { n: 1 }, lines: [line] }], T0)
      const write = { kind: 'k', key: 'x', value: 1, expireAt: null }
      await store.putRecords([{ ...write, expectedVersion: 0 }], T0)
      if (kind === 'attempt') await finish(store, ran, failed(), T0)
      if (store.kind === 'memory') return
      await damageBeside(url!, kind)
      const other = await second()
      const told: string[] = []
      other.listen({ onRecordDamage: entry => told.push(`${entry.kind} ${entry.key}`) })
      for (let i = 0; i < 2; i++) {
        await other.attempts({ jobId: 'a' }, { limit: 10 })
        await other.attempts({}, { limit: 10 })
        await other.ledger('a', { limit: 10 })
        await other.log(attemptId, { limit: 10 })
        await other.progress('a')
        await other.getRecords('k', ['x'], T0)
        await other.listRecords('k', { limit: 10 }, T0)
        await readAll(({ limit, cursor = null }) => other.maintenance.dump({ limit, cursor }))
      }
      expect(told).toEqual(kind === 'record' ? ['k x'] : [])
      expect(await other.getRecords('k', ['x'], T0)).toHaveLength(kind === 'record' ? 0 : 1)
      // What reads as not there can be made anew.
      const again = kind === 'record' ? 0 : 1
      expect(await other.putRecords([{ ...write, expectedVersion: again }], T0)).toEqual(['put'])
      if (kind === 'attempt') return
      expect(await other.report([{ ...at, checkpoint: { n: 2 } }], T0)).toEqual([true])
      expect((await other.progress('a'))!.checkpoint).toEqual({ n: 2 })
      await finish(other, ran, failed(), T0)
    })
  })
}

/** A row in a table of its own that is gone leaves nothing by which the job could be known. */
function isGone({ store }: Bench, kind: DamageKind): boolean {
  return kind === 'row missing' && store.kind !== 'redis'
}
