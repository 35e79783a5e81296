// What people do to a job: pause, resume, cancel, retry, run now, take a dead holder's lease.

import { shortId } from '../../core/short-id.ts'
import { z } from 'zod'
import { assertTransition, statusOf, transitions } from '../../core/control/status.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import type { Json } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import type { Client, Guard } from '../../jobs/client.ts'
import { once } from '../app/idempotency.ts'
import type { App, AppParts, Routes } from '../app/parts.ts'
import { moment, text } from './texts.ts'
import { jobAnswer, jobParams } from './answer.ts'
import { callerOf } from '../auth/access.ts'
import { readerOf } from '../auth/principal.ts'
import { guardOf, visibleJob } from './scope.ts'
import { formQuery, jobSchema } from './view.ts'

const family = 'jobs'

export const pauseBody = z
  .strictObject({ until: moment.nullable().optional(), note: text(limits.noteLength).optional() })
  .optional()
export const cancelBody = z.strictObject({ reason: text(limits.noteLength).optional() }).optional()
export const runBody = z.strictObject({ payload: z.unknown().optional() }).optional()
const nothing = z.strictObject({}).optional()

interface Verb<B extends z.ZodType> {
  readonly name: string
  readonly summary: string
  readonly access: 'operator' | 'admin'
  readonly body: B
  readonly act: (client: Client, id: string, body: z.output<B>, guard: Guard) => Promise<Job>
  readonly check?: (job: Job) => void
}

function verb<B extends z.ZodType>(given: Verb<B>): Verb<z.ZodType> {
  return given
}

const verbs: readonly Verb<z.ZodType>[] = [
  verb({
    name: 'pause',
    summary: 'Stop a scheduled job from firing',
    access: 'operator',
    body: pauseBody,
    act: (client, id, body, guard) => client.pause(id, pauseOf(body), guard),
    // The library accepts it while a run is under way; here only a scheduled job is paused.
    check: job => assertTransition(job, 'paused', 'pause'),
  }),
  verb({
    name: 'resume',
    summary: 'Let a paused job fire again',
    access: 'operator',
    body: nothing,
    act: (client, id, _body, guard) => client.resume(id, guard),
    check: assertPaused,
  }),
  verb({
    name: 'cancel',
    summary: 'End a job; a run under way is aborted',
    access: 'operator',
    body: cancelBody,
    act: (client, id, body, guard) => client.cancel(id, body?.reason, guard),
  }),
  verb({
    name: 'retry',
    summary: 'Start a failed job over, at once',
    access: 'operator',
    body: nothing,
    act: (client, id, _body, guard) => client.retry(id, guard),
  }),
]

export const controlRoutes: Routes = (app, parts) => {
  for (const one of verbs) controlRoute(app, parts, one)
  runRoute(app, parts)
  unlockRoute(app, parts)
}

function controlRoute(app: App, parts: AppParts, one: Verb<z.ZodType>): void {
  app.route({
    method: 'POST',
    url: `/api/v1/jobs/:id/${one.name}`,
    config: { access: one.access, family },
    schema: {
      tags: ['jobs'],
      summary: one.summary,
      params: jobParams,
      body: one.body,
      querystring: formQuery,
      response: { 200: jobSchema },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const guard = guardOf(request, one.check)
      return once(request, reply, parts, {
        answer: ({ after }) => jobAnswer(request, after!, parts),
        act: client => one.act(client, id, request.body, guard),
      })
    },
  })
}

function pauseOf(body: z.output<typeof pauseBody>) {
  const { until, note } = body ?? {}
  return {
    ...(until == null ? {} : { until: Date.parse(until) }),
    ...(note === undefined ? {} : { note }),
  }
}

function assertPaused(job: Job): void {
  const from = statusOf(job)
  if (from === 'paused') return
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot resume job ${shortId(job.id)}: it is ${from} and not paused, so it cannot become scheduled`,
    { details: { from, to: 'scheduled', allowed: [...transitions[from]] } },
  )
}

export const runAnswer = z
  .strictObject({ job_id: z.string(), run_id: z.string(), status: z.literal('queued') })
  .meta({ id: 'RunAsked' })

function runRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/jobs/:id/run',
    config: { access: 'operator', family },
    schema: {
      tags: ['jobs'],
      summary: 'Run once more beside the schedule, which does not move',
      params: jobParams,
      body: runBody,
      response: { 202: runAnswer },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const given = request.body?.payload as Json | undefined
      return once(request, reply, parts, {
        answer: ({ runId }) => ({
          status: 202,
          body: { job_id: id, run_id: runId!, status: 'queued' },
          headers: { Location: `/api/v1/runs/${encodeURIComponent(runId!)}` },
        }),
        act: async client => {
          if (given === undefined) return client.run(id, {}, guardOf(request))
          const { spec } = await visibleJob(request, parts, id)
          const payload = parts.actions.givenPayload(spec, given, readerOf(callerOf(request)))
          return client.run(id, { payload }, guardOf(request))
        },
      })
    },
  })
}

function unlockRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/jobs/:id/unlock',
    config: { access: 'admin', family },
    schema: {
      tags: ['jobs'],
      summary: 'Clear the lock of a holder that is gone; what it still does is refused',
      params: jobParams,
      body: nothing,
      querystring: formQuery,
      response: { 200: jobSchema },
    },
    handler: async (request, reply) =>
      once(request, reply, parts, {
        answer: ({ after }) => jobAnswer(request, after!, parts),
        act: client => client.release(request.params.id, guardOf(request)),
      }),
  })
}
