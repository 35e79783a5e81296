// What people can do with jobs, whichever way they ask: read, let the core decide, commit, and
// decide again when someone else was faster.

import type { Change } from '../core/change.ts'
import * as control from '../core/control/control.ts'
import { editJob, refuseNoFiring } from '../core/control/edit.ts'
import { pauseJob, resumeJob, type PauseInput } from '../core/control/pause.ts'
import { releaseJob } from '../core/control/release.ts'
import { requestBackfill, requestRetry, requestRun } from '../core/control/requests.ts'
import { explain, type Explanation } from '../core/control/why.ts'
import { createJob } from '../core/create.ts'
import { refuse, SchedulerError } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import { payloadRevisionOf } from '../core/history/payload-history.ts'
import type { Run } from '../core/history/run.ts'
import { parseRunId, type Job, type NewJob } from '../core/job.ts'
import type { Json } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import { NODE_KIND, type RecordWrite } from '../core/record.ts'
import { withTrace } from '../core/run/trace.ts'
import { shortId } from '../core/short-id.ts'
import type { JobSpec } from '../core/spec.ts'
import type { SpecRule } from '../core/spec/shortest-interval.ts'
import { assertSpecs } from '../core/spec/spec-check.ts'
import { refuseDamaged } from '../core/stored/damage.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { ClaimOnInsert } from '../engine/claim-on-insert.ts'
import { commit } from '../engine/commit.ts'
import type { Tracing } from '../engine/handlers.ts'
import { countReaped } from '../engine/reaped.ts'
import type { Clock } from '../runtime/clock.ts'
import { noteOutcomes, settledOf, type Events } from '../runtime/events.ts'
import type { Ids } from '../runtime/ids.ts'
import type { InsertResult, JobFilter, Page, PageRequest, Store } from '../store/port.ts'
import { noDeed, type Also, type Deed } from './audit.ts'
import { Inserting } from './inserting.ts'
import { findRun } from './runs.ts'

/** Rounds against other writers before giving up; each round someone else has made progress. */
const ROUNDS_MAX = 50

/** What a node is told of the actions of its process. */
export interface ClientNode {
  /** Something may be due sooner in these queues. */
  onChanged(queues: readonly string[]): void
  /** These are new, and nobody holds them yet. */
  onCreated(jobs: readonly Job[]): void
  /** Runs in this process may have been ended. */
  checkCancellations(): void
  /** What to claim together with new jobs, if this process can start them at once. */
  claimOnInsert(jobs: readonly Job[]): ClaimOnInsert | null
}

export interface ClientParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly events: Events
  readonly waitingMax: number | null
  /** The node of this process, if there is one: it learns at once of what is done here. */
  readonly node: ClientNode | null
  /** How long a cancelled job's next start waits for its handler. */
  readonly holdMs?: Millis
  /** What else is written with every deed, in the same step. */
  readonly also?: Also
  /** Asked before a spec is stored, besides the checks that hold for everyone. */
  readonly rule?: SpecRule
  readonly tracing?: Tracing | null
}

/** On whose behalf a client acts. */
export type OnBehalf = Pick<ClientParts, 'also' | 'rule'>

export interface Guard {
  /** The revision the caller saw; anything else is refused. */
  readonly revision?: number
  /** Throws when the caller may not do this to the job as it is now; asked again every round. */
  readonly check?: (job: Job) => void
}

