// The workflows of each tenant: checked, numbered, stored as records, changed by revision.

import type { Action } from '../actions/action.ts'
import type { HttpSettings } from '../actions/http/settings.ts'
import { Registry } from '../actions/registry.ts'
import { refuse, SchedulerError, type Problem } from '../core/errors.ts'
import { jsonEqual, type Json } from '../core/json.ts'
import type { StoredRecord } from '../core/record.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Page, PageRequest, Store } from '../store/port.ts'
import { checkWorkflow } from './check.ts'
import { nextNumber, passNumber } from './numbers.ts'
import type { WorkflowInput } from './shape.ts'
import type { Step, Workflow, WorkflowSpec } from './workflow.ts'

export interface WorkflowParts {
  readonly store: Store
  readonly clock: Clock
  /** Says where steps may call, and hides what must not be shown. */
  readonly http: Action<HttpSettings>
}

export interface Guard {
  /** The revision the caller saw; anything else is refused. */
  readonly revision?: number
}

/** What is stored; the rest is in the record around it. */
type Stored = WorkflowSpec & Pick<Workflow, 'id' | 'createdAt' | 'updatedAt'>

const ROUNDS_MAX = 50
/** Keys are sorted as texts. */
const KEY_DIGITS = 16

export class Workflows {
  readonly #parts: WorkflowParts
  readonly #calls: Registry

  constructor(parts: WorkflowParts) {
    this.#parts = parts
    this.#calls = new Registry().add(parts.http)
  }

  /** Stores nothing when anything is wrong; then every problem is told. */
  async create(tenant: string, given: WorkflowInput): Promise<Workflow> {
    const { id, ...spec } = this.#checked(tenant, given)
    if (id === null) return this.#shown(await this.#createNext(tenant, spec))
    await passNumber(this.#parts, tenant, id)
    const made = await this.#put(tenant, { ...spec, id }, null)
    if (made) return this.#shown(made)
    throw new SchedulerError('WORKFLOW_EXISTS', `there already is a workflow ${id}`, {
      details: { id },
    })
  }

  /** As people may see it: secrets of calls are masked. */
  async get(tenant: string, id: number): Promise<Workflow> {
    return this.#shown(await this.#need(tenant, id))
  }

  /** With its secrets, to be run; null when there is none. */
  async find(tenant: string, id: number): Promise<Workflow | null> {
    const { store, clock } = this.#parts
    const [record] = await store.getRecords(kindOf(tenant), [keyOf(id)], clock.now())
    return record ? workflowOf(tenant, record) : null
  }

  /** In the order of their ids. */
  async list(tenant: string, page: PageRequest): Promise<Page<Workflow>> {
    const { store, clock } = this.#parts
    const { items, cursor } = await store.listRecords(kindOf(tenant), page, clock.now())
    return { items: items.map(record => this.#shown(workflowOf(tenant, record))), cursor }
  }

  /** Fields that are left out stay as they are, and so do masked secrets. */
  async update(
    tenant: string,
    id: number,
    given: Partial<WorkflowInput>,
    guard: Guard = {},
  ): Promise<Workflow> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const held = await this.#need(tenant, id)
      assertRevision(held, guard)
      const { id: _, ...spec } = this.#checked(tenant, this.#merged(held, given))
      if (jsonEqual(spec, specOf(held))) return this.#shown(held)
      const made = await this.#put(tenant, { ...spec, id }, held)
      if (made) return this.#shown(made)
    }
    throw new SchedulerError('REVISION_CONFLICT', `workflow ${id} is being changed too often`)
  }

  /** Its number is not given out again; schedules that name it fail and say so. */
  async remove(tenant: string, id: number, guard: Guard = {}): Promise<void> {
    const { store, clock } = this.#parts
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const held = await this.#need(tenant, id)
      assertRevision(held, guard)
      const expectedVersion = held.revision
      const write = { kind: kindOf(tenant), key: keyOf(id), value: null, expectedVersion }
      const writes = [{ ...write, expireAt: null, remove: true }]
      const [result] = await store.putRecords(writes, clock.now())
      if (result === 'put') return
    }
    throw new SchedulerError('REVISION_CONFLICT', `workflow ${id} is being changed too often`)
  }

