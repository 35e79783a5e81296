// A whole store moved to another: what the copy holds, what is refused, what broke off.

import { describe, expect, it } from 'vitest'
import { copyStore, type CopyEnd, type CopyProgress } from '../../src/copy/copy.ts'
import { entryTypes } from '../../src/core/stored/entry.ts'
import { NODE_KIND } from '../../src/core/record.ts'
import { MINUTE } from '../../src/core/time.ts'
import type { Maintenance } from '../../src/store/maintenance.ts'
import type { Store } from '../../src/store/port.ts'
import { claimOne, claimRequest, everyMinute, newJob, T0 } from '../support/builders.ts'
import { dumpOf, fillRich, sorted } from '../support/rich.ts'
import { place, serversMissing, type StoreName } from './places.ts'

/** The lease that the rich story leaves open has ended by then. */
const LATER = T0 + MINUTE
const clock = () => LATER

async function rich(kind: StoreName): Promise<CopyEnd> {
  const end = await place(kind, clock)
  await fillRich(end.store)
  return end
}

const kinds = ['memory', 'sqlite'] as const

describe('a copy', () => {
  it.each(kinds.flatMap(a => kinds.map(b => [a, b] as const)))(
    'of %s into %s holds the same, with what dead nodes left due again',
    async (a, b) => {
      const from = await rich(a)
      const to = await place(b, clock)
      const before = sorted(await dumpOf(from.store))
      const report = await copyStore({ from, to, batch: 3 })
      expect(report).toMatchObject({ abandoned: 1, isContinued: false, leftOut: 0 })
      expect(sorted(await dumpOf(from.store))).toEqual(before)
      // All but the run of the dead node: its job, its attempt.
      const held = (text: string) => text.includes('"held"')
      const copied = sorted(await dumpOf(to.store))
      expect(copied.filter(text => !held(text))).toEqual(before.filter(text => !held(text)))
      const [job] = await to.store.get(['held'])
      expect(job).toMatchObject({ state: 'waiting', dueAt: LATER, crashes: 1, lease: null })
      expect((await claimOne(to.store, LATER, { queue: 'told' })).id).toBe('held')
      expect(await to.store.pausedQueues()).toEqual(['closed'])
      // S1: the writer of actions made it, and a copy is as good.
      const [action] = await to.store.get(['due-11'])
      expect(action!.spec).toMatchObject({ handler: 'action:http', isAction: true })
    },
  )

  it('tells how far it is, type by type', async () => {
    const from = await rich('sqlite')
    const told: CopyProgress[] = []
    const to = await place('memory', clock)
    const { sums } = await copyStore({ from, to, batch: 5, onProgress: told.push.bind(told) })
    const counts = Object.fromEntries(entryTypes.map(type => [type, sums[type].count]))
    for (const phase of ['counting', 'copying', 'checking', 'comparing'] as const) {
      const steps = told.filter(progress => progress.phase === phase)
      expect(steps.at(-1)!.done).toEqual(counts)
      expect(steps.at(-1)!.total).toEqual(phase === 'counting' ? null : counts)
      const jobs = steps.map(({ done }) => done.job)
      expect(jobs).toEqual([...jobs].sort((x, y) => x - y))
    }
  })

  it('leaves a store empty that came from an empty one', async () => {
    const [from, to] = [await place('memory', clock), await place('sqlite', clock)]
    const report = await copyStore({ from, to })
    expect(Object.values(report.sums).every(({ count }) => count === 0)).toBe(true)
    expect(await dumpOf(to.store)).toEqual([])
  })

  it('leaves the nodes of the source behind', async () => {
    const from = await rich('memory')
    const record = { kind: NODE_KIND, key: 'gone', value: {}, expectedVersion: null }
    await from.store.putRecords([{ ...record, expireAt: LATER }], T0)
    const to = await place('memory', clock)
    await copyStore({ from, to })
    expect(await to.store.listRecords(NODE_KIND, { limit: 9 }, T0)).toMatchObject({ items: [] })
  })
})

