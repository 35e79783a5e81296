// Nodes that run workflows: handlers for their steps, and schedules that ask for them.

import { onTestFinished } from 'vitest'
import { AllowList } from '../../src/actions/guard/allow.ts'
import { Outbound } from '../../src/actions/guard/outbound.ts'
import { httpAction } from '../../src/actions/http/action.ts'
import { Registry } from '../../src/actions/registry.ts'
import type { Job } from '../../src/core/job.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import type { Context } from '../../src/engine/context.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import type { EngineSettings } from '../../src/runtime/settings.ts'
import { workflowAction } from '../../src/workflows/action.ts'
import { stepsOfAttempt } from '../../src/workflows/detail.ts'
import type { StepInput } from '../../src/workflows/shape.ts'
import { Workflows } from '../../src/workflows/workflows.ts'
import { specA, type WorkflowSchedule } from './systems.ts'
import type { World, WorldNode } from './world.ts'

export type StepHandlers = Readonly<Record<string, Handler>>

/** A call of a step's handler, as the handler saw it. */
export interface Called {
  readonly node: string
  readonly step: string
  readonly payload: Json
  readonly key: string
  readonly attempt: number
}

export class WorkflowWorld {
  readonly world: World
  readonly workflows: Workflows
  readonly called: Called[] = []
  readonly #http

  constructor(world: World, allow: readonly string[]) {
    this.world = world
    const { list } = AllowList.parse(allow)
    const outbound = new Outbound({ clock: world.wall, allow: list })
    onTestFinished(() => outbound.close())
    this.#http = httpAction({ outbound, clock: world.wall, userAgent: 'test', secrets: () => null })
    this.workflows = new Workflows({ store: world.store, clock: world.wall, http: this.#http })
  }

  node(
    name: string,
    handlers: StepHandlers,
    settings: Partial<EngineSettings> = {},
  ): Promise<WorldNode> {
    const seen = Object.entries(handlers).map(([handler, call]): [string, Handler] => [
      handler,
      context => {
        this.called.push(this.#seen(name, context))
        return call(context)
      },
    ])
    const { workflows } = this
    const parts = { workflows, handlers: new Map(seen), http: this.#http, clock: this.world.wall }
    const actions = new Registry().add(workflowAction(parts))
    const run = actions.handlers.get('action:workflow')!
    // Calls to real servers are waited for before time goes on.
    const table = { 'action:workflow': (context: Context) => this.#tracked(run(context)) }
    return this.world.node(name, table, settings)
  }

  isWaitedFor = false

  #tracked(work: unknown): unknown {
    return this.isWaitedFor ? this.world.clock.track(work as Promise<unknown>) : work
  }

  #seen(node: string, context: Context): Called {
    const [, step = ''] = context.runId.split('/')
    const { payload, idempotencyKey: key, attempt } = context
    return { node, step, payload, key, attempt }
  }

  /** The steps whose handlers were called, in order. */
  get steps(): string[] {
    return this.called.map(({ step }) => step)
  }

  add(...steps: StepInput[]) {
    return this.workflows.create('default', { name: 'flow', steps })
  }

  async schedule(
    id: string,
    input: WorkflowSchedule,
    more: { settings?: JsonObject; payload?: Json; spec?: Partial<JobSpec> } = {},
  ): Promise<Job> {
    const action = { kind: 'workflow', workflow_id: 1, owner: 'ann', ...more.settings }
    const payload = { action, payload: more.payload ?? null }
    const marked = { handler: 'action:workflow', isAction: true } as const
    const spec = specA(input, { ...marked, name: 'Daily', payload, ...more.spec })
    return this.world.create(id, spec)
  }

  /** 'fetch completed 1' for each step of each attempt: its status and which attempt did it. */
  async details(jobId: string): Promise<string[][]> {
    const attempts = await this.world.attempts(jobId)
    return attempts.map(attempt =>
      (stepsOfAttempt(attempt)?.steps ?? []).map(step =>
        [step.id, step.status, step.attempt].filter(part => part !== null).join(' '),
      ),
    )
  }
}
