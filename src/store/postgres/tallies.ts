// How many jobs of each line, tenant, kind and state there are, as the server keeps count.

import type { State } from '../../core/job.ts'
import type { Count, JobFilter, Page, PageRequest, TenantCount } from '../port.ts'
import { kinds, states } from '../shared/codes.ts'
import { pageOf, Query } from './paging.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

/** Summed once, then each share looked up: the other way round the sums are made for every share. */
const counted = (s: string) => `(select * from ${s}.counted offset 0) c
  cross join lateral (select * from ${s}.shares h where h.id = c.share offset 0) x`

export async function counts(
  tables: Tables,
  filter: { readonly tenant?: string } = {},
): Promise<Count[]> {
  const { connection, schema: s } = tables
  const query = new Query()
  if (filter.tenant !== undefined) query.where(`x.tenant = ${query.value(toKey(filter.tenant))}`)
  const rows = await connection.rows(
    `select l.queue, l.handler, x.kind, c.state, sum(c.n), sum(c.pruned)
      from ${counted(s)}
      cross join lateral (select * from ${s}.lines k where k.id = x.line offset 0) l
      ${query.conditions}
      group by l.id, l.queue, l.handler, x.kind, c.state
      having sum(c.n) <> 0 or sum(c.pruned) <> 0 order by l.id, x.kind, c.state`,
    query.values,
  )
  return rows.map(([queue, handler, kind, state, count, pruned]) => ({
    queue: fromKey(queue!),
    handler: fromKey(handler!),
    kind: kinds[Number(kind)]!,
    state: states[Number(state)]!,
    count: Number(count),
    pruned: Number(pruned),
  }))
}

/** The part of a filter that tallies answer. */
type Tallied = Pick<JobFilter, 'tenant' | 'kind' | 'states' | 'queue' | 'handler'>

export async function countTallied(tables: Tables, filter: Tallied): Promise<number> {
  const { tenant } = filter
  let sum = 0
  const told = await counts(tables, tenant === undefined ? {} : { tenant })
  for (const { queue, handler, kind, state, count } of told) {
    const isWanted =
      (filter.queue ?? queue) === queue &&
      (filter.handler ?? handler) === handler &&
      (filter.kind ?? kind) === kind &&
      (filter.states === undefined || filter.states.includes(state))
    if (isWanted) sum += count
  }
  return sum
}

export async function tenants(tables: Tables, page: PageRequest): Promise<Page<TenantCount>> {
  const { connection, schema: s } = tables
  const query = new Query()
  const end = query.cut('x.tenant', page, toKey)
  const rows = await connection.rows(
    `select x.tenant, json_object_agg(x.state, x.n) from (
        select x.tenant, c.state, sum(c.n) as n
          from ${counted(s)} group by x.tenant, c.state having sum(c.n) > 0
      ) x ${query.conditions} group by x.tenant ${end}`,
    query.values,
  )
  return pageOf(rows, page.limit, toTenant, row => fromKey(row[0]!))
}

function toTenant([tenant, text]: readonly (string | null)[]): TenantCount {
  const told: Partial<Record<State, number>> = {}
  for (const [state, n] of Object.entries(JSON.parse(text!) as Record<string, number>)) {
    told[states[Number(state)]!] = n
  }
  return { tenant: fromKey(tenant!), counts: told }
}

/** For tests: what is counted differently from what is there, and moments that do not fit. */
export async function differences({ connection, schema: s }: Tables): Promise<string[]> {
  const rows = await connection.rows(
    `with truth as (select share, state, count(*) as n from ${s}.jobs group by share, state),
    told as (select share, state, n from ${s}.counted where n <> 0),
    waits as (
      select seq, line, lane, rank, case when state > 2 then expire_at when state = 2 then until_at
        else due_at end as at from ${s}.jobs where case state when 0 then due_at is not null
        when 1 then false when 2 then until_at is not null else expire_at is not null end
    ), moments as (select seq, line, lane, rank, at from ${s}.moments)
    select 'missing', share, state, n from (select * from truth except select * from told) a
    union all select 'wrong', share, state, n from (select * from told except select * from truth) b
    union all select 'no moment', line, 0, seq from (select * from waits except select * from moments) c
    union all select 'lost moment', line, 0, seq
      from (select * from moments except all select * from waits) d`,
  )
  return rows.map(row => row.join(' '))
}