describe.skipIf(serversMissing !== null)('over real servers', () => {
  it('what goes all the way round is what it was', { timeout: 120_000 }, async () => {
    const first = await rich('sqlite')
    const ends: CopyEnd[] = [first]
    // The first step settles what the dead node left; from there on nothing changes.
    for (const kind of ['sqlite', 'postgres', 'redis', 'sqlite', 'memory'] as const) {
      ends.push(await place(kind, clock))
    }
    const sums = []
    for (const [i, to] of ends.slice(1).entries()) {
      sums.push((await copyStore({ from: ends[i]!, to, batch: 7 })).sums)
    }
    const reference = sorted(await dumpOf(ends[1]!.store))
    for (const { store, name } of ends.slice(2)) {
      expect({ name, dump: sorted(await dumpOf(store)) }).toEqual({ name, dump: reference })
    }
    for (const later of sums.slice(2)) expect(later).toEqual(sums[1])
  })
})

describe('a copy is refused', () => {
  it('into a store that holds anything', async () => {
    const from = await rich('memory')
    const to = await place('sqlite', clock)
    await to.store.setQueuePaused('mine', true)
    await expect(copyStore({ from, to })).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' })
    await expect(copyStore({ from, to, force: true })).rejects.toThrow(`${to.name} is not empty`)
    expect(await dumpOf(to.store)).toHaveLength(1)
  })

  it('while a node is at work on the source', async () => {
    const from = await rich('memory')
    const to = await place('memory', clock)
    const record = { kind: NODE_KIND, key: 'node-1', value: {}, expectedVersion: null }
    await from.store.putRecords([{ ...record, expireAt: LATER + 1 }], T0)
    const refused = copyStore({ from, to })
    await expect(refused).rejects.toMatchObject({ code: 'STORE_IN_USE' })
    await expect(refused).rejects.toThrow('node "node-1" until 2026-01-05T12:01:00.001Z')
    expect(await dumpOf(to.store)).toEqual([])
  })

  it('while a node is at work on the target', async () => {
    const from = await rich('memory')
    const to = await place('memory', clock)
    const record = { kind: NODE_KIND, key: 'node-2', value: {}, expectedVersion: null }
    await to.store.putRecords([{ ...record, expireAt: LATER + 1 }], T0)
    await expect(copyStore({ from, to })).rejects.toThrow(`${to.name} is in use: node "node-2"`)
  })

  it('while a lease on the source holds, unless told', async () => {
    const from = await place('memory', clock)
    await from.store.insert([newJob({ id: 'a' })], { now: T0 })
    await from.store.claim(claimRequest({ now: LATER, leaseMs: 1_000 }))
    const to = await place('sqlite', clock)
    await expect(copyStore({ from, to })).rejects.toMatchObject({ code: 'STORE_IN_USE' })
    const report = await copyStore({ from, to, force: true })
    expect(report).toMatchObject({ abandoned: 0, hasChanged: false })
    // Its holder is alive: it is taken over only when the lease ends.
    expect(await to.store.overdue({ now: LATER + 999, limit: 9 })).toEqual([])
    expect(await to.store.overdue({ now: LATER + 1_000, limit: 9 })).toHaveLength(1)
  })
})

/** A store whose connection breaks at a call of one method, after so many that went well. */
function breaking(
  { store, name }: CopyEnd,
  max: number,
  method: keyof Store | keyof Maintenance = 'load',
): CopyEnd {
  let calls = 0
  const broken = <T extends object>(whole: T): T =>
    new Proxy(whole, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target)
        if (key === 'maintenance') return broken(store.maintenance)
        if (typeof member !== 'function') return member
        return (...given: unknown[]): unknown => {
          if (key === method && calls++ >= max) throw new Error('the connection broke')
          return Reflect.apply(member, target, given)
        }
      },
    })
  return { store: broken(store), name }
}

