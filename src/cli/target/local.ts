// A store of this machine: commands call the use cases of the service, in this process. What reading
// and controlling jobs needs is here; the rest is loaded when it is asked for.

import { after } from '../../client/ambient.ts'
import { endOf } from '../../client/bulk.ts'
import { TimeoutError } from '../../client/error.ts'
import { each } from '../../client/pages.ts'
import { linesOf, waitFor } from '../../client/runs.ts'
import type { CallOptions } from '../../client/transport.ts'
import type { Client } from '../../client/index.ts'
import type { LocalInput, LocalService } from '../../service/local.ts'
import type { AnyUseCase } from '../../service/use-cases/call/use-case.ts'
import * as control from '../../service/use-cases/jobs/control.ts'
import * as insight from '../../service/use-cases/jobs/insight.ts'
import { getJob, listJobs } from '../../service/use-cases/jobs/read.ts'
import { search } from '../../service/use-cases/search/search.ts'
import type { Api, SessionApi, SourceApi } from './api.ts'
import { localEvents } from './local-events.ts'
import { refusalOf } from './local-refusal.ts'

export { openLocal } from '../../service/local.ts'

const TIMEOUT_MS = 30_000
/** Commands see jobs of either form alike. */
const query = { form: 'both' }

type Load = () => Promise<AnyUseCase>
type Call = <T>(does: AnyUseCase | Load, input?: LocalInput, options?: CallOptions) => Promise<T>

export function localApi(service: LocalService): Api {
  const call: Call = (does, input = {}, options = {}) =>
    unlessGone(perform(service, does, input, options), options)
  const bulkGet: Client['bulkGet'] = (id, options) =>
    call(fromBulk('getBulk'), { params: { id } }, options)
  return {
    jobs: jobsOf(call),
    runs: runsOf(call),
    sources: sourcesOf(call),
    sessions: sessionsOf(call),
    search: (asked, options) => call(search, { query: asked }, options),
    attention: options => call(fromOverview('listFindings'), {}, options),
    heartbeats: (jobs, slots, options) =>
      call(fromOverview('listHeartbeats'), { query: { jobs: jobs.join(','), slots } }, options),
    metrics: options => call(getMetrics, {}, options),
    system: options => call(describeSystem, {}, options),
    tenants: (asked, options) => call(listTenants, { query: asked }, options),
    upcoming: (asked, options) => call(listUpcoming, { query: asked }, options),
    reconcile: (body, options) => call(reconcile, { body }, options),
    bulk: async (body, options) => {
      const { bulkWorkers, startBulk } = await bulk()
      const { engine } = service.call()
      service.atEnd(() => bulkWorkers.drop(engine)?.close())
      return call(startBulk, { body }, options)
    },
    bulkEnd: (id, tell, options) => endOf({ bulkGet }, id, tell, options),
    events: options => localEvents(service, options),
  }
}

const bulk = () => import('../../service/use-cases/bulk/bulk.ts')
const overview = () => import('../../service/use-cases/overview/overview.ts')
const runs = () => import('../../service/use-cases/runs/read.ts')
const acts = () => import('../../service/use-cases/runs/act.ts')
const write = () => import('../../service/use-cases/jobs/write.ts')
const sources = () => import('../../service/use-cases/sources/sources.ts')
const limits = () => import('../../service/use-cases/sources/limits.ts')
const tokens = () => import('../../service/use-cases/tokens/tokens.ts')

/** One use case of a module that is loaded when it is needed. */
function from<M>(load: () => Promise<M>) {
  return (name: keyof M) => async () => (await load())[name] as AnyUseCase
}

const fromBulk = from(bulk)
const fromOverview = from(overview)
const fromRuns = from(runs)
const fromActs = from(acts)
const fromWrite = from(write)
const fromSources = from(sources)
const fromLimits = from(limits)
const fromTokens = from(tokens)
const backfillJob = from(() => import('../../service/use-cases/jobs/backfill.ts'))('backfillJob')
const turnCron = from(() => import('../../service/compat/crawl-jobs/turn-cron.ts'))(
  'turnCronIntoIntervals',
)
const getMetrics = from(() => import('../../service/compat/crawl-jobs/metrics.ts'))(
  'getSchedulerMetrics',
)
const describeSystem = from(() => import('../../service/use-cases/system/system.ts'))(
  'describeSystem',
)
const listTenants = from(() => import('../../service/use-cases/tenants/tenants.ts'))('listTenants')
const listUpcoming = from(() => import('../../service/use-cases/upcoming/upcoming.ts'))(
  'listUpcoming',
)
const reconcile = from(() => import('../../service/use-cases/reconcile/reconcile.ts'))('reconcile')
const readRunLog = from(() => import('../../service/use-cases/runs/log.ts'))('readRunLog')

