// Walks along whatever leads to the jobs sought, in steps of one script each.

import type { Job } from '../../core/job.ts'
import { foldCase, searchFor } from '../../core/query.ts'
import type { JobFilter } from '../store.ts'
import { kinds, states } from '../shared/codes.ts'
import { toKey } from '../shared/text.ts'
import { optional } from './cold.ts'
import { leadTo } from './listed.ts'
import { SEQ_WIDTH } from './row.ts'
import type { Shelf, Sieve } from './shelf.ts'
import { countTallies } from './tallies.ts'

/** Jobs looked at in one script, so that it is short. */
export const LOOK = 1_000
/** More are looked at than are wanted, and each time more, for some will not fit. */
const LOOK_MORE = 50
const LOOK_FACTOR = 4

interface Walk {
  readonly isNewest: boolean
  readonly mark: string
  readonly skip: number
  readonly limit: number
  readonly look: number
  /** Otherwise they are only counted. */
  readonly isTold: boolean
}

export interface Held {
  readonly seq: string
  readonly job: Job
}

interface Step {
  readonly jobs: readonly Held[]
  readonly mark: string
  readonly isEnd: boolean
  readonly skip: number
  readonly count: number
}

type Stepper = (walk: Walk) => Promise<Step>

/** One step along whatever leads to the jobs sought. */
export async function stepper(shelf: Shelf, filter: JobFilter): Promise<Stepper> {
  const { indexes, isRunning, isExact } = leadTo(filter, shelf.connection.isListed)
  const running = isRunning ? await runningSeqs(shelf) : []
  const sieve = sieveOf(filter)
  const where = [isExact ? '1' : '0']
  const sought = [...rowWords(filter), String(indexes.length), ...indexes]
  return async walk => {
    const { isNewest, mark, look, skip, limit } = walk
    const numbers = [look, skip, limit].map(String)
    const told = walk.isTold ? '1' : '0'
    const begin = [isNewest ? '1' : '0', mark, ...numbers, ...where, told]
    const given = cut(running, walk)
    const answer = (await shelf.run('list', [...begin, ...sought, ...given])) as string[]
    const jobs = (await shelf.told(shelf.found(answer, 4), sieve)).flatMap(({ found, job }) =>
      job === null ? [] : [{ seq: found.seq, job }],
    )
    const [last, isEnd, left, count] = answer
    return { jobs, mark: last!, isEnd: isEnd === '1', skip: Number(left), count: Number(count) }
  }
}

/** What the script tells by the row. */
function rowWords(filter: JobFilter): string[] {
  const { kind, states: wanted, isUnstarted, tenant, queue, handler } = filter
  return [
    wanted === undefined ? '-' : `=${wanted.map(state => states.indexOf(state)).join('')}`,
    isUnstarted === undefined ? '' : isUnstarted ? '1' : '0',
    kind === undefined ? '' : String(kinds.indexOf(kind)),
    ...[tenant, queue, handler].map(place => optional(place ?? null)),
  ]
}

/** Of all that is held now: no more than nodes have room for. */
async function runningSeqs({ connection }: Shelf): Promise<string[]> {
  const seqs = (await connection.send('HKEYS', `${connection.prefix}leases`)) as string[]
  return seqs.sort()
}

/** Those behind the mark, in the order of the walk, as many as are looked at. */
function cut(seqs: readonly string[], { mark, isNewest, look }: Walk): string[] {
  if (seqs.length === 0) return []
  const at = mark === '' ? null : mark.padStart(SEQ_WIDTH, '0')
  const behind = seqs.filter(seq => at === null || (isNewest ? seq < at : seq > at))
  return isNewest ? behind.slice(-look).reverse() : behind.slice(0, look)
}

/** What the script cannot tell by the row. */
export function sieveOf(filter: JobFilter): Sieve | null {
  const { seriesId, app, definition, search } = filter
  const isNamed = search === undefined ? null : searchFor(search)
  const isIndexed = (seriesId === undefined || app === undefined) && definition === undefined
  if (isNamed === null && isIndexed) return null
  return {
    mayFit: search === undefined ? () => true : textWith(search),
    isFit: ({ id, spec, declared }) =>
      (app === undefined || declared?.app === app) &&
      (definition === undefined || declared?.definition === definition) &&
      (isNamed === null || isNamed({ id, name: spec.name })),
  }
}

/** The text a job's names are in, unless they are written there in another way. */
function textWith(search: string): (text: string) => boolean {
  if (JSON.stringify(search) !== `"${search}"` || toKey(search) !== search) return () => true
  const folded = foldCase(search)
  return text => foldCase(text).includes(folded)
}

interface Sought {
  readonly isNewest: boolean
  readonly mark: string
  readonly skip: number
  readonly wanted: number
  readonly lookMax: number
}

interface Gathered {
  readonly jobs: readonly Held[]
  /** Null at the end; otherwise how far it was looked. */
  readonly mark: string | null
}

/** Up to `wanted` jobs behind the first `skip`, looking at no more than `lookMax`. */
export async function gather(shelf: Shelf, filter: JobFilter, sought: Sought): Promise<Gathered> {
  const isRead = sieveOf(filter) !== null
  const step = await stepper(shelf, filter)
  const { isNewest, wanted, lookMax } = sought
  const jobs: Held[] = []
  let { mark, skip } = sought
  let look = isRead ? LOOK : skip + wanted + LOOK_MORE
  let total: number | null = null
  for (let left = lookMax; left > 0; left -= look, look *= LOOK_FACTOR) {
    look = Math.min(look, LOOK, left)
    const walk = { isNewest, mark, look, isTold: true }
    const made = isRead
      ? await step({ ...walk, skip: 0, limit: look })
      : await step({ ...walk, skip, limit: wanted - jobs.length })
    mark = made.mark
    if (!isRead) skip = made.skip
    for (const held of made.jobs) {
      if (isRead && skip > 0) skip--
      else jobs.push(held)
    }
    if (jobs.length >= wanted) return { jobs, mark }
    if (made.isEnd) return { jobs, mark: null }
    // What is rare may lie far away, or nowhere: how many there can be is known.
    total ??= await countTallies(shelf, filter)
    if (sought.skip - skip + jobs.length >= total) return { jobs, mark: null }
  }
  return { jobs, mark }
}
