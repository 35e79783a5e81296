// How many jobs there are, in memory simply counted.

import type { Job, State } from '../../core/job.ts'
import type { Count, Page, PageRequest, TenantCount } from '../port.ts'
import { countKey, pageOf, type Rows } from './rows.ts'

export function counts(rows: Rows, filter: { readonly tenant?: string }): Count[] {
  const tallies = new Map<string, { count: number; pruned: number }>()
  const tally = (key: string) => {
    const [tenant, ...place] = JSON.parse(key) as [string, ...string[]]
    if (filter.tenant !== undefined && filter.tenant !== tenant) return null
    const placeKey = JSON.stringify(place)
    const held = tallies.get(placeKey) ?? { count: 0, pruned: 0 }
    tallies.set(placeKey, held)
    return held
  }
  for (const { job } of rows.jobs.values()) {
    const held = tally(countKey(job))
    if (held) held.count++
  }
  for (const [key, pruned] of rows.pruned) {
    const held = tally(key)
    if (held) held.pruned += pruned
  }
  return [...tallies].map(([key, sums]) => {
    const [queue, handler, kind, state] = JSON.parse(key) as [string, string, Job['kind'], State]
    return { queue, handler, kind, state, ...sums }
  })
}

export function tenants(rows: Rows, page: PageRequest): Page<TenantCount> {
  const byTenant = new Map<string, Partial<Record<State, number>>>()
  for (const { job } of rows.jobs.values()) {
    const held = byTenant.get(job.spec.tenant) ?? {}
    held[job.state] = (held[job.state] ?? 0) + 1
    byTenant.set(job.spec.tenant, held)
  }
  const told = [...byTenant]
    .map(([tenant, states]) => ({ tenant, counts: states }))
    .sort((a, b) => (a.tenant < b.tenant ? -1 : 1))
  return pageOf(told, page, held => held.tenant)
}
