// The outcomes of tasks are stored with their settles, in batches too, and counted once (T9).

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../src/core/change.ts'
import { removalOf } from '../../../src/core/record.ts'
import { foldOutcomes, TASK_OUTCOME_KIND } from '../../../src/core/schedule/series.ts'
import { settle } from '../../../src/core/run/settle.ts'
import type { Store } from '../../../src/store/port.ts'
import {
  claimRequest,
  commitOne,
  everyMinute,
  failed,
  newJob,
  succeeded,
  T0,
} from '../../support/builders.ts'
import { put, stored, type UseBench } from './bench.ts'

const COUNT = 12
const END = T0 + 100

/** The ends of tasks of one series, the odd ones failed. */
async function settles(store: Store): Promise<Change[]> {
  const tasks = Array.from({ length: COUNT }, (_, i) =>
    newJob({ id: `s@${i}`, kind: 'task', seriesId: 's', now: T0 }),
  )
  await put(store, newJob({ id: 's', now: T0, spec: everyMinute }), ...tasks)
  const claimed = await store.claim(claimRequest({ now: T0, limit: COUNT }))
  return claimed
    .filter(({ kind }) => kind === 'task')
    .map((task, i) =>
      settle(task, { outcome: i % 2 === 0 ? succeeded : failed(), startedAt: T0 }, END),
    )
}

async function outcomes(store: Store) {
  return (await store.listRecords(TASK_OUTCOME_KIND, { limit: 100 }, END)).items
}

export function taskOutcomeTests(bench: UseBench): void {
  describe('the outcomes of tasks', () => {
    it('are stored with the settles of a batch, those that are refused leave none', async () => {
      const { store } = bench()
      const changes = await settles(store)
      expect(changes.length).toBeGreaterThan(5)
      const [lost, ...good] = changes
      const { results } = await store.commit([{ ...lost!, token: 'other' }, ...good], { now: END })
      expect(results).toEqual(['conflict', ...good.map(() => 'committed')])
      const ids = good.map(({ attempt }) => attempt!.id).sort()
      const held = await outcomes(store)
      expect(held.map(({ key }) => key)).toEqual(ids)
      expect(new Set(held.map(({ version }) => version))).toEqual(new Set([1]))
      expect((await store.commit([lost!], { now: END })).results).toEqual(['committed'])
      expect(await outcomes(store)).toHaveLength(changes.length)
    })

    it('are counted by one of two who read the same, and their records go with it', async () => {
      const { store } = bench()
      const changes = await settles(store)
      await store.commit(changes, { now: END })
      const records = await outcomes(store)
      const series = await stored(store, 's')
      const [one, other] = [foldOutcomes(series, records, END), foldOutcomes(series, records, END)]
      expect(await commitOne(store, one, END)).toBe('committed')
      expect(await commitOne(store, other, END)).toBe('conflict')
      // Also when it reads the series again: the records it counted are gone.
      const again = foldOutcomes(await stored(store, 's'), records, END)
      expect(await commitOne(store, again, END)).toBe('conflict')
      expect(await outcomes(store)).toEqual([])
      const after = await stored(store, 's')
      expect(after).toEqual(one.job)
      const { succeeded: good, failed: bad } = after.series!.totals
      expect([good + bad, after.series!.totals.durationMs]).toEqual([
        changes.length,
        100 * changes.length,
      ])
      expect(await store.putRecords(records.map(removalOf), END)).toEqual(
        records.map(() => 'conflict'),
      )
    })
  })
}
