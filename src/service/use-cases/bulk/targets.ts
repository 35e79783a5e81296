// Which jobs a filter means, and what one verb does to one of them.

import { SchedulerError } from '../../../core/errors.ts'
import { parseRunId, type Job, type State } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { statusOf, type Status } from '../../../core/control/status.ts'
import type { Client } from '../../../jobs/client.ts'
import type { Engine } from '../../../create-engine.ts'
import type { JobFilter } from '../../../store/port.ts'
import type { Call } from '../call/call.ts'
import { pagesOf } from '../call/paging.ts'
import { HttpProblem } from '../call/problem.ts'
import { refuseInvalid } from '../call/refusal.ts'
import { maySee, scopeOf, type Principal } from '../../auth/principal.ts'
import { fitting } from '../jobs/qualifiers.ts'
import { assertNotDeclared, noJob } from '../jobs/scope.ts'
import { noRun } from '../runs/find.ts'
import { MATCHED_MAX, type BulkBody } from './body.ts'

/** The ids as they are now: what changes while the operation runs does not change its list. */
export async function targetsOf(
  engine: Engine,
  body: BulkBody,
  caller: Principal,
): Promise<readonly string[]> {
  if (body.ids !== undefined) return [...new Set(body.ids)]
  const ids = await matching(engine, body.filter!, scopeOf(caller))
  if (ids.length === body.expect) return ids
  const detail = `the filter matches ${ids.length}, not ${body.expect}`
  throw new HttpProblem('conflict', detail, { fields: { matched: ids.length } })
}

const stateOf = (status: Status): State =>
  status === 'pending' || status === 'scheduled' ? 'waiting' : status

async function matching(
  { store, clock }: Engine,
  given: NonNullable<BulkBody['filter']>,
  scope: { readonly tenant?: string },
): Promise<string[]> {
  const { status, queue, handler, search, tenant } = given
  const filter: JobFilter = {
    kind: 'job',
    ...(status === undefined ? {} : { states: [...new Set(status.map(stateOf))] }),
    ...(queue === undefined ? {} : { queue }),
    ...(handler === undefined ? {} : { handler }),
    ...(search === undefined ? {} : { search }),
    ...(tenant === undefined ? {} : { tenant }),
    ...scope,
  }
  const isQualified = fitting(given, clock.now())
  const fits = (job: Job) =>
    (status === undefined || status.includes(statusOf(job))) && isQualified(job)
  const ids: string[] = []
  const rule = `must match at most ${MATCHED_MAX} of ${limits.offsetMax} jobs looked at`
  let looked = 0
  for await (const { items, cursor } of pagesOf(page => store.list(filter, page))) {
    for (const job of items) if (fits(job)) ids.push(job.id)
    looked += items.length
    const isWide = ids.length > MATCHED_MAX || (cursor !== null && looked >= limits.offsetMax)
    refuseInvalid('native', isWide ? [{ field: 'filter', value: given, rule }] : [])
  }
  return ids
}

export interface Doer {
  readonly client: Client
  readonly call: Call
}

/** Throws what one caller of the same verb for this one would be told. */
export function act(doer: Doer, body: BulkBody, id: string): Promise<unknown> {
  return body.on === 'runs' ? actOnRun(doer, body, id) : actOnJob(doer, body, id)
}

function actOnJob(doer: Doer, body: BulkBody, id: string): Promise<unknown> {
  const { client, call } = doer
  const guard = { check: (job: Job) => assertSeen(job, call.caller) }
  switch (body.action) {
    case 'pause': {
      const until = body.until === undefined ? {} : { until: Date.parse(body.until) }
      const note = body.note === undefined ? {} : { note: body.note }
      return client.pause(id, { ...until, ...note }, guard)
    }
    case 'resume':
      return client.resume(id, guard)
    case 'cancel':
      return client.cancel(id, body.reason, guard)
    case 'retry':
      return client.retry(id, guard)
    case 'run': {
      const payload = body.payload === undefined ? {} : { payload: body.payload as Json }
      return client.run(id, payload, guard)
    }
    case 'delete':
      return remove(doer, id)
  }
}

function assertSeen(job: Job, caller: Principal): void {
  if (job.kind !== 'job' || !maySee(caller, job.spec.tenant)) throw noJob(job.id)
}

async function remove({ client, call }: Doer, id: string): Promise<void> {
  const job = await client.get(id)
  assertSeen(job, call.caller)
  assertNotDeclared(job)
  const [isRemoved] = await client.remove([id])
  if (!isRemoved) throw noJob(id)
  await call.pages?.remove([{ tenant: job.spec.tenant, jobId: id }])
}

async function actOnRun({ client, call }: Doer, body: BulkBody, id: string) {
  const at = parseRunId(id)
  const [job] = at ? await call.engine.store.get([at.jobId]) : []
  if (!job || !maySee(call.caller, job.spec.tenant)) throw noRun()
  return body.action === 'cancel' ? client.cancelRun(id, body.reason) : client.retryRun(id)
}

/** Nothing else will work either: the rest is better left for later. */
export function endsAll(error: unknown): boolean {
  return error instanceof SchedulerError && error.code.startsWith('STORE_')
}
