// What a tenant is given in all. Administrators of every tenant set it.

import { z } from 'zod'
import * as users from '../../../fair/users.ts'
import { auditEntry } from '../call/client.ts'
import { readOnlyField, refuseChanged } from '../call/read-only.ts'
import { notFound } from '../call/refusal.ts'
import { EVERY_TENANT, tenantPattern } from '../../auth/principal.ts'
import { ruleBody, ruleFields, ruleOf, ruleView } from '../../compat/fair/rule.ts'
import { useCase } from '../call/use-case.ts'

const params = z.object({
  id: z.string().regex(tenantPattern, 'must be the name of a tenant'),
})

export const tenantRuleBody = ruleBody.extend({ tenant: readOnlyField }).meta({
  id: 'TenantRuleBody',
  description: 'What is left out has no rule.',
})

export const tenantRuleAnswer = z
  .strictObject({ tenant: z.string(), ...ruleFields })
  .meta({ id: 'TenantRule', description: 'Holds for all users of the tenant together.' })

export const getTenantRule = useCase({
  access: 'viewer',
  params,
  result: tenantRuleAnswer,
  handle: async call => {
    const { id } = call.params
    const { tenant } = call.caller
    if (tenant !== EVERY_TENANT && tenant !== id) throw notFound(`no tenant ${id}`)
    const [rule] = await users.tenantRules(call.engine, [id])
    return { tenant: id, ...ruleView(rule!) }
  },
})

export const setTenantRule = useCase({
  access: 'every-tenant',
  params,
  body: tenantRuleBody,
  result: tenantRuleAnswer,
  handle: async call => {
    const { id: tenant } = call.params
    refuseChanged(['tenant'], call.body, { tenant })
    const audit = auditEntry(call, { tenant, action: 'tenant.set', object: tenant })
    const rule = ruleOf(call.body)
    await users.setTenantRule(call.engine, { tenant, ...rule }, [audit])
    return { tenant, ...ruleView(rule) }
  },
})
export const removeTenantRule = useCase({
  access: 'every-tenant',
  params,
  status: 204,
  handle: async call => {
    const { id: tenant } = call.params
    const audit = auditEntry(call, { tenant, action: 'tenant.remove', object: tenant })
    if (!(await users.removeTenantRule(call.engine, tenant, [audit]))) {
      throw notFound(`tenant ${tenant} has no rule`)
    }
    return undefined
  },
})
