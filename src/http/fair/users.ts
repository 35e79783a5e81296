// `/api/v1/users`: what a user of the fair queue is given: turns, runs at once, starts per time.

import { z } from 'zod'
import { limits } from '../../core/limits.ts'
import { auditWrite } from '../../jobs/audit.ts'
import { getUser, listUsers, removeUser, setUser, type UserRule } from '../../fair/users.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../app/paging.ts'
import type { App, AppParts, Request, Routes } from '../app/parts.ts'
import { notFound } from '../app/refusal.ts'
import { callerOf } from '../auth/access.ts'
import { actorOf } from '../auth/principal.ts'
import { text } from '../jobs/texts.ts'
import { tenantOf, tenantQuery } from '../workflows/tenant.ts'
import { ruleBody, ruleFields, ruleOf, ruleView } from './rule.ts'

const userParams = z.object({ id: text(limits.nameLength) })

const userBody = ruleBody.meta({ id: 'UserRuleBody', description: 'What is left out has no rule.' })

const userSchema = z.strictObject({ user_id: z.string(), ...ruleFields }).meta({ id: 'UserRule' })

const listAnswer = z
  .strictObject({ users: z.array(userSchema), ...pageAnswer })
  .meta({ id: 'UserRuleList' })

const tags = ['fair queue']
const url = '/api/v1/users'

export const userRoutes: Routes = (app, parts) => {
  readRoutes(app, parts)
  writeRoutes(app, parts)
}

function readRoutes(app: App, { engine }: AppParts): void {
  app.route({
    method: 'GET',
    url,
    config: { access: 'viewer' },
    schema: {
      tags,
      summary: 'The users that have rules, by name',
      querystring: pageQuery.omit({ offset: true }).extend(tenantQuery.shape),
      response: { 200: listAnswer },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, 'native')
      const page = await listUsers(engine, tenant, pageOf(request.query, false))
      return { users: page.items.map(userView), ...pageFields(request.query, page) }
    },
  })
  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: { access: 'viewer' },
    schema: {
      tags,
      summary: 'The rule of a user; one that has none has the plain one',
      params: userParams,
      querystring: tenantQuery,
      response: { 200: userSchema },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, 'native')
      return userView(await getUser(engine, tenant, request.params.id))
    },
  })
}

function writeRoutes(app: App, parts: AppParts): void {
  const { engine } = parts
  app.route({
    method: 'PUT',
    url: `${url}/:id`,
    config: { access: 'admin' },
    schema: {
      tags,
      summary: 'Give a user a rule; other processes know of it within seconds',
      params: userParams,
      querystring: tenantQuery,
      body: userBody,
      response: { 200: userSchema },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, 'native')
      const userId = request.params.id
      const rule = ruleOf(request.body)
      const audit = audited(request, parts, { tenant, userId, action: 'user.set' })
      return userView(await setUser(engine, { tenant, userId, ...rule }, [audit]))
    },
  })
  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    config: { access: 'admin' },
    schema: {
      tags,
      summary: 'Take the rule of a user away',
      params: userParams,
      querystring: tenantQuery,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      const tenant = tenantOf(request, request.query.tenant, 'native')
      const userId = request.params.id
      const audit = audited(request, parts, { tenant, userId, action: 'user.remove' })
      const isRemoved = await removeUser(engine, { tenant, userId }, [audit])
      if (!isRemoved) throw notFound(`user ${userId} has no rule`)
      return reply.code(204).send()
    },
  })
}

interface UserDeed {
  readonly tenant: string
  readonly userId: string
  readonly action: string
}

function audited(request: Request, { engine }: AppParts, { tenant, userId, action }: UserDeed) {
  const actor = actorOf(callerOf(request), request.ip, request.id)
  const entry = { actor, tenant, action, object: userId, result: 'done' }
  return auditWrite(entry, engine.ids, engine.clock.now())
}

function userView({ userId, ...rule }: UserRule): z.output<typeof userSchema> {
  return { user_id: userId, ...ruleView(rule) }
}
