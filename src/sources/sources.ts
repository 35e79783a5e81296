// The sources of each tenant: checked, stored as jobs, changed and removed as such.

import { checkUrl } from '../actions/guard/url.ts'
import type { AllowList } from '../actions/guard/allow.ts'
import { refuse, SchedulerError, type Problem } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import type { Client, Guard } from '../jobs/client.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Page, PageRequest, Store } from '../store/port.ts'
import { checkSource, isObject } from './check.ts'
import type { RateLimits } from './rate-limits.ts'
import {
  changedSpec,
  documentOf,
  SOURCE_APP,
  SOURCE_HANDLER,
  sourceId,
  sourceOf,
  specOf,
} from './spec.ts'
import type { Source, SourceDocument } from './source.ts'
import type { SourceTables } from './tables.ts'

export interface SourceParts {
  readonly store: Store
  readonly clock: Clock
  readonly client: Client
  readonly allow: AllowList
  readonly rates: RateLimits
  /** Null where this node has no place for tables. */
  readonly tables: SourceTables | null
}

export interface Edit {
  /** Fields left out stay as they are; otherwise they get their defaults. */
  readonly merges?: boolean
  readonly guard?: Guard
  /** In whose name; the parts' own unless told. */
  readonly client?: Client
}

export class Sources {
  readonly #parts: SourceParts

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  get rates(): RateLimits {
    return this.#parts.rates
  }

  /** Stores nothing when anything is wrong; then every problem is told. */
  async add(tenant: string, given: unknown, client = this.#parts.client): Promise<Source> {
    const document = this.#checked(given)
    const { name } = document
    const id = sourceId(tenant, name)
    const spec = specOf(document, tenant)
    const declared = {
      app: SOURCE_APP,
      definition: 'source',
      key: name,
      generation: '',
      source: 'runtime',
    } as const
    const [made] = await client.create([{ id, spec, declared }])
    switch (made!.result) {
      case 'inserted':
        return this.shown(made!.job)
      case 'exists':
        throw new SchedulerError('SOURCE_EXISTS', `there already is a source ${name}`)
      case 'full':
        throw new SchedulerError('QUEUE_FULL', `queue ${spec.queue} is full`)
      case 'conflict':
        throw new SchedulerError('REVISION_CONFLICT', 'someone else was faster')
    }
  }

  async get(tenant: string, name: string): Promise<Source> {
    return this.shown(await this.job(tenant, name))
  }

  /** In the order in which they were added. */
  async list(tenant: string, page: PageRequest): Promise<Page<Source>> {
    const filter = { tenant, handler: SOURCE_HANDLER, app: SOURCE_APP, kind: 'job' } as const
    const { items, cursor } = await this.#parts.store.list(filter, page)
    return { items: items.map(job => this.shown(job)), cursor }
  }

  /** Applies to the next run; one under way goes on as it began. */
  async update(tenant: string, name: string, given: unknown, edit: Edit = {}): Promise<Source> {
    const { merges = false, guard = {}, client = this.#parts.client } = edit
    await this.job(tenant, name)
    let held: Job | null = null
    const check = (job: Job) => {
      assertSource(job, tenant, name)
      guard.check?.(job)
      held = job
    }
    const patch = () => {
      const before = held!
      const whole = this.#renamed(before, given, merges)
      return changedSpec(before, this.#checked(whole), this.#parts.clock.now())
    }
    const job = await client.edit(sourceId(tenant, name), patch, { ...guard, check })
    return this.shown(job)
  }

  /** The definition with its retry state; its rows only when asked. Says how many rows went. */
  async remove(
    tenant: string,
    name: string,
    { rows = false, client = this.#parts.client }: { rows?: boolean; client?: Client } = {},
  ): Promise<number> {
    const { tables } = this.#parts
    if (rows && tables === null) {
      throw new SchedulerError('SCHEDULER_STATE', 'this node has no place for tables')
    }
    const job = await this.job(tenant, name)
    const { table } = documentOf(job)
    const [isRemoved] = await client.remove([job.id])
    if (!isRemoved) throw noSource(name)
    // After the job: a run that is told to stop may still have had a page in hand.
    return rows && tables ? tables.removeRows({ tenant, table, source: name }) : 0
  }

  /** The job of a source; throws when there is none of this name and tenant. */
  async job(tenant: string, name: string): Promise<Job> {
    const [job] = await this.#parts.store.get([sourceId(tenant, name)])
    if (!job) throw noSource(name)
    assertSource(job, tenant, name)
    return job
  }

  shown(job: Job): Source {
    return sourceOf(job, this.#parts.clock.now())
  }

  #checked(given: unknown): SourceDocument {
    const { allow } = this.#parts
    const { document, problems } = checkSource(given, url => checkUrl(url, allow).rule)
    refuse('SOURCE_INVALID', 'the source is not valid', problems)
    return document!
  }

  /** What is given, over what is there or by itself; the name cannot be changed. */
  #renamed(job: Job, given: unknown, merges: boolean): unknown {
    if (!isObject(given)) return given
    const before = documentOf(job)
    const { name = before.name, ...rest } = given
    const problems: Problem[] =
      name === before.name ? [] : [{ field: 'name', value: name, rule: 'cannot be changed' }]
    refuse('SOURCE_INVALID', 'the source is not valid', problems)
    return merges ? merged(before, rest) : { ...rest, name }
  }
}

/** Parts of `execution` and `response` are changed one by one, everything else as a whole. */
function merged(before: SourceDocument, given: Readonly<Record<string, unknown>>): unknown {
  const whole: Record<string, unknown> = { ...before }
  for (const [field, value] of Object.entries(given)) {
    if (value === undefined) continue
    const held = whole[field]
    const isDeep = (field === 'execution' || field === 'response') && isObject(value)
    whole[field] = isDeep && isObject(held) ? { ...held, ...value } : value
  }
  const { offsetPagination: offset, cursorPagination: cursor } = given
  // The one that is given takes the place of the other.
  if (offset != null && cursor === undefined) delete whole['cursorPagination']
  if (cursor != null && offset === undefined) delete whole['offsetPagination']
  for (const field of ['offsetPagination', 'cursorPagination']) {
    if (whole[field] === null) delete whole[field]
  }
  return whole
}

function assertSource({ spec, declared }: Job, tenant: string, name: string): void {
  const isOurs = spec.tenant === tenant && spec.handler === SOURCE_HANDLER
  if (!isOurs || declared?.app !== SOURCE_APP) throw noSource(name)
}

function noSource(name: string): SchedulerError {
  return new SchedulerError('SOURCE_NOT_FOUND', `there is no source ${name}`, { details: { name } })
}
