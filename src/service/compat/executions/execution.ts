// One attempt by its id, and what it logged.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { iso } from '../../../core/time.ts'
import type { JobFilter, Store } from '../../../store/port.ts'
import type { Call } from '../../use-cases/call/call.ts'
import { pageAnswer, pageFields, pageOf, pageQuery, pagesOf } from '../../use-cases/call/paging.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { useCase } from '../../use-cases/call/use-case.ts'
import { maySee, scopeOf } from '../../auth/principal.ts'
import { formOf } from '../crawl-jobs/flat.ts'
import { executionSchema, executionView, liveExecution, type ExecutionView } from './view.ts'

const params = z.object({ id: z.string().min(1).max(limits.idLength) })

export const logAnswer = z
  .strictObject({
    lines: z.array(
      z.strictObject({
        at: z.iso.datetime(),
        level: z.enum(['debug', 'info', 'warn', 'error']),
        message: z.string(),
        fields: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    ...pageAnswer,
  })
  .meta({ id: 'Log' })

export const getExecution = useCase({
  access: 'viewer',
  family: 'jobs',
  params,
  result: executionSchema,
  handle: async call => findExecution(call, call.params.id),
})
export const readExecutionLog = useCase({
  access: 'viewer',
  family: 'jobs',
  params,
  query: pageQuery,
  result: logAnswer,
  handle: async call => {
    const { id } = await findExecution(call, call.params.id)
    const page = await call.engine.store.log(id, pageOf(call.query, false))
    const lines = page.items.map(({ at, level, message, fields }) => ({
      at: iso(at),
      level,
      message,
      fields,
    }))
    return { lines, ...pageFields(call.query, page) }
  },
})

/** The same words for what is unknown and what belongs to another tenant. */
async function findExecution({ engine, caller }: Call, id: string): Promise<ExecutionView> {
  const { items } = await engine.store.attempts({ id }, { limit: 1 })
  const [attempt] = items
  if (attempt) {
    const [job] = await engine.store.get([attempt.jobId])
    if (job && maySee(caller, job.spec.tenant)) return executionView(attempt, formOf(job))
    throw notFound('there is no such execution')
  }
  const live = await findLive(engine.store, id, scopeOf(caller))
  if (live === null) throw notFound('there is no such execution')
  return live
}

/** Only the rows that run can hold it: as many as there are slots. */
async function findLive(
  store: Store,
  id: string,
  scope: { readonly tenant?: string },
): Promise<ExecutionView | null> {
  const filter: JobFilter = { states: ['running'], ...scope }
  for await (const { items } of pagesOf(page => store.list(filter, page))) {
    const held = items.find(job => job.lease?.attemptId === id)
    if (held) return liveExecution(held)
  }
  return null
}
