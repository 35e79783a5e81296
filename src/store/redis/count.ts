// How many jobs fit a filter: by the counts that are kept where they tell it, else by looking.

import { limits } from '../../core/limits.ts'
import type { JobFilter } from '../port.ts'
import { countsOf } from './counts.ts'
import { definitionMatch, gather, isNothing, listIds, LOOK, stepper } from './jobs-query.ts'
import type { RedisSession } from './session.ts'

export async function count(
  session: RedisSession,
  filter: JobFilter,
  max: number,
): Promise<number> {
  if (max <= 0 || isNothing(filter)) return 0
  const { ids, seriesId, app, definition, search, isUnstarted } = filter
  if (ids !== undefined) {
    const { items } = await listIds(session, filter, { limit: max }, ids)
    return items.length
  }
  const others = [seriesId, app, definition, search, isUnstarted]
  if (others.every(field => field === undefined)) {
    return Math.min(max, await countsOf(session, filter))
  }
  if (definitionMatch(filter) === null) return countRows(session, filter, max)
  const lookMax = search === undefined ? Infinity : limits.offsetMax
  const request = { isNewest: false, mark: '', skip: 0, wanted: max, lookMax }
  const { jobs } = await gather(session, filter, request)
  return Math.min(max, jobs.length)
}

async function countRows(session: RedisSession, filter: JobFilter, max: number): Promise<number> {
  const step = await stepper(session, filter)
  let found = 0
  let mark = ''
  for (let isEnd = false; !isEnd && found < max;) {
    const made = await step({
      isNewest: false,
      mark,
      skip: 0,
      limit: max - found,
      look: LOOK,
      isAnswered: false,
    })
    found += made.count
    mark = made.mark
    isEnd = made.isEnd
  }
  return found
}
