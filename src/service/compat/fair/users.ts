// What a user of the fair queue is given: turns, runs at once, starts per time.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { getUser, listUsers, removeUser, setUser, type UserRule } from '../../../fair/users.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../../use-cases/call/paging.ts'
import { readOnlyField, refuseChanged } from '../../use-cases/call/read-only.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { auditEntry } from '../../use-cases/call/client.ts'
import { text } from '../../use-cases/jobs/texts.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import { ruleBody, ruleFields, ruleOf, ruleView } from './rule.ts'
import { useCase } from '../../use-cases/call/use-case.ts'

const userParams = z.object({ id: text(limits.nameLength) })

const userBody = ruleBody
  .extend({ user_id: readOnlyField })
  .meta({ id: 'UserRuleBody', description: 'What is left out has no rule.' })

const userSchema = z.strictObject({ user_id: z.string(), ...ruleFields }).meta({ id: 'UserRule' })

const listAnswer = z
  .strictObject({ users: z.array(userSchema), ...pageAnswer })
  .meta({ id: 'UserRuleList' })

export const listUserRules = useCase({
  access: 'viewer',
  query: pageQuery.omit({ offset: true }).extend(tenantQuery.shape),
  result: listAnswer,
  handle: async call => {
    const tenant = tenantOf(call)
    const page = await listUsers(call.engine, tenant, pageOf(call.query, false))
    return { users: page.items.map(userView), ...pageFields(call.query, page) }
  },
})
export const getUserRule = useCase({
  access: 'viewer',
  params: userParams,
  query: tenantQuery,
  result: userSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    return userView(await getUser(call.engine, tenant, call.params.id))
  },
})

export const setUserRule = useCase({
  access: 'admin',
  params: userParams,
  query: tenantQuery,
  body: userBody,
  result: userSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    const userId = call.params.id
    refuseChanged(['user_id'], call.body, { user_id: userId })
    const rule = ruleOf(call.body)
    const audit = auditEntry(call, { tenant, action: 'user.set', object: userId })
    return userView(await setUser(call.engine, { tenant, userId, ...rule }, [audit]))
  },
})
export const removeUserRule = useCase({
  access: 'admin',
  params: userParams,
  query: tenantQuery,
  status: 204,
  handle: async call => {
    const tenant = tenantOf(call)
    const userId = call.params.id
    const audit = auditEntry(call, { tenant, action: 'user.remove', object: userId })
    const isRemoved = await removeUser(call.engine, { tenant, userId }, [audit])
    if (!isRemoved) throw notFound(`user ${userId} has no rule`)
    return undefined
  },
})

function userView({ userId, ...rule }: UserRule): z.output<typeof userSchema> {
  return { user_id: userId, ...ruleView(rule) }
}
