// `/api/v1/tenants/:id`: what a tenant is given in all. Administrators of every tenant set it.

import { z } from 'zod'
import { auditWrite } from '../../jobs/audit.ts'
import { removeTenantRule, setTenantRule, tenantRules } from '../../fair/users.ts'
import type { App, AppParts, Request, Routes } from '../app/parts.ts'
import { notFound } from '../app/refusal.ts'
import { callerOf } from '../auth/access.ts'
import { actorOf, EVERY_TENANT, tenantPattern } from '../auth/principal.ts'
import { ruleBody, ruleFields, ruleOf, ruleView } from '../fair/rule.ts'

const params = z.object({
  id: z.string().regex(tenantPattern, 'must be the name of a tenant'),
})

export const tenantRuleBody = ruleBody.meta({
  id: 'TenantRuleBody',
  description: 'What is left out has no rule.',
})

export const tenantRuleAnswer = z
  .strictObject({ tenant: z.string(), ...ruleFields })
  .meta({ id: 'TenantRule', description: 'Holds for all users of the tenant together.' })

const tags = ['system']
const url = '/api/v1/tenants/:id'

export const tenantRuleRoutes: Routes = (app, parts) => {
  readRoute(app, parts)
  writeRoutes(app, parts)
}

function readRoute(app: App, { engine }: AppParts): void {
  app.route({
    method: 'GET',
    url,
    config: { access: 'viewer' },
    schema: {
      tags,
      summary: 'The rule of a tenant; one that has none has the plain one',
      params,
      response: { 200: tenantRuleAnswer },
    },
    handler: async request => {
      const { id } = request.params
      const { tenant } = callerOf(request)
      if (tenant !== EVERY_TENANT && tenant !== id) throw notFound(`no tenant ${id}`)
      const [rule] = await tenantRules(engine, [id])
      return { tenant: id, ...ruleView(rule!) }
    },
  })
}

function writeRoutes(app: App, parts: AppParts): void {
  const { engine } = parts
  app.route({
    method: 'PUT',
    url,
    config: { access: 'every-tenant' },
    schema: {
      tags,
      summary: 'Give a tenant a rule; needs a token of every tenant',
      params,
      body: tenantRuleBody,
      response: { 200: tenantRuleAnswer },
    },
    handler: async request => {
      const { id: tenant } = request.params
      const audit = audited(request, parts, { tenant, action: 'tenant.set' })
      const rule = ruleOf(request.body)
      await setTenantRule(engine, { tenant, ...rule }, [audit])
      return { tenant, ...ruleView(rule) }
    },
  })
  app.route({
    method: 'DELETE',
    url,
    config: { access: 'every-tenant' },
    schema: {
      tags,
      summary: 'Take the rule of a tenant away; needs a token of every tenant',
      params,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      const { id: tenant } = request.params
      const audit = audited(request, parts, { tenant, action: 'tenant.remove' })
      if (!(await removeTenantRule(engine, tenant, [audit]))) {
        throw notFound(`tenant ${tenant} has no rule`)
      }
      return reply.code(204).send()
    },
  })
}

interface RuleAction {
  readonly tenant: string
  readonly action: string
}

function audited(request: Request, { engine }: AppParts, { tenant, action }: RuleAction) {
  const actor = actorOf(callerOf(request), request.ip, request.id)
  const entry = { actor, tenant, action, object: tenant, result: 'done' }
  return auditWrite(entry, engine.ids, engine.clock.now())
}