export class Client {
  readonly #parts: ClientParts
  readonly #inserting: Inserting

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.#inserting = new Inserting(parts)
  }

  /** The same verbs; every deed also writes the records of `also`, or does not happen. */
  with(onBehalf: OnBehalf): Client {
    return new Client({ ...this.#parts, ...onBehalf })
  }

  /** Idempotent by id: says for each whether it is new. Nothing is stored if any is invalid. */
  async create(jobs: readonly NewJob[]): Promise<{ job: Job; result: InsertResult }[]> {
    const found = new Findings()
    for (const { id } of jobs) found.text('id', id, limits.idLength)
    refuse('SPEC_INVALID', 'the job is not valid', found.problems)
    assertSpecs(jobs)
    if (this.#parts.rule) for (const { spec } of jobs) this.#assertAdmitted(spec, null)
    const { clock, events, node, also } = this.#parts
    const now = clock.now()
    const here = this.#parts.tracing?.here() ?? null
    const traced = here === null ? jobs : jobs.map(input => withTrace(input, here))
    const made = traced.map(input => createJob(input, now))
    for (const job of made) if (job.dueAt === null) refuseNoFiring(job)
    const recordsOf = (job: Job) => this.#also({ verb: 'create', after: job, now })
    const { results, begun, begin } = also
      ? await this.#inserting.insertWith(made, now, recordsOf)
      : await this.#inserting.insert(made, now)
    const inserted = made.filter((_, i) => results[i] === 'inserted')
    if (inserted.length > 0) events.emit('changed', { verb: 'create', jobs: inserted })
    begin()
    const left = inserted.filter(job => !begun.has(job.id))
    if (left.length > 0) node?.onCreated(left)
    return made.map((job, i) => ({ job, result: results[i]! }))
  }

  async get(id: string): Promise<Job> {
    const [job] = await this.#parts.store.get([id])
    if (!job)
      throw new SchedulerError('JOB_NOT_FOUND', `there is no job ${shortId(id)}`, {
        details: { id },
      })
    return job
  }

  list(filter: JobFilter, page: PageRequest): Promise<Page<Job>> {
    return this.#parts.store.list(filter, page)
  }

  pause(id: string, input: PauseInput = {}, guard: Guard = {}): Promise<Job> {
    return this.#apply(id, 'pause', (job, now) => pauseJob(job, input, now), guard)
  }

  resume(id: string, guard: Guard = {}): Promise<Job> {
    return this.#apply(id, 'resume', resumeJob, guard)
  }

  /** Covers the tasks its occurrences live in. */
  async cancel(id: string, reason = 'cancelled by request', guard: Guard = {}): Promise<Job> {
    const { holdMs } = this.#parts
    const decide = (held: Job, now: Instant) => control.cancelJob(held, reason, now, holdMs)
    const job = await this.#apply(id, 'cancel', decide, { ...guard, reason })
    await this.#eachTask(id, async task => {
      await this.#apply(task.id, 'cancel', decide, { reason })
    })
    return job
  }

  retry(id: string, guard: Guard = {}): Promise<Job> {
    return this.#apply(id, 'retry', control.retryJob, guard)
  }

  /** `patch` receives the present spec and gives the whole new one. */
  edit(id: string, patch: (spec: JobSpec) => JobSpec, guard: Guard = {}): Promise<Job> {
    const decide = (job: Job, now: Instant) => {
      const spec = patch(job.spec)
      this.#assertAdmitted(spec, job.spec)
      return editJob(job, spec, now)
    }
    return this.#apply(id, 'edit', decide, guard)
  }

  async remove(ids: readonly string[]): Promise<boolean[]> {
    const { store, clock, also } = this.#parts
    const now = clock.now()
    const jobs = also ? await store.get(ids) : []
    const records = jobs.flatMap(job => this.#also({ verb: 'remove', before: job, now }))
    const removed = await store.remove(ids, { now, records })
    this.#parts.events.emit('removed', { ids: ids.filter((_, i) => removed[i]) })
    this.#parts.node?.checkCancellations()
    return removed
  }

  /** Runs once more beside the schedule; resolves to the id the run will have. */
  async run(
    id: string,
    input: { payload?: Json; requestId?: string } = {},
    guard: Guard = {},
  ): Promise<string> {
    const requestId = input.requestId ?? this.#parts.ids.next(this.#parts.clock.now())
    let asked = ''
    const decide = (job: Job, now: Instant) => {
      const request = requestRun(job, { id: requestId, ...payloadOf(input) }, now)
      asked = request.runId
      return request.change
    }
    await this.#apply(id, 'run', decide, { ...guard, runId: () => asked })
    return asked
  }

  /** Takes the lease of a run whose holder is believed dead: it ends as abandoned and is due again. */
  async release(id: string, guard: Guard = {}): Promise<Job> {
    const job = await this.#apply(id, 'release', releaseJob, guard)
    await countReaped(this.#parts, [job])
    return job
  }

  async backfill(
    id: string,
    range: { from: Instant; to: Instant },
    guard: Guard = {},
  ): Promise<{ count: number; runId: string }> {
    const requestId = this.#parts.ids.next(this.#parts.clock.now())
    let asked = { count: 0, runId: '' }
    const decide = (job: Job, now: Instant) => {
      const { change, count, runId } = requestBackfill(job, { id: requestId, ...range }, now)
      asked = { count, runId }
      return change
    }
    await this.#apply(id, 'backfill', decide, { ...guard, runId: () => asked.runId })
    return asked
  }

  async getRun(id: string): Promise<Run> {
    const at = parseRunId(id)
    const [job] = at ? await this.#parts.store.get([at.jobId]) : []
    const { store, clock } = this.#parts
    const found = at && job ? await findRun(store, job, at.run, clock.now()) : null
    if (!found)
      throw new SchedulerError('RUN_NOT_FOUND', `there is no run ${shortId(id)}`, {
        details: { id },
      })
    return found.run
  }

  async cancelRun(id: string, reason = 'cancelled by request', guard: Guard = {}): Promise<Job> {
    const { jobId, run } = await this.getRun(id)
    const { holdMs } = this.#parts
    const input = { reason, ...(holdMs === undefined ? {} : { holdMs }) }
    const decide = (job: Job, now: Instant) => control.cancelRun(job, run, input, now)
    return this.#apply(jobId, 'cancel run', decide, { ...guard, runId: () => id, reason })
  }

  /** A new run of the same occurrence, by its id; the old one keeps its place in history. */
  async retryRun(id: string, guard: Guard = {}): Promise<string> {
    const run = await this.getRun(id)
    const { jobId, attempts, payloadRevision } = run
    const last = attempts.at(-1)
    if (!last) {
      throw new SchedulerError(
        'TRANSITION_INVALID',
        `cannot retry run ${shortId(id)}: it has not ended`,
      )
    }
    const payload = keptPayload(run)
    const requestId = this.#parts.ids.next(this.#parts.clock.now())
    let asked = ''
    const decide = (job: Job, now: Instant) => {
      const isPresent = payloadRevision === payloadRevisionOf(job.spec)
      const request = requestRetry(job, last, requestId, now, isPresent ? undefined : payload)
      asked = request.runId
      return request.change
    }
    await this.#apply(jobId, 'retry run', decide, { ...guard, runId: () => asked })
    return asked
  }

  /** What a run was given, to be given again. */
  async payloadToReplay(id: string): Promise<Json> {
    return keptPayload(await this.getRun(id))
  }

  async why(id: string): Promise<Explanation> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const job = await this.get(id)
    const paused = await store.pausedQueues()
    const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, now)
    const withHandler = nodes.items.filter(node => hasHandler(node.value, job.spec.handler))
    return explain(job, {
      now,
      isQueuePaused: paused.includes(job.spec.queue),
      nodes: nodes.items.length,
      nodesWithHandler: withHandler.length,
    })
  }

  /** Writes what the core decides; a row changed in between is read and decided anew. */
  async #apply(
    id: string,
    verb: string,
    decide: (job: Job, now: Instant) => Change | null,
    guard: Guard & Pick<Partial<Deed>, 'reason'> & { readonly runId?: () => string } = {},
  ): Promise<Job> {
    const { clock, waitingMax } = this.#parts
    let refused = 0
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const job = await this.get(id)
      guard.check?.(job)
      assertRevision(job, guard)
      refuseDamaged(job, verb)
      // Nobody changed the job, so it was a record written with it that is already there.
      if (job.version === refused) break
      const now = clock.now()
      const decided = decide(job, now)
      if (decided === null) return job
      const { reason = null } = guard
      const runId = guard.runId?.() ?? null
      const deed = { verb, before: job, after: decided.job, runId, reason, now }
      const change = { ...decided, records: [...decided.records, ...this.#also(deed)] }
      const [result] = await commit(this.#parts, [change], { now, waitingMax })
      if (result === 'conflict') refused = job.version
      if (result === 'committed') return this.#committed(verb, change)
      if (result === 'full') {
        throw new SchedulerError('QUEUE_FULL', `queue ${job.spec.queue} is full`)
      }
    }
    throw new SchedulerError(
      'REVISION_CONFLICT',
      `job ${shortId(id)} is being changed too often to ${verb}`,
    )
  }

  #assertAdmitted(spec: JobSpec, before: JobSpec | null): void {
    refuse('SPEC_INVALID', 'the job is not valid', this.#parts.rule?.(spec, before) ?? [])
  }

  #also(deed: Partial<Deed> & Pick<Deed, 'verb' | 'now'>): readonly RecordWrite[] {
    return this.#parts.also?.({ ...noDeed, ...deed }) ?? []
  }

  #committed(verb: string, change: Change): Job {
    const { events, node } = this.#parts
    events.emit('changed', { verb, jobs: [change.job] })
    // An attempt that was ended and firings that were passed over are part of the record too.
    if (change.attempt !== null || change.skips.length > 0) {
      events.emit('settled', { settled: [settledOf(change)] })
    }
    noteOutcomes(events, [change])
    node?.onChanged([change.job.spec.queue])
    if (change.token !== null) node?.checkCancellations()
    return change.job
  }

  async #eachTask(seriesId: string, act: (task: Job) => Promise<void>): Promise<void> {
    let cursor: string | null = null
    do {
      const filter: JobFilter = { seriesId, states: ['waiting', 'running', 'paused'] }
      const page: Page<Job> = await this.list(filter, { limit: limits.pageMax, cursor })
      for (const task of page.items) {
        // One that ended by itself in between needs no more cancelling.
        await act(task).catch(error => {
          if (!(error instanceof SchedulerError)) throw error
        })
      }
      cursor = page.cursor
    } while (cursor !== null)
  }
}

function payloadOf(input: { payload?: Json }): { payload?: Json } {
  return input.payload === undefined ? {} : { payload: input.payload }
}

function assertRevision(job: Job, { revision }: Guard): void {
  if (revision === undefined || revision === job.revision) return
  throw new SchedulerError(
    'REVISION_CONFLICT',
    `job ${shortId(job.id)} is at revision ${job.revision}, not ${revision}`,
    { details: { revision: job.revision } },
  )
}

function hasHandler(value: Json, handler: string): boolean {
  if (typeof value !== 'object' || value === null || !('handlers' in value)) return false
  return Array.isArray(value.handlers) && value.handlers.includes(handler)
}

/** With the present payload of the job it would be another run. */
function keptPayload({ id, payload, payloadOf: source, payloadRevision }: Run): Json {
  if (source !== null) return payload
  const what =
    payloadRevision === null
      ? 'its own payload is not kept'
      : `its payload, from revision ${payloadRevision} of the job, is no longer kept`
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot run ${shortId(id)} again: ${what}; replay it with a payload`,
    { details: { reason: 'payload_not_kept' } },
  )
}
