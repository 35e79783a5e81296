// tenants: who has jobs, and how many in which state.

import { describe, expect, it } from 'vitest'
import { editJob } from '../../../src/core/control/edit.ts'
import { ENDED_TASK_KEPT_MS } from '../../../src/core/limits.ts'
import {
  claimOne,
  everyMinute,
  finish,
  job,
  newJob,
  readAll,
  succeeded,
  T0,
  write,
} from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'

export function tenantTests(bench: UseBench): void {
  const told = () => readAll(page => bench().store.tenants(page))

  describe('tenants', () => {
    it('are told with their jobs by state, over queues, handlers and kinds', async () => {
      const { store } = bench()
      await put(store, job('x', { tenant: 't1' }), newJob({ kind: 'task', spec: { tenant: 't2' } }))
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await put(store, job('y', { tenant: 't1', queue: 'q' }), job('z', { tenant: 't1' }))
      expect(await told()).toEqual([
        { tenant: 't1', counts: { completed: 1, waiting: 2 } },
        { tenant: 't2', counts: { waiting: 1 } },
      ])
    })

    it('are nobody while there are no jobs', async () => {
      expect(await told()).toEqual([])
    })

    it('are left out once they have no job any more', async () => {
      const { store } = bench()
      const task = newJob({ id: 'a', kind: 'task', spec: { tenant: 'pruned' } })
      await put(store, task)
      await finish(store, await claimOne(store, T0), succeeded, T0)
      await put(store, job('b', { tenant: 'removed' }), job('c', { ...everyMinute, tenant: 'old' }))
      await store.prune({ now: T0 + ENDED_TASK_KEPT_MS, limit: 9, endedTasksMax: 9 })
      await store.remove(['b'])
      const [held] = await store.get(['c'])
      await write(store, editJob(held!, { ...held!.spec, tenant: 'new' }, T0)!, T0)
      expect(await told()).toEqual([{ tenant: 'new', counts: { waiting: 1 } }])
    })

    it('come in the order of their names by code units, page by page, both ways', async () => {
      const { store } = bench()
      const names = ['b', 'B', 'ü', '10', '9', 'a b', '\uE000', '😀', 'a']
      await put(store, ...names.map(tenant => job(`of ${tenant}`, { tenant })))
      const sorted = ['10', '9', 'B', 'a', 'a b', 'b', 'ü', '😀', '\uE000']
      for (const limit of [1, 4, 9, 10]) {
        const read = await readAll(page => store.tenants(page), { limit })
        expect(read.map(held => held.tenant)).toEqual(sorted)
        const back = await readAll(page => store.tenants(page), { limit, newestFirst: true })
        expect(back.map(held => held.tenant)).toEqual([...sorted].reverse())
      }
      expect((await store.tenants({ limit: 9 })).cursor).toBeNull()
      expect((await store.tenants({ limit: 8 })).cursor).not.toBeNull()
    })
  })
}
