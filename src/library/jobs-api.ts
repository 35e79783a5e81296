// `scheduler.jobs`: every verb takes an id, a definition's name (all its rows) or a list of either.

import { payloadWith } from '../core/spec/action-name.ts'
import { shortId } from '../core/short-id.ts'
import { SchedulerError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { Job, State } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import {
  isFlag,
  isLabel,
  isListOf,
  isOneOf,
  isTexts,
  refuseId,
  refuseOptions,
  type Checks,
} from '../core/spec/option-check.ts'
import type { PayloadCheck } from '../core/history/payload.ts'
import { completeSpec, retryAfterEdit, type JobSpec } from '../core/spec.ts'
import type { Explanation } from '../core/control/why.ts'
import type { Engine } from '../create-engine.ts'
import type { JobFilter, Page } from '../store/port.ts'
import { pauseChecks, pauseInput, type PauseOptions } from './handles.ts'
import { createChecks, editChecks, rangeChecks, runChecks } from './option-checks.ts'
import { boundParts, policyParts, type Policies } from './policies.ts'
import { toInstant, type Moment } from './time-input.ts'
import type { When } from './when.ts'

export type Selector = string | readonly string[]

export interface BulkResult {
  readonly matched: number
  readonly changed: number
  readonly failed: readonly {
    readonly id: string
    readonly code: string
    readonly message: string
  }[]
}

export interface CreateJob extends Policies {
  readonly id?: string
  readonly name?: string
  /** Which handler runs it. */
  readonly handler: string
  readonly when?: When
  readonly payload?: Json
  readonly tags?: readonly string[]
}

export interface EditJob extends Policies {
  readonly name?: string
  readonly when?: When
  readonly payload?: Json
  readonly tags?: readonly string[]
  /** Refuses the edit when the job has moved on from this revision. */
  readonly revision?: number
}

export interface JobsApiParts {
  readonly engine: Engine
  readonly app: string
  readonly assertOpen: (verb: string) => void
  readonly stored: PayloadCheck
}

export class JobsApi {
  readonly #engine: Engine
  readonly #app: string
  readonly #assertOpen: (verb: string) => void
  readonly #stored: PayloadCheck

  constructor({ engine, app, assertOpen, stored }: JobsApiParts) {
    this.#engine = engine
    this.#app = app
    this.#assertOpen = assertOpen
    this.#stored = stored
  }

  async create(input: CreateJob): Promise<Job> {
    this.#assertOpen('create')
    refuseOptions('the job is not valid', input, createChecks satisfies Checks<CreateJob>, {
      required: ['handler'],
    })
    const payload = await this.#stored(input.handler, input.payload)
    return insertJob(this.#engine, input, { handler: input.handler, isAction: false, payload })
  }

  /** The job with this id, or the only row of the definition with this name. */
  async get(selector: string): Promise<Job> {
    return this.#engine.client.get(await this.#one(selector))
  }

  /** All of them, a page at a time behind the scenes. */
  async *list(filter: JobFilter = {}): AsyncGenerator<Job, void, void> {
    refuseOptions('the filter of jobs is not valid', filter, jobFilterChecks, {
      code: 'QUERY_INVALID',
    })
    let cursor: string | null = null
    do {
      const page: Page<Job> = await this.#engine.client.list(filter, {
        limit: limits.pageMax,
        cursor,
      })
      yield* page.items
      cursor = page.cursor
    } while (cursor !== null)
  }

  async edit(selector: string, input: EditJob): Promise<Job> {
    this.#assertOpen('edit')
    refuseOptions('the edit is not valid', input, editChecks satisfies Checks<EditJob>)
    const id = await this.#one(selector)
    const job = await this.#engine.client.get(id)
    assertNotFromCode(job, 'edit')
    const guard = input.revision === undefined ? {} : { revision: input.revision }
    const { payload } = input
    const stored = payload === undefined ? undefined : await this.#stored(job.spec.handler, payload)
    const change = (spec: JobSpec): JobSpec => {
      const edited = editedSpec(spec, input)
      return stored === undefined ? edited : { ...edited, payload: payloadWith(spec, stored) }
    }
    return this.#engine.client.edit(id, change, guard)
  }

  async remove(selector: Selector): Promise<BulkResult> {
    this.#assertOpen('remove')
    return this.#each(selector, async id => {
      assertNotFromCode(await this.#engine.client.get(id), 'remove')
      await this.#engine.client.remove([id])
    })
  }

  async pause(selector: Selector, options: PauseOptions = {}): Promise<BulkResult> {
    refuseOptions('pause is not valid', options, pauseChecks)
    const input = pauseInput(options)
    return this.#each(selector, id => this.#engine.client.pause(id, input))
  }

  resume(selector: Selector): Promise<BulkResult> {
    return this.#each(selector, id => this.#engine.client.resume(id))
  }

  cancel(selector: Selector, reason?: string): Promise<BulkResult> {
    return this.#each(selector, id => this.#engine.client.cancel(id, reason))
  }

  /** Starts failed jobs over. */
  retry(selector: Selector): Promise<BulkResult> {
    return this.#each(selector, id => this.#engine.client.retry(id))
  }

  /** Once more beside the schedule, which does not move; resolves to the run's id. */
  async run(selector: string, input: { payload?: Json } = {}): Promise<string> {
    refuseOptions('run is not valid', input, runChecks)
    const { client } = this.#engine
    const id = await this.#one(selector)
    if (input.payload === undefined) return client.run(id, {})
    const { spec } = await client.get(id)
    return client.run(id, { payload: await this.#stored(spec.handler, input.payload) })
  }

  /** Runs the past firings of a range again, one after another. */
  async backfill(
    selector: string,
    range: { from: Moment; to: Moment },
  ): Promise<{ count: number; runId: string }> {
    refuseOptions('backfill is not valid', range, rangeChecks, { required: ['from', 'to'] })
    const from = toInstant(range.from, 'from')
    const to = toInstant(range.to, 'to')
    return this.#engine.client.backfill(await this.#one(selector), { from, to })
  }

  async why(selector: string): Promise<Explanation> {
    return this.#engine.client.why(await this.#one(selector))
  }

  async #one(selector: string): Promise<string> {
    const ids = await this.#resolve(selector)
    if (ids.length === 1) return ids[0]!
    throw new SchedulerError(
      'JOB_NOT_FOUND',
      `${shortId(selector)} names ${ids.length} jobs: give the id of one of them`,
      { details: { ids: ids.slice(0, 10) } },
    )
  }

  /** An id wins over a name; a name stands for every row of that definition. */
  async #resolve(selector: string): Promise<string[]> {
    refuseId('selector', selector)
    const [job] = await this.#engine.store.get([selector])
    if (job) return [job.id]
    const ids: string[] = []
    for await (const row of this.list({ app: this.#app, definition: selector })) ids.push(row.id)
    if (ids.length > 0) return ids
    throw new SchedulerError('JOB_NOT_FOUND', `there is no job ${shortId(selector)}`, {
      details: { id: selector },
    })
  }

  async #each(selector: Selector, act: (id: string) => Promise<unknown>): Promise<BulkResult> {
    const given = Array.isArray(selector) ? (selector as readonly string[]) : [selector as string]
    const ids = (await Promise.all(given.map(one => this.#resolve(one)))).flat()
    const failed: { id: string; code: string; message: string }[] = []
    for (const id of ids) {
      try {
        await act(id)
      } catch (error) {
        if (!(error instanceof SchedulerError)) throw error
        // A caller who named one job wants the error, not a count of it.
        if (ids.length === 1) throw error
        failed.push({ id, code: error.code, message: error.message })
      }
    }
    return { matched: ids.length, changed: ids.length - failed.length, failed }
  }
}

const stateNames: Readonly<Record<State, true>> = {
  waiting: true,
  running: true,
  paused: true,
  completed: true,
  failed: true,
  cancelled: true,
}

const jobFilterChecks: Checks<JobFilter> = {
  ids: isTexts,
  kind: isOneOf('job', 'task'),
  states: isListOf(stateNames),
  isUnstarted: isFlag,
  tenant: isLabel,
  queue: isLabel,
  handler: isLabel,
  seriesId: isLabel,
  app: isLabel,
  definition: isLabel,
  search: isLabel,
}

function assertNotFromCode(job: Job, verb: string): void {
  if (job.declared === null || job.declared.source === 'runtime') return
  throw new SchedulerError(
    'JOB_DECLARED',
    `cannot ${verb} job ${shortId(job.id)}: it is declared in code by ${job.declared.app}`,
    { details: { app: job.declared.app, definition: job.declared.definition } },
  )
}

/** A row for a handler of the program, or for a built-in action that its writer made. */
export async function insertJob(
  { client, ids, clock }: Engine,
  input: Omit<CreateJob, 'handler'>,
  work: Pick<JobSpec, 'handler' | 'isAction' | 'payload'>,
): Promise<Job> {
  const id = input.id ?? ids.next(clock.now())
  const [made] = await client.create([{ id, spec: specOf(input, work) }])
  if (made!.result === 'inserted') return made!.job
  if (made!.result === 'full')
    throw new SchedulerError('QUEUE_FULL', `queue of ${shortId(id)} is full`)
  throw new SchedulerError('JOB_EXISTS', `there already is a job ${shortId(id)}`, {
    details: { id },
  })
}

function specOf(
  input: Omit<CreateJob, 'handler'>,
  work: Pick<JobSpec, 'handler' | 'isAction' | 'payload'>,
): JobSpec {
  const { when, tags, name } = input
  const trigger = when?.trigger ?? ({ kind: 'manual' } as const)
  return completeSpec({
    ...policyParts(input, trigger),
    ...(when ? boundParts(when) : {}),
    ...work,
    ...(name === undefined ? {} : { name }),
    trigger,
    tags: tags ?? [],
  })
}

function editedSpec(spec: JobSpec, input: EditJob): JobSpec {
  const { when, tags, name } = input
  const trigger = when?.trigger ?? spec.trigger
  return {
    ...spec,
    retry: retryAfterEdit(spec.retry, spec.trigger, trigger),
    ...policyParts(input, trigger),
    ...(when ? { trigger, ...boundParts(when) } : {}),
    ...(name === undefined ? {} : { name }),
    ...(tags === undefined ? {} : { tags }),
  }
}
