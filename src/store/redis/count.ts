// How many jobs fit a filter: by the tallies and the marks where they tell it, else by looking.

import { limits } from '../../core/limits.ts'
import { states } from '../shared/codes.ts'
import { UNSTARTED } from '../shared/marks.ts'
import type { JobFilter } from '../store.ts'
import { isNothing, listIds } from './list.ts'
import { markIndex } from './listed.ts'
import type { Shelf } from './shelf.ts'
import { countTallies } from './tallies.ts'
import { gather, LOOK, sieveOf, stepper } from './walk.ts'

export async function count(shelf: Shelf, filter: JobFilter, max: number): Promise<number> {
  if (max <= 0 || isNothing(filter)) return 0
  const { ids, seriesId, app, definition, search } = filter
  if (ids !== undefined) {
    const { items } = await listIds(shelf, filter, { limit: max }, ids)
    return items.length
  }
  if ([seriesId, app, definition, search].every(sought => sought === undefined)) {
    const told = await countKept(shelf, filter)
    if (told !== null) return Math.min(max, told)
  }
  if (sieveOf(filter) === null) return countRows(shelf, filter, max)
  const lookMax = search === undefined ? Infinity : limits.offsetMax
  const sought = { isNewest: false, mark: '', skip: 0, wanted: max, lookMax }
  const { jobs } = await gather(shelf, filter, sought)
  return Math.min(max, jobs.length)
}

/** From what is kept as work happens; null where that is not fine enough. */
async function countKept(shelf: Shelf, filter: JobFilter): Promise<number | null> {
  const { kind, isUnstarted, tenant, queue, handler } = filter
  const { connection } = shelf
  if (isUnstarted === undefined) return countTallies(shelf, filter)
  const isMarked = connection.isListed && kind === 'job'
  if (!isMarked || queue !== undefined || handler !== undefined) return null
  const wanted = filter.states ?? states
  const others = { ...filter, states: wanted.filter(state => state !== 'waiting') }
  if (!wanted.includes('waiting')) return countTallies(shelf, others)
  const index = connection.prefix + markIndex(UNSTARTED, tenant)
  const unstarted = Number(await connection.send('ZCARD', index))
  if (isUnstarted && isNothing(others)) return unstarted
  if (isUnstarted) return unstarted + (await countTallies(shelf, others))
  return Math.max(0, (await countTallies(shelf, filter)) - unstarted)
}

async function countRows(shelf: Shelf, filter: JobFilter, max: number): Promise<number> {
  const step = await stepper(shelf, filter)
  let found = 0
  let mark = ''
  for (let isEnd = false; !isEnd && found < max;) {
    const walk = { isNewest: false, mark, skip: 0, limit: max - found, look: LOOK, isTold: false }
    const made = await step(walk)
    found += made.count
    mark = made.mark
    isEnd = made.isEnd
  }
  return found
}
