// An atomic commit: new jobs, changes and removals as one step, with records; any refusal leaves no trace.

import { describe, expect, it } from 'vitest'
import type { Removal } from '../../../src/core/change.ts'
import { archiveJob } from '../../../src/core/control/control.ts'
import { editJob } from '../../../src/core/control/edit.ts'
import type { Job } from '../../../src/core/job.ts'
import { limits } from '../../../src/core/limits.ts'
import { settle } from '../../../src/core/run/settle.ts'
import type { Bundle, Refusal, Store } from '../../../src/store/port.ts'
import {
  applyBundle,
  claimIds,
  claimOne,
  commitOne,
  everyMinute,
  job,
  newJob,
  succeeded,
  T0,
} from '../../support/builders.ts'
import { allJobs, heldIn, note, put, sortedCounts, stored, type UseBench } from './bench.ts'

const nothing: Bundle = { inserts: [], changes: [], removes: [] }
const NOW = { now: T0 }

function removal({ id, version }: Job): Removal {
  return { id, expectedVersion: version }
}

/** Another payload, so that nothing else of the job moves. */
function edit(held: Job, payload = 'new') {
  return editJob(held, { ...held.spec, payload }, T0)!
}

async function everything(store: Store) {
  return {
    ...(await heldIn(store, T0)),
    counts: sortedCounts(await store.counts()),
    paused: await store.pausedQueues(),
  }
}

/** Three jobs that wait, one that runs, and a step that would replace them by others. */
async function full(store: Store): Promise<{ bundle: Bundle; running: Job }> {
  await put(store, job('a'), job('b', everyMinute), job('c'), job('r', { handler: 'slow' }))
  const running = await claimOne(store, T0, { handlers: ['slow'] })
  const bundle = {
    inserts: [job('n1'), job('n2', { ...everyMinute, queue: 'other' })],
    changes: [edit(await stored(store, 'a')), edit(running)],
    removes: [removal(await stored(store, 'b')), removal(await stored(store, 'c'))],
  }
  return { bundle, running }
}

export function applyTests(bench: UseBench): void {
  wholeTests(bench)
  refusalTests(bench)
  boundTests(bench)
  againTests(bench)
}

function wholeTests(bench: UseBench): void {
  describe('an atomic commit', () => {
    it('inserts, changes and removes in one step, with its records', async () => {
      const { store } = bench()
      const { bundle, running } = await full(store)
      const step = { ...bundle, changes: [edit(await stored(store, 'a')), bundle.changes[1]!] }
      expect(await applyBundle(store, step, { ...NOW, records: [note('one')] })).toEqual([])
      const { jobs, records, counts } = await everything(store)
      expect(jobs.map(({ id }) => id)).toEqual(['a', 'r', 'n1', 'n2'])
      expect(jobs.slice(0, 2)).toEqual(bundle.changes.map(change => change.job))
      expect(jobs.slice(2)).toEqual(bundle.inserts)
      expect(records.map(({ key }) => key)).toEqual(['one'])
      expect(
        counts.map(({ queue, handler, state, count }) => [queue, handler, state, count]),
      ).toEqual([
        ['default', 'slow', 'running', 1],
        ['default', 'work', 'waiting', 2],
        ['other', 'work', 'waiting', 1],
      ])
      expect(await claimIds(store, T0)).toEqual(['a', 'n1'])
      const settled = settle(bundle.changes[1]!.job, { outcome: succeeded, startedAt: T0 }, T0)
      expect(running.lease).not.toBeNull()
      expect(await commitOne(store, settled, T0)).toBe('committed')
    })

    it('does nothing when there is nothing to do', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const before = await everything(store)
      expect(await applyBundle(store, nothing, NOW)).toEqual([])
      expect(await everything(store)).toEqual(before)
    })

    it('removes a running job, whose holder finds it gone', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      expect(await applyBundle(store, { ...nothing, removes: [removal(held)] }, NOW)).toEqual([])
      const late = settle(held, { outcome: succeeded, startedAt: T0 }, T0)
      expect(await commitOne(store, late, T0)).toBe('missing')
      expect(await everything(store)).toMatchObject({ jobs: [], attempts: [], counts: [] })
    })

    it('ends a running job with the attempt of its change', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      const change = archiveJob(held, T0)
      expect(await applyBundle(store, { ...nothing, changes: [change] }, NOW)).toEqual([])
      expect(await stored(store, 'a')).toEqual(change.job)
      expect((await everything(store)).attempts).toEqual([change.attempt])
      expect(await store.overdue({ now: T0 + 1e9, limit: 10 })).toEqual([])
    })

    it('keeps many jobs in the order given', async () => {
      const { store } = bench()
      const names = Array.from({ length: 250 }, (_, i) => `j${i}`)
      expect(
        await applyBundle(store, { ...nothing, inserts: names.map(id => job(id)) }, NOW),
      ).toEqual([])
      const changes = (await allJobs(store)).map(held => edit(held))
      expect(await applyBundle(store, { ...nothing, changes }, NOW)).toEqual([])
      const jobs = await allJobs(store)
      expect(jobs).toEqual(changes.map(change => change.job))
      expect(await applyBundle(store, { ...nothing, removes: jobs.map(removal) }, NOW)).toEqual([])
      expect(await allJobs(store)).toEqual([])
    })
  })
}

