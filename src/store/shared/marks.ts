// By what jobs are listed: one mark for each that lives, waits for its start, rests or has ended.
// It does not change while a schedule runs, so keeping lists by it costs running nothing.

import type { Job, State } from '../../core/job.ts'
import { RUNNING, states } from './codes.ts'

/** Waiting or running, begun before. */
export const LIVE = 0
/** Waiting for its first start. A job that rests or has ended has the code of its state. */
export const UNSTARTED = 1

/** Every mark there is. */
export const allMarks: readonly number[] = [
  LIVE,
  UNSTARTED,
  ...[...states.keys()].filter(code => code > RUNNING),
]

/** Of a row of `jobs`; the first number of its body says what it waits for. */
export const markOf = (row: string) => `case when ${row}state >= 2 then ${row}state
  when ${row}state = 0 and substr(${row}body, 2, 1) = '0' then ${UNSTARTED} else ${LIVE} end`

export function markOfJob({ state, waitingFor }: Pick<Job, 'state' | 'waitingFor'>): number {
  if (state === 'running') return LIVE
  if (state !== 'waiting') return states.indexOf(state)
  return waitingFor === 'start' ? UNSTARTED : LIVE
}

/** What is wanted of the rows under one mark. */
export interface Marked {
  readonly mark: number
  readonly state: number
}

/** The part of a filter that says what is listed by its mark, and the parts that say otherwise. */
interface Sought {
  readonly kind?: Job['kind']
  readonly states?: readonly State[]
  readonly isUnstarted?: boolean
  readonly ids?: readonly string[]
  readonly seriesId?: string
  readonly app?: string
  readonly definition?: string
  readonly search?: string
}

/** Null when marks do not lead to what is sought. Whoever runs is found by their leases. */
export function marksOf(filter: Sought): { marks: Marked[]; isRunning: boolean } | null {
  const { ids, kind, seriesId, app, definition, search } = filter
  const isOther = [ids, seriesId, app, definition, search].some(field => field !== undefined)
  if (filter.states === undefined || kind !== 'job' || isOther) return null
  const wanted = [...new Set(filter.states)]
  const marks = wanted.flatMap(state => marksOfState(state, filter.isUnstarted))
  return { marks, isRunning: filter.states.includes('running') }
}

function marksOfState(state: State, isUnstarted: boolean | undefined): Marked[] {
  const code = states.indexOf(state)
  if (state === 'running') return []
  if (state !== 'waiting') return [{ mark: code, state: code }]
  const unstarted = { mark: UNSTARTED, state: code }
  const live = { mark: LIVE, state: code }
  if (isUnstarted === undefined) return [unstarted, live]
  return [isUnstarted ? unstarted : live]
}
