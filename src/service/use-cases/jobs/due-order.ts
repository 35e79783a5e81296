// Jobs in the order of their next run, read along the index of due moments: no more than the page is
// looked at, however many there are. Those without a next run come last.

import type { Job, State } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import type { JobFilter, Store } from '../../../store/port.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { anyMoment, countWithin, placeOf, type Window } from './qualifiers.ts'

export interface Span {
  readonly offset: number
  readonly limit: number
}

const others: readonly State[] = ['running', 'paused', 'completed', 'failed', 'cancelled']

/** A page of the jobs that match a plain filter. */
// oxlint-disable-next-line max-params -- of whom, which page, in which direction
export async function inDueOrder(
  store: Store,
  filter: JobFilter,
  { offset, limit }: Span,
  isDown: boolean,
): Promise<readonly Job[]> {
  const isWaiting = filter.states?.includes('waiting') ?? true
  const waiting = isWaiting ? await countWithin(store, filter, anyMoment) : 0
  const count = Math.max(0, Math.min(limit, waiting - offset))
  const span = { offset, limit: count, total: waiting, isDown }
  const found = await dueSpan(store, { ...filter, ...anyMoment }, span)
  if (count === limit) return found
  // The count is a moment older than the page: what began meanwhile is among the others.
  const behind = { offset: Math.max(0, offset - waiting), limit: limit - count }
  return [...found, ...(await withoutMoment(store, filter, behind))]
}

interface DueSpan extends Span {
  /** All of the window. */
  readonly total: number
  readonly isDown: boolean
}

/** Some of those that are due in a window, in that order or from its end. */
export async function dueSpan(
  store: Store,
  filter: JobFilter & Window,
  { offset, limit, total, isDown }: DueSpan,
): Promise<readonly Job[]> {
  if (limit <= 0) return []
  const from = isDown ? total - offset - limit : offset
  const rule = `reads at most ${limits.offsetMax} jobs from one end: sort the other way, or ask for fewer`
  const isFar = from > limits.offsetMax
  refuseInvalid('jobs', isFar ? [{ field: 'sort', value: 'next_run_at', rule }] : [])
  const { from: begin, until } = filter
  const request = { ...placeOf(filter), from: begin, until, offset: from, limit }
  const found = await store.upcoming(request)
  return isDown ? found.toReversed() : found
}

/** What runs, rests or has ended in the order of creation, then what waits for a person. */
async function withoutMoment(store: Store, filter: JobFilter, { offset, limit }: Span) {
  const states = others.filter(state => filter.states?.includes(state) ?? true)
  const resting = { ...filter, states }
  const page = states.length === 0 ? [] : (await store.list(resting, { limit, offset })).items
  const room = limit - page.length
  if (room <= 0 || filter.states?.includes('waiting') === false) return page
  const before = states.length === 0 ? 0 : await store.count(resting, limits.offsetMax)
  const onRequest = await manual(store, filter, {
    offset: Math.max(0, offset - before),
    limit: room,
  })
  return [...page, ...onRequest]
}

/** No index leads to jobs that wait for no moment: the waiting ones are walked through. */
async function manual(store: Store, filter: JobFilter, { offset, limit }: Span): Promise<Job[]> {
  const found: Job[] = []
  const waiting = { ...filter, states: ['waiting'] } as const
  const all = await store.count(waiting, limits.offsetMax)
  let left = all - (await countWithin(store, filter, anyMoment))
  let cursor: string | null = null
  for (let read = 0; left > 0 && found.length < offset + limit && read < limits.offsetMax;) {
    const page = await store.list(waiting, { limit: limits.pageMax, cursor })
    const idle = page.items.filter(({ dueAt }) => dueAt === null)
    found.push(...idle)
    left -= idle.length
    read += page.items.length
    cursor = page.cursor
    if (cursor === null) break
  }
  return found.slice(offset, offset + limit)
}