type Breaking = (store: Store, bundle: Bundle) => Promise<void>

const breakers: Record<string, { break: Breaking; refused: readonly Refusal[] }> = {
  'a new id is taken': {
    break: store => put(store, job('n2')),
    refused: [{ part: 'insert', id: 'n2', reason: 'exists' }],
  },
  'a job changed meanwhile': {
    break: async store => {
      await store.commit([edit(await stored(store, 'a'), 'theirs')], NOW)
    },
    refused: [{ part: 'change', id: 'a', reason: 'conflict' }],
  },
  'a job to change is gone': {
    break: async store => {
      await store.remove(['a'])
    },
    refused: [{ part: 'change', id: 'a', reason: 'missing' }],
  },
  'a job to remove changed meanwhile': {
    break: async store => {
      await store.commit([edit(await stored(store, 'c'), 'theirs')], NOW)
    },
    refused: [{ part: 'remove', id: 'c', reason: 'conflict' }],
  },
  'a job to remove is gone': {
    break: async store => {
      await store.remove(['b'])
    },
    refused: [{ part: 'remove', id: 'b', reason: 'missing' }],
  },
  'a lease was renewed': {
    break: async (store, { changes }) => {
      const { id, lease, counters } = changes[1]!.job
      const leases = [{ id, token: lease!.token, fence: counters.fence }]
      await store.renew({ leases, until: T0 + 60_000 })
    },
    refused: [{ part: 'change', id: 'r', reason: 'conflict' }],
  },
  'a record is there already': {
    break: async store => {
      await store.putRecords([note('one')], T0)
    },
    refused: [{ part: 'record', id: '', reason: 'conflict' }],
  },
}

function refusalTests(bench: UseBench): void {
  describe('an atomic commit writes nothing', () => {
    it.each(Object.keys(breakers))('when %s', async name => {
      const { store } = bench()
      const { bundle } = await full(store)
      const { break: breaks, refused } = breakers[name]!
      await breaks(store, bundle)
      const before = await everything(store)
      expect(await applyBundle(store, bundle, { ...NOW, records: [note('one')] })).toEqual(refused)
      expect(await everything(store)).toEqual(before)
      // What the refused step had begun must not show in what follows either.
      await put(store, job('later'))
      expect(await claimIds(store, T0)).toContain('later')
    })

    it('and names everything that is in its way', async () => {
      const { store } = bench()
      const { bundle } = await full(store)
      await put(store, job('n1'))
      await store.remove(['a', 'c'])
      expect(await applyBundle(store, bundle, NOW)).toEqual([
        { part: 'remove', id: 'c', reason: 'missing' },
        { part: 'change', id: 'a', reason: 'missing' },
        { part: 'insert', id: 'n1', reason: 'exists' },
      ])
    })

    it('when a record of a change is there already', async () => {
      const { store } = bench()
      const { bundle } = await full(store)
      await store.putRecords([note('one')], T0)
      const changes = bundle.changes.map(change => ({ ...change, records: [note('one')] }))
      const before = await everything(store)
      const refusals = await applyBundle(store, { ...bundle, changes: changes.slice(0, 1) }, NOW)
      expect(refusals).toEqual([{ part: 'change', id: 'a', reason: 'conflict' }])
      expect(await everything(store)).toEqual(before)
    })

    it('when it names a job twice', async () => {
      const { store } = bench()
      const { bundle } = await full(store)
      const before = await everything(store)
      const twice = { ...bundle, inserts: [job('n1'), job('n1'), job('b')] }
      expect(await applyBundle(store, twice, NOW)).toEqual([
        { part: 'insert', id: 'n1', reason: 'conflict' },
        { part: 'insert', id: 'b', reason: 'conflict' },
      ])
      expect(await everything(store)).toEqual(before)
    })

    it('when it holds too much for one step', async () => {
      const { store } = bench()
      const removes = Array.from({ length: limits.bundleMax + 1 }, (_, i) => ({
        id: `j${i}`,
        expectedVersion: 1,
      }))
      await expect(applyBundle(store, { ...nothing, removes }, NOW)).rejects.toMatchObject({
        code: 'SPEC_INVALID',
        problems: [{ field: 'jobs', value: limits.bundleMax + 1 }],
      })
    })
  })
}

