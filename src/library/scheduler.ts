// The scheduler as a program holds it: declared jobs, a node that runs them, and every verb.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { SchedulerError } from '../core/errors.ts'
import { runId, type Job } from '../core/job.ts'
import type { Difference } from '../core/reconcile.ts'
import type { Explanation } from '../core/why.ts'
import type { Clock } from '../engine/clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Events } from '../engine/events.ts'
import type { StopResult } from '../engine/node.ts'
import { reapAll } from '../engine/reaper.ts'
import { FairApi } from '../fair/api.ts'
import { serveSchedules } from '../fair/tasks.ts'
import type { OpenSources } from '../sources/open.ts'
import type { OpenWorkflows } from '../workflows/open.ts'
import { runContext } from './context.ts'
import { declarationsOf, declare, describeDifferences, type Owner } from './declare.ts'
import type { JobDefinition } from './definition.ts'
import { EventStream, type EventFilter, type SchedulerEvent } from './events.ts'
import { runHandle, scheduleHandle, type RunHandle, type ScheduleHandle } from './handles.ts'
import { rowId, taskId } from './identity.ts'
import { invoke } from './invoke.ts'
import { JobsApi } from './jobs-api.ts'
import type { AnyDefinition } from './options.ts'
import type { Policies } from './policies.ts'
import { priorityOf } from './policies.ts'
import { rowSpec } from './rows.ts'
import { QueuesApi } from './queues-api.ts'
import { RunsApi } from './runs-api.ts'
import { checkPayload } from './schema.ts'
import { SourcesApi } from './sources-api.ts'
import { toMs, type Duration } from './time-input.ts'
import type { When } from './when.ts'
import { at as once } from './when.ts'
import { WorkflowsApi } from './workflows-api.ts'

export type AnyJob = AnyDefinition
type ByName<J extends readonly AnyJob[]> = { [D in J[number] as D['name']]: D }
type InputOf<D> =
  D extends JobDefinition<string, infer S, infer _R> ? StandardSchemaV1.InferInput<S> : never
type ResultOf<D> = D extends JobDefinition<string, infer _S, infer R> ? R : never
type NameOf<J extends readonly AnyJob[]> = keyof ByName<J> & string

export interface TriggerOptions {
  /** The same key makes the same run, however often it is asked for. */
  readonly idempotencyKey?: string
  readonly delay?: Duration
  readonly tenant?: string
  readonly user?: string
  readonly priority?: Policies['priority']
}

export interface ScheduleOptions<I> {
  /** With the job's name, the identity: calling again edits. */
  readonly key: string
  readonly when: When
  readonly input: I
  readonly tenant?: string
  readonly user?: string
  /** Refuses the edit when the schedule has moved on from this revision. */
  readonly revision?: number
}

export interface SchedulerParts {
  readonly definitions: readonly AnyJob[]
  readonly defaults: Policies
  readonly owner: Owner
  readonly mode: 'open' | 'declared'
  /** Events and clock are there before the engine is, so that nothing is missed. */
  readonly heard: Events
  readonly clock: Clock
  readonly print: (line: string) => void
  /** Makes the engine; called at the first start. */
  readonly connect: () => Promise<Engine>
  /** Loads what keeps workflows, at their first use. */
  readonly workflows: (engine: Engine) => Promise<OpenWorkflows>
  /** Loads what keeps sources, at their first use. */
  readonly sources: (engine: Engine) => Promise<OpenSources>
  readonly onStopped: () => void
}

