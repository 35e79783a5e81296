// How many jobs there are, as scripts keep it: by route, kind and state, altogether and by tenant.

import type { State } from '../../core/job.ts'
import { offsetOf } from '../../core/stored/query.ts'
import type { Count, JobFilter, Page, PageRequest, TenantCount } from '../port.ts'
import { kinds, states } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'
import type { RedisSession } from './session.ts'
import { flag, nameFrom, pairsOf, wanted } from './script-args.ts'

/** What a field of counts is about: queue, handler, kind and state. */
export function countField({ queue, handler, kind, state }: Omit<Count, 'count' | 'pruned'>) {
  const codes = [kinds.indexOf(kind), states.indexOf(state)]
  return [toKey(queue), toKey(handler), ...codes].join('\0')
}

export function parseCountField(field: string): Omit<Count, 'count' | 'pruned'> {
  const [queue, handler, kind, state] = field.split('\0')
  return {
    queue: fromKey(queue!),
    handler: fromKey(handler!),
    kind: kinds[Number(kind)]!,
    state: states[Number(state)]!,
  }
}

export async function counts(session: RedisSession, tenant: string | undefined): Promise<Count[]> {
  const answer = (await session.run('counts', [wanted(tenant)])) as [string[], string[]]
  const found = new Map<string, { count: number; pruned: number }>()
  const sumOf = (field: string) => {
    const sum = found.get(field) ?? { count: 0, pruned: 0 }
    found.set(field, sum)
    return sum
  }
  for (const [field, n] of pairsOf(answer[0])) sumOf(field).count += Number(n)
  for (const [field, n] of pairsOf(answer[1])) sumOf(field).pruned += Number(n)
  return [...found].map(([field, sum]) => ({ ...parseCountField(field), ...sum }))
}

/** By route, kind and state; what else a filter says is left aside. */
export async function countsOf(session: RedisSession, filter: JobFilter): Promise<number> {
  const { kind, states: sought, tenant, queue, handler } = filter
  let sum = 0
  for (const entry of await counts(session, tenant)) {
    const isFit =
      (kind === undefined || kind === entry.kind) &&
      (sought === undefined || sought.includes(entry.state)) &&
      (queue === undefined || queue === entry.queue) &&
      (handler === undefined || handler === entry.handler)
    if (isFit) sum += entry.count
  }
  return sum
}

export async function tenants(
  session: RedisSession,
  page: PageRequest,
): Promise<Page<TenantCount>> {
  const isNewest = page.newestFirst === true
  const { cursor = null } = page
  const answer = (await session.run('tenants', [
    flag(isNewest),
    nameFrom(cursor === null ? null : toKey(cursor), isNewest),
    String(offsetOf(page) ?? 0),
    String(page.limit + 1),
  ])) as [string, string[]][]
  const items = answer.slice(0, page.limit).map(([tenant, flat]): TenantCount => {
    const byState: Partial<Record<State, number>> = {}
    for (const [field, n] of pairsOf(flat)) {
      const { state } = parseCountField(field)
      if (n !== '0') byState[state] = (byState[state] ?? 0) + Number(n)
    }
    return { tenant: fromKey(tenant), counts: byState }
  })
  const last = items.at(-1)
  return { items, cursor: answer.length > items.length && last ? last.tenant : null }
}