function boundTests(bench: UseBench): void {
  describe('an atomic commit to a queue with a bound', () => {
    it('is refused when the queue would hold more in the end', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'))
      const before = await everything(store)
      const inserts = [job('n1'), job('n2', { queue: 'other' }), job('n3')]
      const options = { ...NOW, waitingMax: 3 }
      expect(await applyBundle(store, { ...nothing, inserts }, options)).toEqual([
        { part: 'insert', id: 'n1', reason: 'full' },
        { part: 'insert', id: 'n3', reason: 'full' },
      ])
      expect(await everything(store)).toEqual(before)
      expect(
        await applyBundle(store, { ...nothing, inserts: inserts.slice(0, 2) }, options),
      ).toEqual([])
    })

    it('counts what it removes, moves away and brings along', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'))
      const [a, b] = [await stored(store, 'a'), await stored(store, 'b')]
      const moved = editJob(a, { ...a.spec, queue: 'other' }, T0)!
      const bundle = {
        inserts: [newJob({ id: 'n1' }), newJob({ id: 'n2' })],
        changes: [moved],
        removes: [removal(b)],
      }
      expect(await applyBundle(store, bundle, { ...NOW, waitingMax: 1 })).toHaveLength(2)
      expect(await applyBundle(store, bundle, { ...NOW, waitingMax: 2 })).toEqual([])
      const task = newJob({ id: 'a@1', kind: 'task', seriesId: 'a' })
      const changes = [{ ...edit(moved.job), inserts: [task] }]
      expect(await applyBundle(store, { ...nothing, changes }, { ...NOW, waitingMax: 2 })).toEqual([
        { part: 'insert', id: 'a@1', reason: 'full' },
      ])
      expect(await applyBundle(store, { ...nothing, changes }, { ...NOW, waitingMax: 3 })).toEqual(
        [],
      )
      expect((await allJobs(store)).map(({ id }) => id)).toEqual(['a', 'n1', 'n2', 'a@1'])
    })
  })
}

function againTests(bench: UseBench): void {
  describe('an atomic commit again', () => {
    it('has a result for each change only when it is written', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'))
      const changes = (await allJobs(store)).map(held => edit(held))
      const options = { ...NOW, atomic: {} }
      const answer = await store.commit(changes, options)
      expect(answer).toEqual({ results: ['committed', 'committed'], refusals: [] })
      const conflict = { part: 'change', reason: 'conflict' }
      expect(await store.commit(changes, options)).toEqual({
        results: [],
        refusals: [
          { ...conflict, id: 'a' },
          { ...conflict, id: 'b' },
        ],
      })
    })

    it('changes nothing when the answer to the first was lost', async () => {
      const { store } = bench()
      const { bundle } = await full(store)
      const options = { ...NOW, records: [note('one')] }
      expect(await applyBundle(store, bundle, options)).toEqual([])
      const before = await everything(store)
      const refusals = await applyBundle(store, bundle, options)
      expect(refusals.map(({ part, id, reason }) => `${part} ${id} ${reason}`)).toEqual([
        'remove b missing',
        'remove c missing',
        'change a conflict',
        'change r conflict',
        'insert n1 exists',
        'insert n2 exists',
        'record  conflict',
      ])
      expect(await everything(store)).toEqual(before)
    })

    it('by many at once is done by one of them', async () => {
      const { store, second } = bench()
      const others = [store, await second(), store, await second()]
      const { bundle } = await full(store)
      const answers = await Promise.all(others.map(one => applyBundle(one, bundle, NOW)))
      expect(answers.filter(refusals => refusals.length === 0)).toHaveLength(1)
      expect((await allJobs(store)).map(({ id }) => id)).toEqual(['a', 'r', 'n1', 'n2'])
    })

    it('while jobs are claimed never takes one of two halves', async () => {
      const { store, second } = bench()
      const names = Array.from({ length: 20 }, (_, i) => `j${i}`)
      await put(store, ...names.map(id => job(id)))
      const jobs = await allJobs(store)
      const half = { ...nothing, inserts: [job('n')], removes: jobs.map(removal) }
      const claimant = await second()
      const [refusals, claimed] = await Promise.all([
        applyBundle(store, half, NOW),
        claimIds(claimant, T0, { limit: 5 }),
      ])
      const left = (await allJobs(store)).map(({ id }) => id)
      if (refusals.length === 0) {
        expect(left).toEqual(['n'])
        expect(claimed.every(id => id === 'n')).toBe(true)
      } else {
        expect(left).toEqual(names)
        // Rows that the commit holds while it looks at them are passed over.
        expect(claimed.length).toBeGreaterThan(0)
      }
    })
  })
}