describe('a copy that broke off', () => {
  it.each([1, 2, 4, 8, 12])('after %i batches is continued to the same end', async loads => {
    const from = await rich('sqlite')
    const [to, whole] = [await place('sqlite', clock), await place('memory', clock)]
    await copyStore({ from, to: whole })
    const broken = copyStore({ from, to: breaking(to, loads), batch: 4 })
    await expect(broken).rejects.toThrow('the connection broke')
    const report = await copyStore({ from, to })
    expect(report).toMatchObject({ isContinued: true, abandoned: 1 })
    expect(sorted(await dumpOf(to.store))).toEqual(sorted(await dumpOf(whole.store)))
  })

  it.each([
    ['commit', 0],
    ['putRecords', 0],
    ['putRecords', 1],
    ['putRecords', 2],
    ['putRecords', 3],
    ['setQueuePaused', 2],
    ['setQueuePaused', 9],
    ['setQueuePaused', 13],
    ['dump', 15],
  ] as const)('at %s, after %i, is continued to the same end', async (method, max) => {
    const from = await rich('memory')
    const [to, whole] = [await place('sqlite', clock), await place('memory', clock)]
    await copyStore({ from, to: whole })
    const broken = copyStore({ from, to: breaking(to, max, method), batch: 4 })
    await expect(broken).rejects.toThrow('the connection broke')
    await copyStore({ from, to })
    expect(sorted(await dumpOf(to.store))).toEqual(sorted(await dumpOf(whole.store)))
  })

  it('gives nothing to claim until it is finished', async () => {
    const from = await rich('memory')
    const to = await place('sqlite', clock)
    const broken = copyStore({ from, to: breaking(to, 12), batch: 4 })
    await expect(broken).rejects.toThrow('the connection broke')
    const request = claimRequest({ queue: 'lanes', now: LATER, limit: 3 })
    expect(await to.store.claim(request)).toEqual([])
    await copyStore({ from, to })
    expect(await to.store.claim(request)).toHaveLength(3)
  })

  it('was stopped by its caller and goes on', async () => {
    const from = await rich('memory')
    const to = await place('memory', clock)
    const stop = new AbortController()
    const onProgress = ({ phase, done }: CopyProgress) => {
      if (phase === 'copying' && done.attempt > 0) stop.abort()
    }
    const stopped = copyStore({ from, to, batch: 4, onProgress, signal: stop.signal })
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
    expect(await copyStore({ from, to })).toMatchObject({ isContinued: true })
  })

  it('is continued by the same copy only', async () => {
    const [from, other] = [await rich('memory'), await rich('memory')]
    const to = await place('memory', clock)
    await expect(copyStore({ from, to: breaking(to, 3) })).rejects.toThrow('the connection broke')
    const refused = copyStore({ from: other, to })
    await expect(refused).rejects.toThrow(`${to.name} holds an unfinished copy of ${from.name}`)
  })

  it('ends in an error when the source went on meanwhile', async () => {
    const from = await rich('memory')
    const to = await place('memory', clock)
    await expect(copyStore({ from, to: breaking(to, 6) })).rejects.toThrow('the connection broke')
    const [job] = await from.store.claim(claimRequest({ queue: 'lanes', now: T0 + 99 }))
    expect(job!.lease!.until).toBeLessThan(LATER)
    await expect(copyStore({ from, to })).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' })
  })
})

/** A source on which something happens once its jobs were read. */
function busy(end: CopyEnd, happen: (store: Store) => Promise<void>) {
  let isOver = false
  const onProgress = ({ phase, done }: CopyProgress) => {
    if (phase !== 'copying' || done.attempt === 0 || isOver) return
    isOver = true
    void happen(end.store)
  }
  return onProgress
}

describe('a source that is written to meanwhile', () => {
  const insert = async (store: Store) => {
    const late = newJob({ id: 'late', now: LATER, spec: everyMinute })
    await store.insert([late], { now: LATER })
  }

  it('makes the copy fail, its queues held', async () => {
    const from = await rich('memory')
    const to = await place('memory', clock)
    const copying = copyStore({ from, to, batch: 4, onProgress: busy(from, insert) })
    await expect(copying).rejects.toMatchObject({ code: 'STORE_DIFFERS' })
    expect(await to.store.pausedQueues()).toContain('lanes')
  })

  it('is copied as it was read, if told to', async () => {
    const from = await rich('memory')
    const to = await place('memory', clock)
    const input = { from, to, batch: 4, force: true, onProgress: busy(from, insert) }
    expect(await copyStore(input)).toMatchObject({ hasChanged: true })
    expect(await to.store.pausedQueues()).toEqual(['closed'])
  })
})