  async #createNext(tenant: string, spec: WorkflowSpec): Promise<Workflow> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const id = await nextNumber(this.#parts, tenant)
      const made = await this.#put(tenant, { ...spec, id }, null)
      if (made) return made
    }
    throw new SchedulerError('REVISION_CONFLICT', 'too many workflows are being made at once')
  }

  async #need(tenant: string, id: number): Promise<Workflow> {
    const held = await this.find(tenant, id)
    if (held) return held
    throw new SchedulerError('WORKFLOW_NOT_FOUND', `there is no workflow ${id}`, {
      details: { id },
    })
  }

  /** Null when somebody else was first. */
  async #put(
    tenant: string,
    { id, name, active, entries, steps }: WorkflowSpec & { readonly id: number },
    before: Workflow | null,
  ): Promise<Workflow | null> {
    const { store, clock } = this.#parts
    const now = clock.now()
    const createdAt = before?.createdAt ?? now
    const stored: Stored = { id, name, active, entries, steps, createdAt, updatedAt: now }
    const expectedVersion = before?.revision ?? 0
    const write = { kind: kindOf(tenant), key: keyOf(id), expectedVersion, expireAt: null }
    const value = stored as unknown as Json
    const [result] = await store.putRecords([{ ...write, value }], now)
    return result === 'put' ? { ...stored, tenant, revision: expectedVersion + 1 } : null
  }

  #checked(tenant: string, given: unknown) {
    const { spec, problems } = checkWorkflow(given, this.#calls, { tenant })
    refuse('WORKFLOW_INVALID', 'the workflow is not valid', problems)
    return spec!
  }

  /** What is given over what is there; what cannot be changed may be repeated. */
  #merged(held: Workflow, given: Partial<WorkflowInput>): unknown {
    const { tenant, id, revision, createdAt, updatedAt } = held
    const fixed: Record<string, unknown> = { tenant, id, revision, createdAt, updatedAt }
    const problems: Problem[] = []
    const changes = Object.entries(given).filter(([field, value]) => {
      if (!Object.hasOwn(fixed, field)) return value !== undefined
      const rule = 'cannot be changed'
      if (value !== undefined && value !== fixed[field]) problems.push({ field, value, rule })
      return false
    })
    refuse('WORKFLOW_INVALID', 'the workflow is not valid', problems)
    const merged = { ...specOf(held), ...Object.fromEntries(changes) }
    return { ...merged, steps: this.#unmasked(merged.steps, held.steps) }
  }

  #unmasked(steps: unknown, before: readonly Step[]): unknown {
    if (!Array.isArray(steps)) return steps
    const byId = new Map(before.map(step => [step.id, step]))
    return steps.map((step: unknown) => {
      if (!isObject(step) || !isObject(step.http)) return step
      const stored = byId.get(String(step.id))?.http
      const http = { kind: 'http', ...step.http }
      return stored ? { ...step, http: this.#calls.withStored(http, stored as never) } : step
    })
  }

  #shown(workflow: Workflow): Workflow {
    const steps = workflow.steps.map(step =>
      step.http === undefined
        ? step
        : { ...step, http: this.#parts.http.shown(step.http, { mayEdit: true }) },
    )
    return { ...workflow, steps }
  }
}

function specOf({ name, active, entries, steps }: Workflow): WorkflowSpec {
  return { name, active, entries, steps }
}

function workflowOf(tenant: string, { value, version }: StoredRecord): Workflow {
  return { ...(value as unknown as Stored), tenant, revision: version }
}

/** A tenant's workflows are a kind of their own, so that a page never sees another's. */
function kindOf(tenant: string): string {
  return `workflow/${tenant}`
}

function keyOf(id: number): string {
  return String(id).padStart(KEY_DIGITS, '0')
}

function assertRevision({ id, revision }: Workflow, guard: Guard): void {
  if (guard.revision === undefined || guard.revision === revision) return
  throw new SchedulerError(
    'REVISION_CONFLICT',
    `workflow ${id} is at revision ${revision}, not ${guard.revision}`,
    { details: { revision } },
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
