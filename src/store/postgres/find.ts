// Jobs by filter: which index leads to them, a page of them, and how many there are.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, numberMark, offsetOf, scanMaxOf } from '../../core/query.ts'
import type { JobFilter, Page, PageRequest } from '../port.ts'
import { numbers, texts } from './arrays.ts'
import { coldColumns, jobColumns } from './columns.ts'
import { kinds, states } from '../shared/codes.ts'
import { listedSql, type Listed } from './listed.ts'
import { pageOf, Query, wholeOf } from './paging.ts'
import type { Tables } from './tables.ts'
import { countTallied } from './tallies.ts'
import { toKey } from '../shared/text.ts'

export async function list(
  tables: Tables,
  filter: JobFilter,
  page: PageRequest,
): Promise<Page<Job>> {
  const { search } = filter
  const shares = await sharesOf(tables, filter)
  const toItem = (row: (string | null)[]) => tables.jobOf(row)
  if (search === undefined) {
    const query = new Query()
    const sql = pageSql(tables, query, { filter, page, shares, columns: wholeColumns })
    const rows = await tables.connection.rows(sql, query.values)
    return pageOf(rows, page.limit, toItem, row => row[0]!)
  }
  const scanMax = scanMaxOf(page)
  const found = await searched(tables, { filter, page, shares, search, scanMax })
  const rows = found.items.length === 0 ? [] : await tables.numbered(found.items)
  const bySeq = new Map(rows.map(({ seq, job }) => [seq, job]))
  return { items: found.items.flatMap(seq => bySeq.get(seq) ?? []), cursor: found.cursor }
}

export async function count(tables: Tables, filter: JobFilter, max: number): Promise<number> {
  const { search } = filter
  if (max <= 0) return 0
  if (isTallied(filter)) return Math.min(await countTallied(tables, filter), max)
  const shares = await sharesOf(tables, filter)
  if (search !== undefined) {
    const page = { limit: max }
    const scanMax = limits.offsetMax
    return (await searched(tables, { filter, page, shares, search, scanMax })).items.length
  }
  const query = new Query()
  const sql = numbersSql(tables.schema, query, { filter, page: { limit: max - 1 }, shares })
  const [row] = await tables.connection.rows(`select count(*) from (${sql}) c`, query.values)
  return Math.min(Number(row![0]), max)
}

function isTallied(filter: JobFilter): boolean {
  const { ids, seriesId, app, definition, search, isUnstarted } = filter
  return [ids, seriesId, app, definition, search, isUnstarted].every(field => field === undefined)
}

const wholeColumns = `${jobColumns}, ${coldColumns}`

/** Up to so many shares are looked up one by one; of more the jobs are walked through. */
const SHARES_MAX = 1_000

/** The shares that tenant, queue, handler and kind lead to; null when there are too many. */
async function sharesOf(tables: Tables, filter: JobFilter): Promise<number[] | null> {
  const { tenant, queue, handler, kind } = filter
  const leads = [filter.ids, filter.seriesId, filter.app].some(field => field !== undefined)
  if ((tenant ?? queue ?? handler) === undefined || leads) return null
  const query = new Query()
  if (tenant !== undefined) query.where(`h.tenant = ${query.value(toKey(tenant))}`)
  if (queue !== undefined) query.where(`l.queue = ${query.value(toKey(queue))}`)
  if (handler !== undefined) query.where(`l.handler = ${query.value(toKey(handler))}`)
  if (kind !== undefined) query.where(`h.kind = ${query.value(kinds.indexOf(kind))}`)
  const rows = await tables.connection.rows(
    `select h.id from ${tables.schema}.shares h join ${tables.schema}.lines l on l.id = h.line
      ${query.conditions} limit ${SHARES_MAX + 1}`,
    query.values,
  )
  return rows.length > SHARES_MAX ? null : rows.map(([id]) => Number(id))
}

interface Wanted extends Listed {
  readonly columns: string
}

/** Selects `columns` of the page and one row more. */
function pageSql(tables: Tables, query: Query, { columns, ...wanted }: Wanted): string {
  const numbered = numbersSql(tables.schema, query, wanted)
  return rowsOf(tables.schema, query, { numbered, page: wanted.page, columns })
}

