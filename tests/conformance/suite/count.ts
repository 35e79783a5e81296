// count: how many jobs match, up to a number.

import { describe, expect, it } from 'vitest'
import type { JobFilter } from '../../../src/store/port.ts'
import { claimIds, job, newJob, T0 } from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'
import { filterCases, variedJobs } from './list.ts'

export function countUpToTests(bench: UseBench): void {
  describe('count', () => {
    it.each(filterCases)('says how many jobs match, by %s', async (_, filter, expected) => {
      const { store } = bench()
      await variedJobs(store)
      expect(await store.count(filter, 100)).toBe(expected.length)
    })

    it('stops at the number given, however it counts', async () => {
      const { store } = bench()
      const spec = { tenant: 't1', name: 'same' }
      const jobs = Array.from({ length: 12 }, (_, i) =>
        newJob({ id: `id-${i}`, kind: 'task', seriesId: 's', spec }),
      )
      await put(store, ...jobs)
      const filters: JobFilter[] = [{}, { tenant: 't1' }, { seriesId: 's' }, { search: 'same' }]
      for (const filter of filters) {
        expect(await store.count(filter, 12)).toBe(12)
        expect(await store.count(filter, 11)).toBe(11)
        expect(await store.count(filter, 1)).toBe(1)
      }
    })

    it('is exact for one tenant, also while states change', async () => {
      const { store } = bench()
      await put(store, job('a', { tenant: 't1' }), job('b', { tenant: 't1' }), job('c'))
      await claimIds(store, T0, { limit: 3 })
      expect(await store.count({ tenant: 't1', states: ['running'] }, 10)).toBe(2)
      expect(await store.count({ tenant: 't1', states: ['waiting'] }, 10)).toBe(0)
      expect(await store.count({ tenant: 't1', queue: 'x' }, 10)).toBe(0)
      await store.remove(['a'])
      expect(await store.count({ tenant: 't1', handler: 'work', kind: 'job' }, 10)).toBe(1)
    })
  })
}
