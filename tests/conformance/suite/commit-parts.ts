// A change has parts (attempt, skips, inserts, records): all of them are written or none.

import { describe, expect, it } from 'vitest'
import { begin } from '../../../src/core/run/begin.ts'
import type { Change } from '../../../src/core/change.ts'
import type { Job } from '../../../src/core/job.ts'
import type { RecordWrite } from '../../../src/core/record.ts'
import { settle } from '../../../src/core/run/settle.ts'
import { MINUTE } from '../../../src/core/time.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimOne,
  commitOne,
  everyMinute,
  job,
  newJob,
  readAll,
  succeeded,
  T0,
} from '../../support/builders.ts'
import { allJobs, heldIn, note, put, stored, type UseBench } from './bench.ts'

const END = T0 + 10 * MINUTE

/** A run that overlapped nine firings, with a task and records of its own to write. */
async function busyChange(store: Store, records: readonly RecordWrite[]): Promise<Change> {
  await put(store, newJob({ id: 'a', now: T0 - MINUTE, spec: everyMinute }))
  const claimed = await claimOne(store, T0)
  const step = settle(claimed, { outcome: succeeded, startedAt: T0 }, END)
  const task = newJob({ id: 'a@1', kind: 'task', seriesId: 'a', now: END })
  return { ...step, inserts: [task], records }
}

async function everything(store: Store) {
  return {
    ...(await heldIn(store, END)),
    ledger: await readAll(page => store.ledger('a', page)),
  }
}

export function commitPartTests(bench: UseBench): void {
  partTests(bench)
  insertTests(bench)
}

function partTests(bench: UseBench): void {
  describe('the parts of a change', () => {
    it('are all written when it is committed', async () => {
      const { store } = bench()
      const step = await busyChange(store, [note('r1'), note('r2', null)])
      expect(step.skips).toHaveLength(1)
      expect(await commitOne(store, step, END)).toBe('committed')
      const { jobs, attempts, ledger, records } = await everything(store)
      expect(jobs).toEqual([step.job, ...step.inserts])
      expect(attempts).toEqual([step.attempt])
      expect(ledger.map(entry => entry.decision)).toEqual(['run', 'skip'])
      expect(records.map(held => held.key)).toEqual(['r1', 'r2'])
    })

    it.each(['version', 'token', 'record'] as const)(
      'leave no trace when the %s does not match',
      async broken => {
        const { store } = bench()
        await store.putRecords([note('taken')], T0)
        const good = await busyChange(store, [note('r1')])
        const bad: Change = {
          ...good,
          ...(broken === 'version' ? { expectedVersion: good.expectedVersion - 1 } : {}),
          ...(broken === 'token' ? { token: 'other' } : {}),
          ...(broken === 'record' ? { records: [note('r1'), note('taken')] } : {}),
        }
        const before = await everything(store)
        expect(await commitOne(store, bad, END)).toBe('conflict')
        expect(await everything(store)).toEqual(before)
        expect(await commitOne(store, good, END)).toBe('committed')
      },
    )

    it('leave no trace when an insert finds its queue full', async () => {
      const { store } = bench()
      const step = await busyChange(store, [note('r1')])
      await put(store, job('waiting'))
      const before = await everything(store)
      expect((await store.commit([step], { now: END, waitingMax: 1 })).results).toEqual(['full'])
      expect(await everything(store)).toEqual(before)
      expect((await store.commit([step], { now: END, waitingMax: 2 })).results).toEqual([
        'committed',
      ])
    })

    it('leave the other changes of the batch alone', async () => {
      const { store } = bench()
      const step = await busyChange(store, [note('taken')])
      await store.putRecords([note('taken')], T0)
      const other = newJob({ id: 'b', spec: { queue: 'x' } })
      await put(store, other)
      const held = await claimOne(store, END, { queue: 'x' })
      const fine = settle(held, { outcome: succeeded, startedAt: END }, END)
      expect((await store.commit([step, fine], { now: END })).results).toEqual([
        'conflict',
        'committed',
      ])
      expect((await stored(store, 'b')).state).toBe('completed')
      expect((await stored(store, 'a')).state).toBe('running')
    })

    it('may write and remove records in one step', async () => {
      const { store } = bench()
      await store.putRecords([note('old')], T0)
      const gone: RecordWrite = { ...note('old', 1), value: null, remove: true }
      const step = await busyChange(store, [gone, note('new')])
      expect(await commitOne(store, step, END)).toBe('committed')
      const keys = (await everything(store)).records.map(held => held.key)
      expect(keys).toEqual(['new'])
    })
  })
}

async function detachedStep(store: Store): Promise<{ series: Job; step: Change }> {
  const overlap = { policy: 'allow' } as const
  await put(store, newJob({ id: 's', now: T0 - MINUTE, spec: { ...everyMinute, overlap } }))
  const series = await claimOne(store, T0)
  return { series, step: begin(series, T0).change! }
}

function insertTests(bench: UseBench): void {
  describe('detached occurrences', () => {
    it('are inserted with the step of their schedule, and are due', async () => {
      const { store } = bench()
      const { step } = await detachedStep(store)
      expect(step.inserts).toHaveLength(1)
      expect(await commitOne(store, step, T0)).toBe('committed')
      const task = await claimOne(store, T0)
      expect(task).toMatchObject({ id: step.inserts[0]!.id, kind: 'task', seriesId: 's' })
      expect(await stored(store, 's')).toEqual(step.job)
    })

    it('that exist already are left as they are', async () => {
      const { store } = bench()
      const { step } = await detachedStep(store)
      const there = { ...step.inserts[0]!, spec: { ...step.inserts[0]!.spec, name: 'first' } }
      await put(store, there)
      expect((await store.commit([step], { now: T0, waitingMax: 1 })).results).toEqual([
        'committed',
      ])
      expect(await stored(store, there.id)).toEqual(there)
      expect(await allJobs(store)).toHaveLength(2)
    })

    it('go to a full queue only when it has no bound', async () => {
      const { store } = bench()
      const { step } = await detachedStep(store)
      await put(store, job('waiting'))
      expect((await store.commit([step], { now: T0, waitingMax: 1 })).results).toEqual(['full'])
      expect(await store.get([step.inserts[0]!.id])).toEqual([])
      expect((await store.commit([step], { now: T0, waitingMax: null })).results).toEqual([
        'committed',
      ])
    })
  })
}
