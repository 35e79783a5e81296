// Questions no index answers look at a bounded number of rows, and lose nothing by it.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { change } from '../../../core/change.ts'
import type { Skip } from '../../../core/history/ledger.ts'
import { limits } from '../../../core/limits.ts'
import { settle } from '../../../core/run/settle.ts'
import { DAY, HOUR } from '../../../core/time.ts'
import {
  claimRequest,
  everyMinute,
  newJob,
  readAll,
  succeeded,
  T0,
  write,
} from '../../../../tests/support/builders.ts'
import { openSqliteInMemory } from '../../../../tests/support/sqlite.ts'
import type { OpenedStore } from '../../../../tests/support/stores.ts'

let opened: OpenedStore
const many = limits.scannedMax + 1_000

beforeEach(async () => {
  opened = await openSqliteInMemory(() => T0)
})

afterEach(() => opened.close())

/** The oldest job is of a tenant of its own; all others are of the big one. */
async function insertMany(dueAt = (i: number) => T0 + 1 + i): Promise<void> {
  const jobs = Array.from({ length: many }, (_, i) => {
    const isFirst = i === 0
    const trigger = { kind: 'once', at: isFirst ? T0 + DAY : dueAt(i) } as const
    const spec = { trigger, name: isFirst ? 'needle' : 'hay', tenant: isFirst ? 'small' : 'big' }
    return newJob({ id: isFirst ? 'first' : `job-${i}`, spec })
  })
  await opened.store.insert(jobs, { now: T0 })
}

/** Runs whatever is due, so that attempts are claimed and finished at that moment. */
async function runAll(now: number): Promise<number> {
  const { store } = opened
  let count = 0
  for (;;) {
    const claimed = await store.claim(claimRequest({ now, limit: 1_000 }))
    if (claimed.length === 0) return count
    count += claimed.length
    const steps = claimed.map(job => settle(job, { outcome: succeeded, startedAt: now }, now))
    await store.commit(steps, { now })
  }
}

describe('a search', () => {
  it('looks at a bounded number and goes on behind its cursor', async () => {
    const { store } = opened
    await insertMany()
    const page = { limit: 10, newestFirst: true }
    const first = await store.list({ search: 'needle' }, page)
    expect(first.items).toEqual([])
    expect(first.cursor).not.toBeNull()
    const all = await readAll(given => store.list({ search: 'needle' }, given), page)
    expect(all.map(job => job.id)).toEqual(['first'])
  })

  it('gives whole pages to callers that count, and counts alike', async () => {
    const { store } = opened
    await insertMany()
    const page = { limit: 10, newestFirst: true, offset: 0 }
    const found = await store.list({ search: 'needle' }, page)
    expect(found.items.map(job => job.id)).toEqual(['first'])
    expect(await store.count({ search: 'needle' }, 10)).toBe(1)
    expect(await store.count({ search: 'hay' }, many)).toBe(many - 1)
  })
})

describe('attempts of a tenant', () => {
  it('are found behind the many of others', async () => {
    const { store } = opened
    await insertMany(() => T0 + 2 * DAY)
    expect(await runAll(T0 + DAY)).toBe(1)
    expect(await runAll(T0 + 2 * DAY)).toBe(many - 1)
    const first = await store.attempts({ tenant: 'small' }, { limit: 10 })
    expect(first.items).toEqual([])
    expect(first.cursor).not.toBeNull()
    const all = await readAll(page => store.attempts({ tenant: 'small' }, page), { limit: 10 })
    expect(all.map(attempt => attempt.jobId)).toEqual(['first'])
    const counted = await store.attempts({ tenant: 'small' }, { limit: 10, offset: 0 })
    expect(counted.items).toEqual(all)
    const big = await readAll(page => store.attempts({ tenant: 'big' }, page), { limit: 250 })
    expect(big).toHaveLength(many - 1)
  })

  it('are not sought where none can be: a question about lately ends early', async () => {
    const { store } = opened
    await insertMany()
    await runAll(T0 + DAY)
    const since = T0 + DAY + limits.timeoutMsMax + HOUR + 1
    const page = await store.attempts({ tenant: 'small', since }, { limit: 10 })
    expect(page).toEqual({ items: [], cursor: null })
    const until = T0 + DAY - HOUR - 1
    const up = await store.attempts({ until }, { limit: 10, newestFirst: false })
    expect(up).toEqual({ items: [], cursor: null })
  })
})

describe('upcoming', () => {
  const ahead = { from: T0, until: T0 + 2 * DAY }

  it('tells a small tenant what is ahead, whatever others have', async () => {
    const { store } = opened
    await insertMany()
    const found = await store.upcoming({ ...ahead, tenant: 'small', limit: 10 })
    expect(found.map(job => job.id)).toEqual(['first'])
  })

  it('is in order over many bites of a line', async () => {
    const { store } = opened
    await insertMany(i => T0 + 1 + ((i * 7_919) % many))
    const found = await store.upcoming({ ...ahead, tenant: 'big', limit: 1_000 })
    const dues = found.map(job => job.dueAt!)
    expect(dues).toEqual([...dues].sort((a, b) => a - b))
    expect(new Set(found.map(job => job.id)).size).toBe(1_000)
  })

  it('looks at a bounded number of jobs', async () => {
    const { store } = opened
    await insertMany()
    const found = await store.upcoming({ ...ahead, limit: many })
    expect(found).toHaveLength(limits.scannedMax)
  })
})

describe('retention', () => {
  it('takes a bounded number of skips at a time: the process stands still meanwhile', async () => {
    const { store } = opened
    const spec = { ...everyMinute, retention: { attempts: 5, ageMs: DAY } }
    const held = newJob({ id: 'a', spec })
    await store.insert([held], { now: T0 })
    const skips = Array.from({ length: 25 }, (_, i): Skip => {
      const from = T0 - 9 * DAY + i * HOUR
      return { jobId: 'a', from, to: from, count: 1, reason: 'missed' }
    })
    await write(store, change(held, held, T0, { skips }), T0)
    for (const left of [15, 5, 0]) {
      const { isFull } = await store.prune({ now: T0, limit: 1, endedTasksMax: 9 })
      expect(isFull).toBe(left > 0)
      expect((await store.ledger('a', { limit: 99 })).items).toHaveLength(left)
    }
  })
})