/** Selects the numbers of at least all that is up to the end of the page and one more, in any order. */
function numbersSql(s: string, query: Query, { filter, page, shares }: Listed): string {
  const listed = listedSql(s, query, { filter, page, shares })
  if (listed !== null) return listed
  addConditions(s, query, filter, shares !== null)
  const isDeclared = (filter.app ?? filter.definition) !== undefined
  const from = `${s}.jobs j ${isDeclared ? `join ${s}.specs x on x.seq = j.seq` : ''}`
  if (shares !== null) query.where('j.share between h.share and h.share')
  const key = shares === null ? null : 'j.share'
  const end = query.cut('j.seq', wholeOf(page), numberMark, key)
  const walked = `select j.seq from ${from} ${query.conditions} ${end}`
  return shares === null
    ? walked
    : `select w.seq from unnest(${query.value(numbers(shares))}::int[]) h (share)
        cross join lateral (${walked}) w`
}

interface Numbered {
  /** A select of the numbers, in any order. */
  readonly numbered: string
  readonly page: PageRequest
  readonly columns: string
}

/**
 * The page of those numbers and one row more. `offset 0` keeps the server from turning the order
 * around: it would walk through all jobs and look for each among the numbers.
 */
function rowsOf(s: string, query: Query, { numbered, page, columns }: Numbered): string {
  const order = page.newestFirst === true ? 'desc' : 'asc'
  const size = `limit ${query.value(page.limit + 1)} offset ${query.value(offsetOf(page) ?? 0)}`
  return `select r.* from (select n.seq from (${numbered}) n order by n.seq ${order} ${size}) p
    cross join lateral (select ${columns} from ${s}.jobs j left join ${s}.specs x on x.seq = j.seq
      where j.seq = p.seq offset 0) r order by p.seq ${order}`
}

/** Shares hold jobs of one place and kind. */
function addConditions(s: string, query: Query, filter: JobFilter, isShared: boolean): void {
  const { ids, kind, states: wanted, tenant, queue, handler } = filter
  const equal = (column: string, value: string | undefined) => {
    if (value !== undefined) query.where(`${column} = ${query.value(toKey(value))}`)
  }
  if (ids !== undefined) query.where(`j.id = any (${query.value(texts(ids.map(toKey)))}::text[])`)
  if (kind !== undefined && !isShared) {
    query.where(`j.kind = ${query.value(kinds.indexOf(kind))}`)
  }
  if (wanted !== undefined) {
    const codes = numbers(wanted.map(state => states.indexOf(state)))
    query.where(`j.state = any (${query.value(codes)}::smallint[])`)
  }
  if (filter.isUnstarted !== undefined) {
    const is = filter.isUnstarted ? '=' : '<>'
    query.where(`(j.state <> 0 or substr(j.body, 2, 1) ${is} '0')`)
  }
  equal('j.series', filter.seriesId)
  equal('x.app', filter.app)
  equal('x.definition', filter.definition)
  if (isShared) return
  const among = (column: string, table: string, name: string, value: string | undefined) => {
    if (value === undefined) return
    const found = `select p.id from ${s}.${table} p where p.${name} = ${query.value(toKey(value))}`
    query.where(`${column} in (${found})`)
  }
  among('j.share', 'shares', 'tenant', tenant)
  among('j.line', 'lines', 'queue', queue)
  among('j.line', 'lines', 'handler', handler)
}

interface Search extends Omit<Wanted, 'columns'> {
  readonly search: string
  readonly scanMax: number
}

/** The numbers of those that fit, out of a bounded number that was looked at. */
async function searched(tables: Tables, given: Search): Promise<Page<number>> {
  const { page, search, scanMax } = given
  const query = new Query()
  const columns = 'j.seq, coalesce(x.sought_id, upper(j.id)) as sought_id, x.sought_name'
  const window = { ...page, limit: scanMax - 1, offset: 0 }
  const walked = pageSql(tables, query, { ...given, page: window, columns })
  const text = query.value(toKey(foldCase(search)))
  const offset = offsetOf(page) ?? 0
  const order = page.newestFirst === true ? 'desc' : 'asc'
  const rows = await tables.connection.rows(
    `with walked as materialized (${walked}), found as (
      select w.seq from walked w
        where strpos(coalesce(w.sought_name, ''), ${text}) > 0 or starts_with(w.sought_id, ${text})
        order by w.seq ${order}
        limit ${query.value(page.limit + 1)} offset ${query.value(offset)}
    ) select seq, null, null from found
    union all select null, (select count(*) from walked),
      (select seq from walked order by seq ${order === 'asc' ? 'desc' : 'asc'} limit 1)`,
    query.values,
  )
  const end = rows.find(row => row[0] === null)!
  const found = rows.filter(row => row[0] !== null)
  const { items, cursor } = pageOf(
    found,
    page.limit,
    row => Number(row[0]),
    row => row[0]!,
  )
  const isCutOff = Number(end[1]) === scanMax
  return { items, cursor: cursor ?? (isCutOff ? end[2]! : null) }
}
