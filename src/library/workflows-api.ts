// `scheduler.workflows`: what the workflows are, schedules and runs of them. The parts behind it
// are only loaded when it is used.

import { SchedulerError } from '../core/errors.ts'
import { parseRunId, runId, type Job } from '../core/job.ts'
import type { Json } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import { specDefaults, completeSpec } from '../core/spec.ts'
import { anything, isKey, isText, refuseOptions, type Checks } from '../core/spec/option-check.ts'
import { jsonPayload } from '../core/history/payload.ts'
import type { Engine } from '../create-engine.ts'
import type { Page } from '../store/port.ts'
import type { RunDetail } from '../workflows/detail.ts'
import type { OpenWorkflows } from '../workflows/open.ts'
import type { WorkflowInput } from '../workflows/shape.ts'
import type { Workflow } from '../workflows/workflow.ts'
import { runHandle, type RunHandle } from './handles.ts'
import { insertJob, type CreateJob } from './jobs-api.ts'
import { createChecks } from './option-checks.ts'

export interface TenantOption {
  /** Whose workflow it is. Default `default`. */
  readonly tenant?: string
}

export interface RunWorkflow extends TenantOption {
  /** What its event carries. Default an empty object. */
  readonly payload?: Json
  /** The entry that takes the event. Default the active one of the highest priority. */
  readonly entry?: string
}

const runChecks: Checks<RunWorkflow> = { tenant: isText, payload: anything, entry: isKey }

export type ScheduleWorkflow = Omit<CreateJob, 'handler' | 'tenant'> & RunWorkflow

const { handler: _, ...scheduleChecks } = { ...createChecks, ...runChecks }

export interface WorkflowsApiParts {
  readonly engine: Engine
  readonly assertOpen: (verb: string) => void
  /** Named as the owner of what is made here. */
  readonly app: string
  readonly open: () => Promise<OpenWorkflows>
}

export class WorkflowsApi {
  readonly #parts: WorkflowsApiParts

  constructor(parts: WorkflowsApiParts) {
    this.#parts = parts
  }

  async add(input: WorkflowInput, { tenant }: TenantOption = {}): Promise<Workflow> {
    return (await this.#workflows()).create(tenant ?? specDefaults.tenant, input)
  }

  /** Fields that are left out stay as they are. */
  async update(
    id: number,
    input: Partial<WorkflowInput>,
    options: TenantOption & { readonly revision?: number } = {},
  ): Promise<Workflow> {
    const { tenant, ...guard } = options
    return (await this.#workflows()).update(tenant ?? specDefaults.tenant, id, input, guard)
  }

  async remove(
    id: number,
    options: TenantOption & { readonly revision?: number } = {},
  ): Promise<void> {
    const { tenant, ...guard } = options
    await (await this.#workflows()).remove(tenant ?? specDefaults.tenant, id, guard)
  }

  async get(id: number, { tenant }: TenantOption = {}): Promise<Workflow> {
    return (await this.#workflows()).get(tenant ?? specDefaults.tenant, id)
  }

  /** All of them in the order of their ids, a page at a time behind the scenes. */
  async *list({ tenant }: TenantOption = {}): AsyncGenerator<Workflow, void, void> {
    const workflows = await this.#workflows()
    let cursor: string | null = null
    do {
      const request = { limit: limits.pageMax, cursor }
      const page: Page<Workflow> = await workflows.list(tenant ?? specDefaults.tenant, request)
      yield* page.items
      cursor = page.cursor
    } while (cursor !== null)
  }

  /** Once, by hand: a task like any other. */
  async run(id: number, options: RunWorkflow = {}): Promise<RunHandle<Record<string, Json>>> {
    const { engine } = this.#parts
    refuseOptions(`run of workflow ${id} is not valid`, options, runChecks)
    const { client, ids, clock } = engine
    const workflow = await this.get(id, options)
    const now = clock.now()
    const spec = completeSpec({
      ...(await this.#specOf(workflow, options)),
      name: workflow.name,
      tenant: workflow.tenant,
      trigger: { kind: 'once', at: now },
    })
    const task = ids.next(now)
    const [made] = await client.create([{ id: task, kind: 'task', spec }])
    if (made!.result === 'full') {
      throw new SchedulerError('QUEUE_FULL', `queue ${spec.queue} is full: workflow ${id} not run`)
    }
    return runHandle(engine, runId(task, 1))
  }

  /** A job that runs it whenever it is due; takes what `jobs.create` takes, without a handler. */
  async schedule(id: number, options: ScheduleWorkflow): Promise<Job> {
    this.#parts.assertOpen('schedule')
    refuseOptions(`schedule of workflow ${id} is not valid`, options, scheduleChecks)
    const { entry: _entry, ...input } = options
    const workflow = await this.get(id, options)
    const work = await this.#specOf(workflow, options)
    return insertJob(this.#parts.engine, { name: workflow.name, ...input }, work)
  }

  /** What became of the steps of a run, as of its newest attempt; null when nothing is known. */
  async steps(id: string): Promise<RunDetail | null> {
    const { store } = this.#parts.engine
    const { stepsOfAttempt, stepsOfProgress } = await import('../workflows/detail.ts')
    const { jobId, run } = parseRunId(id) ?? { jobId: id, run: 0 }
    const [job] = await store.get([jobId])
    const progress = job?.lease ? await store.progress(jobId) : null
    if (progress && progress.attemptId === job?.lease?.attemptId) {
      const live = stepsOfProgress(progress)
      if (live) return live
    }
    const { items } = await store.attempts({ jobId, run }, { limit: 1, newestFirst: true })
    return items[0] ? stepsOfAttempt(items[0]) : null
  }

  async #workflows() {
    return (await this.#parts.open()).workflows
  }

  async #specOf({ id }: Workflow, { payload, entry }: RunWorkflow) {
    const { actions } = await this.#parts.open()
    const settings = { kind: 'workflow', workflow_id: id, owner: this.#parts.app }
    const action = entry === undefined ? settings : { ...settings, trigger_node_id: entry }
    return actions.specOf(action, jsonPayload(payload, `workflow ${id}`))
  }
}
