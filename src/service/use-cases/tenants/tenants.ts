// `/api/v1/tenants`: how many jobs of each are in which state, and who waits longest.

import { z } from 'zod'
import type { State } from '../../../core/job.ts'
import { plainRule } from '../../../core/fairness/lane.ts'
import { iso } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import { tenantRules } from '../../../fair/users.ts'
import type { Page, TenantCount } from '../../../store/port.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import { ruleSchema, ruleView } from '../../compat/fair/rule.ts'
import { cursorQuery } from '../call/paging.ts'
import { useCase } from '../call/use-case.ts'

const PAGE_MAX = 100
const count = z.int().nonnegative()
const states = ['waiting', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const

export const query = cursorQuery.extend({
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(50),
})

export const tenantSchema = z
  .strictObject({
    tenant: z.string(),
    total: count,
    waiting: count,
    running: count,
    paused: count,
    completed: count,
    failed: count,
    cancelled: count,
    oldest_due_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'The earliest moment that is due and still waits.' }),
    waited_ms: z.int(),
    rule: ruleSchema.nullable().meta({ description: 'What the tenant is given; null for none.' }),
  })
  .meta({ id: 'Tenant', description: 'Jobs and tasks by state.' })

export const answer = z
  .strictObject({
    tenants: z.array(tenantSchema),
    limit: z.int(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'TenantList' })

export const listTenants = useCase({
  access: 'viewer',
  query,
  result: answer,
  handle: async call => {
    const { limit, cursor } = call.query
    const { tenant } = call.caller
    const page: Page<TenantCount> =
      tenant === EVERY_TENANT
        ? await call.engine.store.tenants({ limit, cursor: cursor ?? null })
        : { items: [await ownCounts(call.engine, tenant)], cursor: null }
    const tenants = []
    const rules = await tenantRules(
      call.engine,
      page.items.map(one => one.tenant),
    )
    for (const [i, one] of page.items.entries()) {
      const rule = rules[i]!
      const view = await tenantView(call.engine, one)
      tenants.push({ ...view, rule: rule === plainRule ? null : ruleView(rule) })
    }
    return { tenants, limit, next_cursor: page.cursor }
  },
})

async function ownCounts({ store }: Engine, tenant: string): Promise<TenantCount> {
  const counts: Partial<Record<State, number>> = {}
  for (const one of await store.counts({ tenant })) {
    counts[one.state] = (counts[one.state] ?? 0) + one.count
  }
  return { tenant, counts }
}

async function tenantView({ store, clock }: Engine, { tenant, counts }: TenantCount) {
  const now = clock.now()
  const [oldest] = await store.upcoming({ tenant, from: 0, until: now, limit: 1 })
  const due = oldest?.dueAt ?? null
  const byState = Object.fromEntries(states.map(state => [state, counts[state] ?? 0])) as Record<
    State,
    number
  >
  return {
    tenant,
    total: states.reduce((sum, state) => sum + byState[state], 0),
    ...byState,
    oldest_due_at: due === null ? null : iso(due),
    waited_ms: due === null ? 0 : now - due,
  }
}