export class Scheduler<J extends readonly AnyJob[]> {
  readonly #parts: SchedulerParts
  readonly #streams = new Set<EventStream>()
  #engine: Engine | null = null
  #differences: readonly Difference[] = []

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  /** Opens the store, reconciles the declared jobs, starts running. Starting twice is harmless. */
  async start(): Promise<this> {
    if (this.#engine) return this
    const engine = await this.#parts.connect()
    const { definitions, defaults, owner, print } = this.#parts
    try {
      const declarations = declarationsOf(definitions, defaults, owner)
      for (const definition of definitions) this.#bind(engine, definition)
      serveSchedules(engine)
      this.#differences = await declare(engine, declarations, owner)
      const lines = describeDifferences(declarations.length, this.#differences, owner)
      for (const line of lines) print(line)
      await engine.node.start()
    } catch (error) {
      await engine.store.close()
      throw error
    }
    this.#engine = engine
    return this
  }

  /** Declares one more job while running: for `schedule()`, whose calls come one by one. */
  async add(definition: AnyDefinition): Promise<readonly Job[]> {
    const { engine } = this
    const owner = { ...this.#parts.owner, orphans: 'keep' } as const
    const declarations = declarationsOf([definition], this.#parts.defaults, owner)
    this.#bind(engine, definition)
    await declare(engine, declarations, owner)
    engine.node.notice(declarations.map(({ spec }) => spec.queue))
    return engine.store.get(declarations.map(({ id }) => id))
  }

  #bind(engine: Engine, definition: AnyDefinition): void {
    engine.handlers.set(definition.name, context =>
      invoke(definition, context.payload, runContext(context)),
    )
  }

  /** Stops claiming, waits, aborts what is left, gives leases back, closes the store. */
  async stop(options: { grace?: Duration } = {}): Promise<StopResult> {
    const engine = this.#engine
    if (!engine) return { clean: true, aborted: [] }
    const grace = options.grace === undefined ? undefined : toMs(options.grace, 'grace')
    const result = await engine.node.stop(grace)
    if (this.#engine === engine) {
      this.#engine = null
      for (const stream of this.#streams) stream.stop()
      this.#streams.clear()
      await engine.store.close()
      this.#parts.onStopped()
    }
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** The parts underneath, for surfaces and test kits. */
  get engine(): Engine {
    if (this.#engine) return this.#engine
    throw new SchedulerError('SCHEDULER_STATE', 'the scheduler is not started: call start() first')
  }

  /** What the last start changed. */
  get differences(): readonly Difference[] {
    return this.#differences
  }

  get jobs(): JobsApi {
    return new JobsApi(this.engine, this.#parts.owner.app, verb => this.#assertOpen(verb))
  }

  get queues(): QueuesApi {
    return new QueuesApi(this.engine)
  }

  get runs(): RunsApi {
    return new RunsApi(this.engine)
  }

  get sources(): SourcesApi {
    const { engine } = this
    return new SourcesApi(() => this.#parts.sources(engine))
  }

  get workflows(): WorkflowsApi {
    const { engine, jobs } = this
    const open = () => this.#parts.workflows(engine)
    return new WorkflowsApi({ engine, jobs, app: this.#parts.owner.app, open })
  }

  /** Schedules and pushes of a queue that users share in turns. */
  get fair(): FairApi {
    return new FairApi(this.engine, verb => this.#assertOpen(verb))
  }

  /** Runs a declared job once, with its own payload. */
  async trigger<N extends NameOf<J>>(
    name: N,
    input: InputOf<ByName<J>[N]>,
    options: TriggerOptions = {},
  ): Promise<RunHandle<ResultOf<ByName<J>[N]>>> {
    const { engine } = this
    const definition = this.#definition(name)
    await checkPayload(definition.options.input, input, name)
    const delayMs = options.delay === undefined ? 0 : toMs(options.delay, 'delay')
    const when = once(new Date(engine.clock.now() + delayMs))
    const spec = rowSpec(definition, this.#parts.defaults, { ...options, when, payload: input })
    const { app } = this.#parts.owner
    const key = options.idempotencyKey ?? engine.ids.next(engine.clock.now())
    const id = taskId({ tenant: spec.tenant, app, definition: name, key })
    const task = {
      ...spec,
      first: 'next',
      overlap: { policy: 'skip' },
      retry: { ...spec.retry, exhausted: 'stop', yields: false },
      ...(options.priority === undefined ? {} : { priority: priorityOf(options.priority) }),
    } as const
    const [made] = await engine.client.create([{ id, kind: 'task', spec: task }])
    if (made!.result === 'full') {
      throw new SchedulerError('QUEUE_FULL', `queue ${spec.queue} is full: ${name} was not taken`)
    }
    return runHandle(engine, runId(id, 1))
  }

  /** A schedule of a declared job, added or changed while running. */
  async schedule<N extends NameOf<J>>(
    name: N,
    options: ScheduleOptions<InputOf<ByName<J>[N]>>,
  ): Promise<ScheduleHandle> {
    this.#assertOpen('schedule')
    const { engine } = this
    const definition = this.#definition(name)
    await checkPayload(definition.options.input, options.input, name)
    const { key, when, input } = options
    const spec = rowSpec(definition, this.#parts.defaults, { ...options, when, payload: input })
    const identity = { app: this.#parts.owner.app, definition: name, key }
    const id = rowId({ ...identity, tenant: spec.tenant })
    const declared = { ...identity, generation: '', source: 'runtime' } as const
    const [made] = await engine.client.create([{ id, spec, declared }])
    if (made!.result === 'inserted') return scheduleHandle(engine, made!.job)
    if (made!.result === 'full') throw new SchedulerError('QUEUE_FULL', `${name} was not taken`)
    const guard = options.revision === undefined ? {} : { revision: options.revision }
    return scheduleHandle(engine, await engine.client.edit(id, () => spec, guard))
  }

  /** What happens from now on, also before the start; ends when you stop reading or it stops. */
  events(filter: EventFilter = {}): AsyncIterableIterator<SchedulerEvent> {
    const { heard, clock } = this.#parts
    const stream = new EventStream(heard, clock, filter)
    this.#streams.add(stream)
    return stream
  }

  why(selector: string): Promise<Explanation> {
    return this.jobs.why(selector)
  }

  /** Looks for ended leases right now instead of at the next round; says how many it put back. */
  recover(): Promise<number> {
    return reapAll(this.engine)
  }

  #definition(name: string): AnyDefinition {
    const found = this.#parts.definitions.find(definition => definition.name === name)
    if (found) return found
    const known = this.#parts.definitions.map(definition => definition.name).join(', ')
    throw new SchedulerError('HANDLER_UNKNOWN', `there is no job named ${name}; known: ${known}`)
  }

  #assertOpen(verb: string): void {
    if (this.#parts.mode === 'open') return
    throw new SchedulerError(
      'JOB_DECLARED',
      `cannot ${verb}: this scheduler only runs declared jobs (mode: declared)`,
    )
  }
}
