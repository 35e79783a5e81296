// How many jobs of each tenant, line, kind and state there are: summed while a write goes on and
// written with it, one row per number that changed.

import type { State } from '../../core/job.ts'
import type { Count, JobFilter, Page, PageRequest, TenantCount } from '../store.ts'
import { bulkSql, inBulk } from './bulk.ts'
import type { Connection } from './connection.ts'
import { Deltas, type Delta } from './deltas.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import type { Lines } from './lines.ts'
import { cutBy, whereAll } from './paging.ts'
import { kinds, states, WAITING } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'

const TALLY_WIDTH = 6
const addSql = (rows: string) =>
  `insert into tallies values ${rows} on conflict (line, kind, state, tenant)
    do update set n = n + excluded.n, pruned = pruned + excluded.pruned`

interface TenantDelta extends Delta {
  readonly tenant: string
}

/** Jobs that went from one state to another. */
interface Move {
  readonly tenant: string
  readonly line: number
  readonly kind: number
  readonly from: number
  readonly to: number
  n: number
}

/** The part of a filter that tallies answer. */
export type Tallied = Pick<JobFilter, 'tenant' | 'kind' | 'states' | 'queue' | 'handler'>

export class Tallies {
  readonly #connection: Connection
  readonly #lines: Lines
  readonly #deltas = new Map<string, Deltas>()
  /** The last move, as often as it was made, which is not counted yet. */
  #move: Move | null = null
  /** Waiting jobs by queue as they were when the write began. */
  readonly #waiting = new Map<string, number>()

  constructor(connection: Connection, lines: Lines) {
    this.#connection = connection
    this.#lines = lines
  }

  /** What the present write does to the numbers of one tenant. */
  of(tenant: string): Deltas {
    const held = this.#deltas.get(tenant)
    if (held) return held
    const made = new Deltas()
    this.#deltas.set(tenant, made)
    return made
  }

  /** From one state to another; those that come one after another mostly move alike. */
  moved(move: Omit<Move, 'n'>): void {
    const last = this.#move
    const isAlike =
      last !== null &&
      last.tenant === move.tenant &&
      last.line === move.line &&
      last.kind === move.kind &&
      last.from === move.from &&
      last.to === move.to
    if (isAlike) last.n++
    else {
      this.#count()
      this.#move = { ...move, n: 1 }
    }
  }

  #count(): void {
    const move = this.#move
    if (move === null) return
    this.#move = null
    const deltas = this.of(move.tenant)
    deltas.add(move.line, move.kind, move.from, -move.n)
    deltas.add(move.line, move.kind, move.to, move.n)
  }

  /** Waiting jobs of the queue, with what this write did so far. */
  waiting(queue: string): number {
    this.#count()
    let count = this.#waiting.get(queue)
    if (count === undefined) {
      const row = this.#connection
        .statement(
          `select coalesce(sum(n), 0) from lines join tallies on lines.id = tallies.line
            where lines.queue = ? and state = ${WAITING}`,
        )
        .get(toKey(queue))
      count = row![0] as number
      this.#waiting.set(queue, count)
    }
    for (const deltas of this.#deltas.values()) {
      for (const { line, state, n } of deltas.all()) {
        if (state === WAITING && this.#lines.nameOf(line).queue === queue) count += n
      }
    }
    return count
  }

  /** Inside the write, at its end. */
  flush(): void {
    this.#count()
    const changed: TenantDelta[] = []
    for (const [tenant, deltas] of this.#deltas) {
      for (const delta of deltas.all()) {
        if (delta.n !== 0 || delta.pruned !== 0) changed.push({ tenant: toKey(tenant), ...delta })
      }
    }
    const run = (rows: readonly TenantDelta[]) => {
      const values: Value[] = []
      for (const { line, kind, state, tenant, n, pruned } of rows) {
        values.push(line, kind, state, tenant, n, pruned)
      }
      const sql = bulkSql('add tallies', TALLY_WIDTH, rows.length, addSql)
      this.#connection.statement(sql).run(...values)
      return true
    }
    inBulk(this.#connection, changed, { many: run, one: row => run([row]) })
    this.discard()
  }

  discard(): void {
    this.#move = null
    this.#deltas.clear()
    this.#waiting.clear()
  }

  counts({ tenant }: { readonly tenant?: string }): Count[] {
    const sql = `select line, kind, state, sum(n), sum(pruned) from tallies
      ${tenant === undefined ? '' : 'where tenant = ?'} group by line, kind, state
      having sum(n) <> 0 or sum(pruned) <> 0`
    const rows = this.#connection
      .statement(sql)
      .all(...(tenant === undefined ? [] : [toKey(tenant)])) as number[][]
    return rows.map(([line, kind, state, count, pruned]) => ({
      ...this.#lines.nameOf(line!),
      kind: kinds[kind!]!,
      state: states[state!]!,
      count: count!,
      pruned: pruned!,
    }))
  }

  count({ tenant, ...wanted }: Tallied): number {
    let sum = 0
    for (const { queue, handler, kind, state, count } of this.counts(
      tenant === undefined ? {} : { tenant },
    )) {
      const isWanted =
        (wanted.queue ?? queue) === queue &&
        (wanted.handler ?? handler) === handler &&
        (wanted.kind ?? kind) === kind &&
        (wanted.states === undefined || wanted.states.includes(state))
      if (isWanted) sum += count
    }
    return sum
  }

  tenants(page: PageRequest): Page<TenantCount> {
    const cut = cutBy('tenant', page, toKey)
    const names = this.#connection
      .statement(
        `select tenant from tallies ${whereAll(['n > 0', cut.where])}
          group by tenant order by tenant ${cut.order} limit ? offset ?`,
      )
      .all(...cut.values, cut.limit, cut.offset)
      .map(row => fromKey(row[0] as string))
    const kept = names.slice(0, page.limit)
    const items = kept.map(tenant => ({ tenant, counts: this.#byState(tenant) }))
    return { items, cursor: names.length > kept.length ? (kept.at(-1) ?? null) : null }
  }

  #byState(tenant: string): TenantCount['counts'] {
    const rows = this.#connection
      .statement(
        'select state, sum(n) from tallies where tenant = ? group by state having sum(n) > 0',
      )
      .all(toKey(tenant)) as [number, number][]
    const byState: Partial<Record<State, number>> = {}
    for (const [state, count] of rows) byState[states[state]!] = count
    return byState
  }

  /** For tests: what is counted differently from what is there. */
  differences(): string[] {
    return this.#connection
      .statement(
        `with truth as (
          select tenant, line, kind, state, count(*) as n from jobs join specs using (seq)
            group by tenant, line, kind, state
        ), told as (select tenant, line, kind, state, n from tallies where n <> 0)
        select 'missing', * from (select * from truth except select * from told)
        union all select 'wrong', * from (select * from told except select * from truth)`,
      )
      .all()
      .map(row => row.join(' '))
  }
}
