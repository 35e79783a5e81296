// dump: everything that is kept, in pages.

import { describe, expect, it } from 'vitest'
import { entryTypes } from '../../../src/core/stored/entry.ts'
import { finish, succeeded, T0 } from '../../support/builders.ts'
import { claimOne, job } from '../../support/builders.ts'
import { dumpOf, fillRich, sorted } from '../../support/rich.ts'
import { openMemory } from '../../support/stores.ts'
import { allJobs, put, type UseBench } from './bench.ts'

export function dumpTests(bench: UseBench): void {
  describe('dump', () => {
    it('tells nothing of an empty store', async () => {
      expect(await dumpOf(bench().store)).toEqual([])
    })

    it('tells what the reference tells of the same history', async () => {
      const { store } = bench()
      const reference = await openMemory(() => T0)
      await fillRich(store)
      await fillRich(reference.store)
      const told = await dumpOf(store)
      expect(new Set(told.map(entry => entry.type))).toEqual(new Set(entryTypes))
      expect(sorted(told)).toEqual(sorted(await dumpOf(reference.store)))
    })

    it('tells the same in pages of any size, on any handle', async () => {
      const { store, second } = bench()
      await fillRich(store)
      const whole = await dumpOf(store, 1_000)
      for (const limit of [1, 2, 7]) expect(await dumpOf(await second(), limit)).toEqual(whole)
    })

    it('tells jobs in the order of creation, before what belongs to them', async () => {
      const { store } = bench()
      await fillRich(store)
      const told = await dumpOf(store)
      const jobs = told.flatMap(entry => (entry.type === 'job' ? [entry.job] : []))
      expect(jobs).toEqual(await allJobs(store))
      const types = told.map(entry => entryTypes.indexOf(entry.type))
      expect(types).toEqual([...types].sort((a, b) => a - b))
    })

    it('tells nothing of what was removed', async () => {
      const { store } = bench()
      await put(store, job('a'))
      const held = await claimOne(store, T0)
      const { token, attemptId } = held.lease!
      const lines = [{ at: T0, level: 'info', message: 'x', fields: null }] as const
      const report = { jobId: 'a', token, fence: 1, attemptId, lines, checkpoint: 1 }
      expect(await store.report([report], T0)).toEqual([true])
      await finish(store, held, succeeded, T0)
      expect(await dumpOf(store)).toHaveLength(3)
      await store.remove(['a'])
      expect(await dumpOf(store)).toEqual([])
    })

    it('refuses a cursor of something else', async () => {
      const asked = bench().store.maintenance.dump({ cursor: 'nothing:1', limit: 1 })
      await expect(asked).rejects.toMatchObject({ code: 'QUERY_INVALID' })
    })
  })
}
