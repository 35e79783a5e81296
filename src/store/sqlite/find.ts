// Jobs by filter: which index leads to them, a page of them, and how many there are.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { numberMark, scanMaxOf, searchFor } from '../../core/query.ts'
import type { JobFilter, Page, PageRequest } from '../store.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { listedPage, type More } from './listed.ts'
import { cutBy, pageOf, walk, whereAll } from './paging.ts'
import { kinds, states } from '../shared/codes.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

export function list(tables: Tables, filter: JobFilter, page: PageRequest): Page<Job> {
  return tables.read(() => {
    const { search } = filter
    const found =
      search === undefined
        ? plain(tables, filter, page)
        : searched(tables, filter, { page, search, scanMax: scanMaxOf(page) })
    return { items: tables.ofSeqs(found.items), cursor: found.cursor }
  })
}

export function count(tables: Tables, filter: JobFilter, max: number): number {
  const { search } = filter
  if (max <= 0) return 0
  return tables.read(() => {
    if (isTallied(filter)) return Math.min(tables.tallies.count(filter), max)
    if (search === undefined) {
      const byStatus = listedPage(tables, filter, { limit: max }, moreOf(tables, filter))
      return byStatus?.items.length ?? countSeqs(tables, filter, max)
    }
    const page = { limit: max }
    return searched(tables, filter, { page, search, scanMax: limits.offsetMax }).items.length
  })
}

function isTallied(filter: JobFilter): boolean {
  const { ids, seriesId, app, definition, search, isUnstarted } = filter
  return [ids, seriesId, app, definition, search, isUnstarted].every(field => field === undefined)
}

/** Only numbers are read on the way: what is left out costs no look at its job. */
function plain(tables: Tables, filter: JobFilter, page: PageRequest): Page<number> {
  const byStatus = listedPage(tables, filter, page, moreOf(tables, filter))
  if (byStatus !== null) return byStatus
  const source = sourceOf(tables, filter, false)
  const cut = cutBy(source.seq, page, numberMark)
  const sql = `select ${source.seq} from ${source.from} ${whereAll([...source.where, cut.where])}
    order by ${source.seq} ${cut.order} limit ? offset ?`
  const rows = tables.statement(sql).all(...source.values, ...cut.values, cut.limit, cut.offset)
  return pageOf(
    rows,
    page.limit,
    row => row[0] as number,
    row => String(row[0]),
  )
}

/** What is not said by kind and status. */
function moreOf(tables: Tables, filter: JobFilter): More {
  const { queue, handler } = filter
  const ofSpec = specConditions(filter)
  const place = {
    ...(queue === undefined ? {} : { queue }),
    ...(handler === undefined ? {} : { handler }),
  }
  const conditions = [...jobConditions(tables, place), ...ofSpec]
  return {
    where: conditions.map(({ sql }) => sql),
    values: conditions.map(({ value }) => value),
    needsSpecs: ofSpec.length > 0,
  }
}

function countSeqs(tables: Tables, filter: JobFilter, max: number): number {
  const { from, where, values } = sourceOf(tables, filter, false)
  const sql = `select count(*) from (select 1 from ${from} ${whereAll(where)} limit ?)`
  return tables.statement(sql).get(...values, max)![0] as number
}

// As JSON, which unlike the text of SQLite holds every character; a name that is the handler's is
// not written.
const nameSql = `case when json_valid(specs.spec)
  then coalesce(specs.spec -> '$.name', specs.spec -> '$.handler', '""') else '""' end`

type SearchedRow = [seq: number, id: string, name: string]

interface Search {
  readonly page: PageRequest
  readonly search: string
  readonly scanMax: number
}

function searched(tables: Tables, filter: JobFilter, given: Search): Page<number> {
  const { page, search, scanMax } = given
  const source = sourceOf(tables, filter, true)
  const fits = searchFor(search)
  return walk(page, scanMax, (cursor, bite) => {
    const cut = cutBy(source.seq, { ...page, cursor }, numberMark)
    const sql = `select ${source.seq}, jobs.id, ${nameSql} from ${source.from}
      ${whereAll([...source.where, cut.where])} order by ${source.seq} ${cut.order} limit ?`
    const rows = tables.statement(sql).all(...source.values, ...cut.values, bite) as SearchedRow[]
    const found = rows
      .filter(([, id, name]) => fits({ id: fromKey(id), name: String(JSON.parse(name)) }))
      .map(([seq]) => ({ mark: String(seq), item: seq }))
    return { found, last: rows.length < bite ? null : String(rows.at(-1)![0]) }
  })
}

interface Source {
  /** The tables, the one that leads first. */
  readonly from: string
  /** The number of a job in the one that leads. */
  readonly seq: string
  readonly where: string[]
  readonly values: Value[]
}

/** Cross joins keep the order given: without statistics SQLite would only guess. */
function sourceOf(tables: Tables, filter: JobFilter, isWhole: boolean): Source {
  const ofJob = jobConditions(tables, filter)
  const ofSpec = specConditions(filter)
  const conditions = [...ofJob, ...ofSpec]
  const where = conditions.map(condition => condition.sql)
  const values = conditions.map(condition => condition.value)
  const leadsByJob = filter.ids !== undefined || filter.seriesId !== undefined
  const isSpecLed = ofSpec.length > 0 && !leadsByJob
  const other = isSpecLed ? 'jobs' : 'specs'
  const lead = isSpecLed ? 'specs' : 'jobs'
  const needsOther = isWhole || (isSpecLed ? ofJob : ofSpec).length > 0
  const from = needsOther ? `${lead} cross join ${other} on jobs.seq = specs.seq` : lead
  return { from, seq: `${lead}.seq`, where, values }
}

interface Condition {
  readonly sql: string
  readonly value: Value
}

function among(column: string, values: readonly Value[]): Condition {
  return { sql: `${column} in (select value from json_each(?))`, value: JSON.stringify(values) }
}

function equal(column: string, value: string | undefined): Condition[] {
  return value === undefined ? [] : [{ sql: `${column} = ?`, value: toKey(value) }]
}

function jobConditions(tables: Tables, filter: JobFilter): Condition[] {
  const { ids, kind, queue, handler } = filter
  const wanted = filter.states?.map(state => states.indexOf(state))
  return [
    ...(ids === undefined ? [] : [among('jobs.id', ids.map(toKey))]),
    ...(kind === undefined ? [] : [{ sql: 'jobs.kind = ?', value: kinds.indexOf(kind) }]),
    ...(wanted === undefined ? [] : [among('jobs.state', wanted)]),
    ...(queue === undefined ? [] : [among('jobs.line', tables.lines.ofQueue(queue))]),
    ...(handler === undefined ? [] : [among('jobs.line', tables.lines.ofHandler(handler))]),
    ...equal('jobs.series', filter.seriesId),
    ...(filter.isUnstarted === undefined ? [] : [unstarted(filter.isUnstarted)]),
  ]
}

/** The first number of a body says what its job waits for. */
function unstarted(isWanted: boolean): Condition {
  const is = isWanted ? '=' : '<>'
  return { sql: `(jobs.state <> 0 or substr(jobs.body, 2, 1) ${is} ?)`, value: '0' }
}

function specConditions(filter: JobFilter): Condition[] {
  return [
    ...equal('specs.tenant', filter.tenant),
    ...equal('specs.app', filter.app),
    ...equal('specs.definition', filter.definition),
  ]
}
