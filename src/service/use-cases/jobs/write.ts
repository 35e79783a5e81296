// Making, editing and removing jobs.

import { once } from '../call/idempotency.ts'
import { clientOf, insert } from '../call/client.ts'
import type { Call } from '../call/call.ts'
import { useCase } from '../call/use-case.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { EVERY_TENANT, maySee, readerOf, tenantPattern } from '../../auth/principal.ts'
import { jobAnswer, jobParams } from './answer.ts'
import { jobBody, type JobBody } from './body.ts'
import {
  assertHandler,
  createProblems,
  inWireNames,
  readOnlyProblems,
  withoutUnchanged,
} from './rules.ts'
import { clashes, formProblems } from '../../compat/crawl-jobs/rules.ts'
import { assertNotDeclared, guardOf, noJob, visibleJob } from './scope.ts'
import { contextOf, editedSpec, newSpec } from './spec.ts'
import { formQuery, jobSchema, jobView } from './view.ts'

const family = 'jobs'

export const createJob = useCase({
  access: 'admin',
  family,
  query: formQuery,
  body: jobBody,
  check: (body, { actions }) => createProblems(body, actions),
  status: 201,
  result: jobSchema,
  handle: async call => {
    const { body, engine } = call
    const tenant = tenantFor(call, body)
    await assertHandler(body, call)
    const spec = inWireNames(body, () => newSpec(body, tenant, contextOf(call)))
    const id = engine.ids.next(engine.clock.now())
    return once(call, {
      answer: ({ after }) => jobAnswer(call, after!, 201).at(`/api/v1/jobs/${id}`),
      act: client => inWireNames(body, () => insert(client, { id, spec })),
    })
  },
})

/** One's own; only who sees every tenant may choose, and says `default` by saying nothing. */
function tenantFor(call: Call, { tenant }: JobBody): string {
  const own = call.caller.tenant
  const isWide = own === EVERY_TENANT
  const chosen = tenant ?? (isWide ? 'default' : own)
  const isFine = typeof chosen === 'string' && tenantPattern.test(chosen)
  const rule = isWide ? 'must be the name of a tenant' : 'is given by the token'
  const problem = { field: 'tenant', value: chosen, rule }
  refuseInvalid(family, isFine && (isWide || chosen === own) ? [] : [problem])
  return chosen as string
}

export const removeJob = useCase({
  access: 'admin',
  family,
  params: jobParams,
  status: 204,
  matches: true,
  handle: async call => {
    const { id } = call.params
    const job = await visibleJob(call, id)
    guardOf(call, assertNotDeclared).check!(job)
    const [isRemoved] = await clientOf(call).remove([id])
    if (!isRemoved) throw noJob(id)
    await call.pages?.remove([{ tenant: job.spec.tenant, jobId: id }])
    return undefined
  },
})

export const editJob = useCase({
  access: 'admin',
  family,
  params: jobParams,
  query: formQuery,
  body: jobBody,
  check: clashes,
  result: jobSchema,
  matches: true,
  prepare: async ({ engine, actions, caller, params, body }) => {
    const [job] = await engine.store.get([params.id])
    if (!job || !maySee(caller, job.spec.tenant)) return body
    return withoutUnchanged(body, jobView(job, actions, readerOf(caller)))
  },
  handle: async call => {
    const { body, params } = call
    await assertHandler(body, call)
    const guard = guardOf(call, job => {
      assertNotDeclared(job)
      const view = jobView(job, call.actions, readerOf(call.caller))
      refuseInvalid(family, [...readOnlyProblems(body, view), ...formProblems(body, view)])
    })
    const context = contextOf(call)
    const client = clientOf(call)
    const job = await inWireNames(body, () =>
      client.edit(params.id, spec => editedSpec(spec, body, context), guard),
    )
    return jobAnswer(call, job)
  },
})
