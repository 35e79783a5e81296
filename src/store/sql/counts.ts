// How many jobs of each tenant, queue, handler, kind and state there are: summed while a write goes
// on, written with it, one row per number that changed.

import type { Job, State } from '../../core/job.ts'
import type { Count, JobFilter, Page, PageRequest, Route, TenantCount } from '../port.ts'
import { fromKey, toKey } from '../shared/text.ts'
import type { CountChange, CountKey, Dialect, Sql, WriteCounts } from './dialect.ts'
import { rowsOf, type Operation } from './operation.ts'
import { cutBy, pageOf, whereAll } from './paging.ts'

export function countKeyOf({ kind, state, spec }: Job, as: State = state): CountKey {
  const { tenant, queue, handler } = spec
  return { tenant: toKey(tenant), queue: toKey(queue), handler: toKey(handler), kind, state: as }
}

/** What one write did so far. */
export class Counts implements WriteCounts {
  readonly #dialect: Dialect
  readonly #changes = new Map<string, CountChange>()
  /** Waiting jobs by queue as they were when the write asked first. */
  readonly #waiting = new Map<string, number>()

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  add(key: CountKey, count: number, pruned = 0): void {
    // Keys hold no U+0000.
    const { tenant, queue, handler, kind, state } = key
    const name = `${state}\0${kind}\0${handler}\0${queue}\0${tenant}`
    const held = this.#changes.get(name)
    if (held === undefined) this.#changes.set(name, { ...key, count, pruned })
    else {
      held.count += count
      held.pruned += pruned
    }
  }

  /** At the end of the write. */
  *flush(): Operation<void> {
    const changes = [...this.#changes.values()].filter(
      ({ count, pruned }) => count !== 0 || pruned !== 0,
    )
    if (changes.length > 0) yield* this.#dialect.addCounts(changes)
  }

  *waiting(queue: string, waitingMax: number): Operation<number> {
    const key = toKey(queue)
    let count = this.#waiting.get(key)
    if (count === undefined) {
      count = yield* waitingIn(key)
      if (count > waitingMax - FAR_FROM_FULL) {
        yield* this.#dialect.lockQueue(key)
        count = yield* waitingIn(key)
      }
      this.#waiting.set(key, count)
    }
    for (const change of this.#changes.values()) {
      if (change.queue === key && change.state === 'waiting') count += change.count
    }
    return count
  }
}

/** So far below the bound no set of concurrent writers can fill a queue. */
const FAR_FROM_FULL = 100_000

function* waitingIn(key: string): Operation<number> {
  const [row] = yield* rowsOf<[number]>(
    "select coalesce(sum(count), 0) from current_counts where queue = ? and state = 'waiting'",
    key,
  )
  return row![0]
}

type CountRow = [
  queue: string,
  handler: string,
  kind: Job['kind'],
  state: State,
  n: number,
  p: number,
]

export function* counts(filter: { readonly tenant?: string }): Operation<Count[]> {
  const { tenant } = filter
  const rows = yield* rowsOf<CountRow>(
    `select queue, handler, kind, state, sum(count), sum(pruned) from current_counts
      ${tenant === undefined ? '' : 'where tenant = ?'}
      group by queue, handler, kind, state having sum(count) <> 0 or sum(pruned) <> 0`,
    ...(tenant === undefined ? [] : [toKey(tenant)]),
  )
  return rows.map(([queue, handler, kind, state, count, pruned]) => ({
    queue: fromKey(queue),
    handler: fromKey(handler),
    kind,
    state,
    count,
    pruned,
  }))
}

/** The part of a filter that the numbers answer. */
export type Counted = Pick<JobFilter, 'tenant' | 'kind' | 'states' | 'queue' | 'handler'>

export function* countOf({ tenant, ...wanted }: Counted): Operation<number> {
  let sum = 0
  for (const one of yield* counts(tenant === undefined ? {} : { tenant })) {
    const isWanted =
      (wanted.queue ?? one.queue) === one.queue &&
      (wanted.handler ?? one.handler) === one.handler &&
      (wanted.kind ?? one.kind) === one.kind &&
      (wanted.states === undefined || wanted.states.includes(one.state))
    if (isWanted) sum += one.count
  }
  return sum
}

/** Queues and their handlers that have jobs, as they are stored. */
export function* routes(queue?: string): Operation<Route[]> {
  const rows = yield* rowsOf<[string, string]>(
    `select queue, handler from current_counts ${queue === undefined ? '' : 'where queue = ?'}
      group by queue, handler having sum(count) > 0 order by queue, handler`,
    ...(queue === undefined ? [] : [toKey(queue)]),
  )
  return rows.map(([name, handler]) => ({ queue: name, handler }))
}

export function* tenants({ dialect }: Sql, page: PageRequest): Operation<Page<TenantCount>> {
  const cut = cutBy('tenant', page, toKey)
  const names = yield* rowsOf<[string]>(
    `select tenant from current_counts ${whereAll([cut.where])}
      group by tenant having sum(count) > 0 order by tenant ${cut.order} limit ? offset ?`,
    ...cut.params,
    cut.limit,
    cut.offset,
  )
  const kept = names.slice(0, page.limit).map(([tenant]) => tenant)
  const among = dialect.amongTexts('tenant', kept)
  const rows = yield* rowsOf<[string, State, number]>(
    `select tenant, state, sum(count) from current_counts where ${among.sql}
      group by tenant, state having sum(count) > 0`,
    ...among.params,
  )
  const byTenant = new Map<string, Partial<Record<State, number>>>(kept.map(name => [name, {}]))
  for (const [tenant, state, count] of rows) byTenant.get(tenant)![state] = count
  const items = [...byTenant].map(([tenant, states]) => ({
    tenant: fromKey(tenant),
    counts: states,
  }))
  return pageOf(names, { limit: page.limit, items, mark: row => fromKey(row[0] as string) })
}

/** For tests: what is counted differently from what is there. */
export function* differences(): Operation<string[]> {
  const truth = `select j.tenant, s.queue, s.handler, s.kind, s.state, count(*) as n
    from job_states s join jobs j on j.seq = s.seq group by j.tenant, s.queue, s.handler, s.kind, s.state`
  const counted = `select tenant, queue, handler, kind, state, sum(count) as n from current_counts
    group by tenant, queue, handler, kind, state having sum(count) <> 0`
  const rows = yield* rowsOf(
    `select 'missing', a.* from (${truth} except ${counted}) a
      union all select 'wrong', b.* from (${counted} except ${truth}) b`,
  )
  return rows.map(row => row.join(' '))
}
