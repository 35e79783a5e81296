// `/api/v1/jobs`: making, editing and removing jobs.

import { z } from 'zod'
import { SchedulerError } from '../../../core/errors.ts'
import { withCheck } from '../call/checks.ts'
import { clientOf, once } from '../call/idempotency.ts'
import type { App, AppParts, Reply, Request, Routes } from '../../http/app/parts.ts'
import { assertMatchGiven, etagOf } from '../call/revision.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { callerOf } from '../../auth/access.ts'
import { EVERY_TENANT, maySee, readerOf, tenantPattern } from '../../auth/principal.ts'
import { jobAnswer, jobParams } from './answer.ts'
import { jobBody, type JobBody } from './body.ts'
import { inForm } from '../../compat/crawl-jobs/forms.ts'
import { fromCronRoutes } from '../../compat/crawl-jobs/from-cron-route.ts'
import { assertHandler, inWireNames } from './handler.ts'
import {
  clashes,
  createProblems,
  formProblems,
  readOnlyProblems,
  withoutUnchanged,
} from './rules.ts'
import { assertNotDeclared, guardOf, noJob, visibleJob } from './scope.ts'
import { contextOf } from './spec-context.ts'
import { editedSpec, newSpec } from './spec.ts'
import { formQuery, jobSchema, jobView } from './view.ts'

const family = 'jobs'

export const writeRoutes: Routes = (app, parts) => {
  createRoute(app, parts)
  removeRoute(app, parts)
  editRoutes(app, parts)
  fromCronRoutes(app, parts)
}

function createRoute(app: App, parts: AppParts): void {
  const { actions } = parts
  app.route({
    method: 'POST',
    url: '/api/v1/jobs',
    config: { access: 'admin', family },
    schema: {
      tags: ['jobs'],
      summary: 'Make a job',
      body: withCheck(jobBody, given => createProblems(given, actions)),
      querystring: formQuery,
      response: { 201: jobSchema },
    },
    handler: async (request, reply) => create(request, reply, request.body, parts),
  })
}

async function create(
  request: Request,
  reply: Reply,
  body: JobBody,
  parts: AppParts,
): Promise<Reply> {
  const { engine } = parts
  const tenant = tenantFor(request, body)
  await assertHandler(body, parts)
  const spec = inWireNames(body, () => newSpec(body, tenant, contextOf(request, parts)))
  const id = engine.ids.next(engine.clock.now())
  return once(request, reply, parts, {
    answer: ({ after }) => {
      const { headers, ...rest } = jobAnswer(request, after!, parts, 201)
      return { ...rest, headers: { ...headers, Location: `/api/v1/jobs/${id}` } }
    },
    act: client =>
      inWireNames(body, async () => {
        const [made] = await client.create([{ id, spec }])
        if (made!.result === 'inserted') return
        if (made!.result === 'full') {
          throw new SchedulerError('QUEUE_FULL', `queue ${spec.queue} is full`)
        }
        throw new SchedulerError('REVISION_CONFLICT', 'someone else was faster')
      }),
  })
}

/** One's own; only who sees every tenant may choose, and says `default` by saying nothing. */
function tenantFor(request: Request, { tenant }: JobBody): string {
  const own = callerOf(request).tenant
  const isWide = own === EVERY_TENANT
  const chosen = tenant ?? (isWide ? 'default' : own)
  const isFine = typeof chosen === 'string' && tenantPattern.test(chosen)
  const rule = isWide ? 'must be the name of a tenant' : 'is given by the token'
  const problem = { field: 'tenant', value: chosen, rule }
  refuseInvalid(family, isFine && (isWide || chosen === own) ? [] : [problem])
  return chosen as string
}

function removeRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'DELETE',
    url: '/api/v1/jobs/:id',
    config: { access: 'admin', family },
    schema: {
      tags: ['jobs'],
      summary: 'Remove a job in any state, with its executions',
      params: jobParams,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      assertMatchGiven(request, parts)
      const { id } = request.params
      const job = await visibleJob(request, parts, id)
      guardOf(request, assertNotDeclared).check!(job)
      const [isRemoved] = await clientOf(request, parts).remove([id])
      if (!isRemoved) throw noJob(id)
      await parts.pages?.remove([{ tenant: job.spec.tenant, jobId: id }])
      return reply.code(204).send()
    },
  })
}

function editRoutes(app: App, parts: AppParts): void {
  const { actions } = parts
  for (const method of ['PUT', 'PATCH'] as const) {
    app.route({
      method,
      url: '/api/v1/jobs/:id',
      config: { access: 'admin', family },
      schema: {
        tags: ['jobs'],
        summary: 'Change what is given; everything else stays',
        params: jobParams,
        body: withCheck(jobBody, clashes),
        querystring: formQuery,
        response: { 200: jobSchema },
      },
      preValidation: async request => {
        const { id } = request.params
        const [job] = await parts.engine.store.get([id])
        if (!job || !maySee(callerOf(request), job.spec.tenant)) return
        const view = jobView(job, actions, readerOf(callerOf(request)))
        request.body = withoutUnchanged(request.body, view) as typeof request.body
      },
      handler: async (request, reply) => {
        assertMatchGiven(request, parts)
        const { body } = request
        await assertHandler(body, parts)
        const reader = readerOf(callerOf(request))
        const guard = guardOf(request, job => {
          assertNotDeclared(job)
          const view = jobView(job, actions, reader)
          refuseInvalid(family, [...readOnlyProblems(body, view), ...formProblems(body, view)])
        })
        const context = contextOf(request, parts)
        const client = clientOf(request, parts)
        const job = await inWireNames(body, () =>
          client.edit(request.params.id, spec => editedSpec(spec, body, context), guard),
        )
        const shown = inForm(jobView(job, actions, reader), request.query.form)
        return reply.header('ETag', etagOf(job)).send(shown)
      },
    })
  }
}