function one(id: string, body?: unknown, ifMatch?: string): LocalInput {
  return {
    params: { id },
    query,
    ...(body === undefined ? {} : { body }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  }
}

function of(id: string, asked = {}): LocalInput {
  return { params: { id }, query: asked }
}

function jobsOf(call: Call): Api['jobs'] {
  const list: Client['jobs']['list'] = (asked, options) =>
    call(listJobs, { query: { ...query, ...asked } }, options)
  return {
    list,
    each: (asked, options) =>
      each(async cursor => {
        const page = await list({ limit: 250, ...asked, cursor }, options)
        return { items: page.jobs, next: page.next_cursor }
      }),
    get: (id, options) => call(getJob, one(id), options),
    create: (body, options) => call(fromWrite('createJob'), { query, body }, options),
    edit: (id, body, options) =>
      call(fromWrite('editJob'), one(id, body, options?.ifMatch), options),
    remove: (id, options) =>
      call(fromWrite('removeJob'), one(id, undefined, options?.ifMatch), options),
    pause: (id, body, options) => call(control.pauseJob, one(id, body), options),
    resume: (id, options) => call(control.resumeJob, one(id, {}), options),
    cancel: (id, body, options) => call(control.cancelJob, one(id, body), options),
    retry: (id, options) => call(control.retryJob, one(id, {}), options),
    run: (id, body, options) => call(control.runJob, one(id, body), options),
    backfill: (id, body, options) => call(backfillJob, one(id, body), options),
    fromCron: (body, options) => call(turnCron, { body }, options),
    stats: (id, options) => call(insight.getJobStats, of(id), options),
    heartbeat: (id, slots, options) => call(insight.getJobHeartbeat, of(id, { slots }), options),
    why: (id, options) => call(insight.explainJob, of(id), options),
    upcoming: (id, limit, options) => call(insight.listJobUpcoming, of(id, { limit }), options),
  }
}

function runsOf(call: Call): Api['runs'] {
  const get: Client['runs']['get'] = (id, options) =>
    call(fromRuns('getRun'), { params: { id } }, options)
  const log: Client['runs']['log'] = (id, asked, options) =>
    call(readRunLog, { params: { id }, query: asked }, options)
  return {
    get,
    log,
    list: (asked, options) => call(fromRuns('listRuns'), { query: asked }, options),
    lines: (id, which, options) => linesOf({ log }, id, which, options),
    wait: (id, options) => waitFor({ get }, id, options),
    cancel: (id, body, options) => call(fromActs('cancelRun'), { params: { id }, body }, options),
    retry: (id, options) => call(fromActs('retryRun'), { params: { id }, body: {} }, options),
  }
}

function sourcesOf(call: Call): SourceApi {
  return {
    create: (body, asked, options) =>
      call(fromSources('createSource'), { body, query: asked }, options),
    replace: (name, body, asked, options) =>
      call(fromSources('replaceSource'), { params: { name }, body, query: asked }, options),
    remove: (name, asked, options) =>
      call(fromSources('removeSource'), { params: { name }, query: asked }, options),
    list: (asked, options) => call(fromSources('listSources'), { query: asked }, options),
    get: (name, asked, options) =>
      call(fromSources('getSource'), { params: { name }, query: asked }, options),
    setLimit: (domain, body, asked, options) =>
      call(fromLimits('setSourceLimit'), { params: { domain }, body, query: asked }, options),
    removeLimit: (domain, asked, options) =>
      call(fromLimits('removeSourceLimit'), { params: { domain }, query: asked }, options),
    listLimits: (asked, options) => call(fromLimits('listSourceLimits'), { query: asked }, options),
  }
}

function sessionsOf(call: Call): SessionApi {
  return {
    list: (asked, options) => call(fromTokens('listSessions'), { query: asked }, options),
    revoke: (token, options) => call(fromTokens('revokeToken'), { body: { token } }, options),
  }
}

// oxlint-disable-next-line max-params -- where, what, with what, and until when
async function perform<T>(
  service: LocalService,
  does: AnyUseCase | Load,
  input: LocalInput,
  { signal }: CallOptions,
): Promise<T> {
  signal?.throwIfAborted()
  try {
    const useCase = typeof does === 'function' ? await does() : does
    return (await service.perform(useCase, input)) as T
  } catch (error) {
    throw refusalOf(error)
  }
}

/** A use case goes on, as it does when a connection is lost; nobody waits for it any more. */
function unlessGone<T>(work: Promise<T>, { signal, timeoutMs }: CallOptions): Promise<T> {
  const limit = timeoutMs === undefined ? TIMEOUT_MS : timeoutMs
  const stop = new AbortController()
  const ended = { signal: stop.signal }
  const over = new Promise<never>((_, reject) => {
    const late = () => reject(new TimeoutError(`the store did not answer within ${limit} ms`))
    const cancel = limit === null ? () => {} : after(limit, late)
    stop.signal.addEventListener('abort', cancel, { once: true })
    signal?.addEventListener('abort', () => reject(signal.reason as Error), ended)
  })
  return Promise.race([work, over]).finally(() => stop.abort())
}
