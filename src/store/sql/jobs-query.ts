// Jobs by id and by filter: which index leads to them, a page of them, and how many there are.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { numberMark, scanMaxOf, searchFor } from '../../core/stored/query.ts'
import type { JobFilter, Page, PageRequest } from '../port.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { countOf } from './counts.ts'
import type { Condition, Sql } from './dialect.ts'
import { jobColumns, readJob, type JobRow } from './job-row.ts'
import { listedSeqs, type ListedRest } from './listed.ts'
import { rowsOf, type Operation, type Value } from './operation.ts'
import { cutBy, pageOf, scan, whereAll } from './paging.ts'

/** Those that exist, in the order given. */
export function get(sql: Sql, ids: readonly string[]): Operation<Job[]> {
  return jobsBy(sql, 'id', ids.map(toKey))
}

export function jobsOfSeqs(sql: Sql, seqs: readonly number[]): Operation<Job[]> {
  return jobsBy(sql, 'seq', seqs)
}

function* jobsBy(sql: Sql, column: 'id' | 'seq', keys: readonly Value[]): Operation<Job[]> {
  if (keys.length === 0) return []
  const { crossJoin } = sql.dialect
  const table = sql.dialect.table(
    column,
    keys.map(key => [key]),
    'e',
  )
  const rows = yield* rowsOf<JobRow>(
    `select ${jobColumns} from ${table.sql} ${crossJoin} jobs j on j.${column} = e.${column}
      ${crossJoin} job_states s on s.seq = j.seq`,
    ...table.params,
  )
  const jobs = new Map(rows.map(row => [column === 'id' ? row[1] : row[0], readJob(sql, row)]))
  return keys.flatMap(key => jobs.get(key as string | number) ?? [])
}

export function* list(sql: Sql, filter: JobFilter, page: PageRequest): Operation<Page<Job>> {
  const { search } = filter
  const found =
    search === undefined
      ? yield* seqsOf(sql, filter, page)
      : yield* searched(sql, filter, { page, search, scanMax: scanMaxOf(page) })
  return { items: yield* jobsOfSeqs(sql, found.items), cursor: found.cursor }
}

export function* count(sql: Sql, filter: JobFilter, max: number): Operation<number> {
  const { search } = filter
  if (max <= 0) return 0
  if (isCounted(filter)) return Math.min(yield* countOf(filter), max)
  if (search !== undefined) {
    const page = { limit: max }
    const found = yield* searched(sql, filter, { page, search, scanMax: limits.offsetMax })
    return found.items.length
  }
  const listed = yield* listedSeqs(sql, filter, { limit: max }, restOf(sql, filter))
  if (listed !== null) return listed.items.length
  const source = sourceOf(sql, filter, false)
  const [row] = yield* rowsOf<[number]>(
    `select count(*) from (select 1 from ${source.from} ${whereAll(source.where)} limit ?) found`,
    ...source.params,
    max,
  )
  return row![0]
}

function isCounted({ ids, seriesId, app, definition, search, isUnstarted }: JobFilter): boolean {
  return [ids, seriesId, app, definition, search, isUnstarted].every(field => field === undefined)
}

/** Only numbers are read on the way: what is left out costs no look at its job. */
function* seqsOf(sql: Sql, filter: JobFilter, page: PageRequest): Operation<Page<number>> {
  const listed = yield* listedSeqs(sql, filter, page, restOf(sql, filter))
  if (listed !== null) return listed
  const source = sourceOf(sql, filter, false)
  const cut = cutBy(source.seq, page, numberMark)
  const rows = yield* rowsOf<[number]>(
    `select ${source.seq} from ${source.from} ${whereAll([...source.where, cut.where])}
      order by ${source.seq} ${cut.order} limit ? offset ?`,
    ...source.params,
    ...cut.params,
    cut.limit,
    cut.offset,
  )
  const items = rows.slice(0, page.limit).map(([seq]) => seq)
  return pageOf(rows, { limit: page.limit, items, mark: row => String(row[0]) })
}

interface Search {
  readonly page: PageRequest
  readonly search: string
  readonly scanMax: number
}

/** The fold of cases is the core's: a database may fold otherwise. */
function* searched(sql: Sql, filter: JobFilter, wanted: Search): Operation<Page<number>> {
  const { page, search, scanMax } = wanted
  const source = sourceOf(sql, filter, true)
  const fits = searchFor(search)
  return yield* scan(page, scanMax, function* (cursor, batch) {
    const cut = cutBy(source.seq, { ...page, cursor }, numberMark)
    const rows = yield* rowsOf<[number, string, string]>(
      `select ${source.seq}, j.id, j.name from ${source.from}
        ${whereAll([...source.where, cut.where])} order by ${source.seq} ${cut.order} limit ?`,
      ...source.params,
      ...cut.params,
      batch,
    )
    const found = rows
      .filter(([, id, name]) => fits({ id: fromKey(id), name: fromKey(name) }))
      .map(([seq]) => ({ mark: String(seq), item: seq }))
    return { found, last: rows.length < batch ? null : String(rows.at(-1)![0]) }
  })
}

interface Source {
  /** The tables, the one that leads first. */
  readonly from: string
  /** The number of a job in the one that leads. */
  readonly seq: string
  readonly where: string[]
  readonly params: Condition['params']
}

function sourceOf(sql: Sql, filter: JobFilter, needsJobs: boolean): Source {
  const ofJob = jobConditions(sql, filter)
  const ofState = stateConditions(sql, filter)
  const lead = ofJob.length > 0 || ofState.length === 0 || needsJobs ? 'j' : 's'
  const all = [...ofJob, ...ofState]
  const { crossJoin } = sql.dialect
  const from = lead === 's' ? 'job_states s' : `jobs j ${crossJoin} job_states s on s.seq = j.seq`
  return {
    from,
    seq: `${lead}.seq`,
    where: all.map(condition => condition.sql),
    params: all.flatMap(({ params }) => params),
  }
}

/** What a filter says beside kind and states. */
function restOf(sql: Sql, filter: JobFilter): ListedRest {
  const { queue, handler } = filter
  const ofJob = jobConditions(sql, filter)
  const all = [...equal('s.queue', queue), ...equal('s.handler', handler), ...ofJob]
  return { all, needsJobs: ofJob.length > 0 }
}

function equal(column: string, value: string | undefined): Condition[] {
  return value === undefined ? [] : [{ sql: `${column} = ?`, params: [toKey(value)] }]
}

function jobConditions({ dialect }: Sql, filter: JobFilter): Condition[] {
  const { ids } = filter
  return [
    ...(ids === undefined ? [] : [dialect.amongTexts('j.id', ids.map(toKey))]),
    ...equal('j.series_id', filter.seriesId),
    ...equal('j.app', filter.app),
    ...equal('j.definition', filter.definition),
    ...equal('j.tenant', filter.tenant),
  ]
}

function stateConditions({ dialect }: Sql, filter: JobFilter): Condition[] {
  const { kind, states, isUnstarted } = filter
  const isStart = isUnstarted === true ? '=' : '<>'
  return [
    ...(kind === undefined ? [] : [{ sql: 's.kind = ?', params: [kind] }]),
    ...(states === undefined ? [] : [dialect.amongTexts('s.state', states)]),
    ...equal('s.queue', filter.queue),
    ...equal('s.handler', filter.handler),
    ...(isUnstarted === undefined
      ? []
      : [{ sql: `(s.state <> 'waiting' or s.waiting_for ${isStart} 'start')`, params: [] }]),
  ]
}
