// How many jobs there are, as scripts keep it.

import type { State } from '../../core/job.ts'
import { offsetOf } from '../../core/query.ts'
import type { Count, JobFilter, Page, PageRequest, TenantCount } from '../store.ts'
import { NUL } from './codes.ts'
import { kinds, states } from '../shared/codes.ts'
import { optional } from './cold.ts'
import { lexFrom } from './paging.ts'
import type { Shelf } from './shelf.ts'
import { fromKey, toKey } from '../shared/text.ts'

type Flat = readonly string[]

export async function counts(shelf: Shelf, tenant: string | undefined): Promise<Count[]> {
  const answer = (await shelf.run('counts', [optional(tenant ?? null)])) as [Flat, Flat]
  const sums = new Map<string, { count: number; pruned: number }>()
  const sum = (field: string) => {
    const held = sums.get(field) ?? { count: 0, pruned: 0 }
    sums.set(field, held)
    return held
  }
  for (const [field, n] of pairs(answer[0])) sum(field).count += n
  for (const [field, n] of pairs(answer[1])) sum(field).pruned += n
  return [...sums].map(([field, held]) => {
    const [queue, handler, kind, state] = field.split(NUL)
    return {
      queue: fromKey(queue!),
      handler: fromKey(handler!),
      kind: kinds[Number(kind)]!,
      state: states[Number(state)]!,
      ...held,
    }
  })
}

function pairs(flat: Flat): [field: string, n: number][] {
  const made: [string, number][] = []
  for (let i = 0; i < flat.length; i += 2) made.push([flat[i]!, Number(flat[i + 1])])
  return made
}

/** By line, kind and state; what else a filter says is left aside. */
export async function countTallies(shelf: Shelf, filter: JobFilter): Promise<number> {
  const { kind, states: wanted, tenant, queue, handler } = filter
  let sum = 0
  for (const held of await counts(shelf, tenant)) {
    const fits =
      (kind === undefined || kind === held.kind) &&
      (wanted === undefined || wanted.includes(held.state)) &&
      (queue === undefined || queue === held.queue) &&
      (handler === undefined || handler === held.handler)
    if (fits) sum += held.count
  }
  return sum
}

export async function tenants(shelf: Shelf, page: PageRequest): Promise<Page<TenantCount>> {
  const isNewest = page.newestFirst === true
  const { cursor = null } = page
  const answer = (await shelf.run('tenants', [
    isNewest ? '1' : '0',
    lexFrom(cursor === null ? null : toKey(cursor), isNewest),
    String(offsetOf(page) ?? 0),
    String(page.limit + 1),
  ])) as [string, Flat][]
  const items = answer.slice(0, page.limit).map(([tenant, flat]): TenantCount => {
    const held: Partial<Record<State, number>> = {}
    for (const [field, n] of pairs(flat)) {
      const state = states[Number(field.split(NUL)[3])]!
      if (n !== 0) held[state] = (held[state] ?? 0) + n
    }
    return { tenant: fromKey(tenant), counts: held }
  })
  const last = items.at(-1)
  return { items, cursor: answer.length > items.length && last ? last.tenant : null }
}
