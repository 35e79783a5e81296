// The scheduler as a program holds it: declared jobs, a node that runs them, and every verb.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { SchedulerError } from '../core/errors.ts'
import type { Job } from '../core/job.ts'
import type { Json } from '../core/json.ts'
import type { Jsonify } from '../core/json/jsonify.ts'
import type { PayloadCheck } from '../core/history/payload.ts'
import type { Difference } from '../core/declared/reconcile.ts'
import type { Explanation } from '../core/control/why.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Engine } from '../create-engine.ts'
import type { Events } from '../runtime/events.ts'
import type { StopResult } from '../engine/node.ts'
import { reapAll } from '../engine/reaper.ts'
import { FairApi } from '../fair/api.ts'
import { serveSchedules } from '../fair/tasks.ts'
import type { OpenSources } from '../sources/open.ts'
import type { OpenWorkflows } from '../workflows/open.ts'
import { refuseOptions, type Checks } from '../core/spec/option-check.ts'
import { didYouMean } from '../core/spec/suggest.ts'
import { runContext } from './context.ts'
import { declarationsOf, declare, declareMore, describeDifferences, type Owner } from './declare.ts'
import type { JobDefinition } from './definition.ts'
import { EventStream, type EventFilter, type SchedulerEvent } from './events.ts'
import { runHandle, scheduleHandle, type RunHandle, type ScheduleHandle } from './handles.ts'
import { rowId } from './identity.ts'
import { invoke } from './invoke.ts'
import { JobsApi } from './jobs-api.ts'
import { Lifecycle } from './lifecycle.ts'
import { filterChecks, scheduleChecks, stopChecks } from './option-checks.ts'
import type { AnyDefinition, RowPolicies } from './options.ts'
import type { Policies } from './policies.ts'
import { rowSpec } from './rows.ts'
import { QueuesApi } from './queues-api.ts'
import { RunsApi } from './runs-api.ts'
import { refuseDeclaredPayloads } from './declared-payloads.ts'
import { storedPayload } from './schema.ts'
import { SourcesApi } from './sources-api.ts'
import {
  enqueue,
  entryOptions,
  payloadsOfEntries,
  refuseTriggerOptions,
  TaskFactory,
  type TriggerEntry,
  type TriggerManyOptions,
  type TriggerOptions,
} from './tasks.ts'
import { toMs, type Duration } from './time-input.ts'
import type { When } from './when.ts'
import { WorkflowsApi } from './workflows-api.ts'

export type AnyJob = AnyDefinition
type ByName<J extends readonly AnyJob[]> = { [D in J[number] as D['name']]: D }
type InputOf<D> =
  D extends JobDefinition<string, infer S, infer _R> ? StandardSchemaV1.InferInput<S> : never
type ResultOf<D> = D extends JobDefinition<string, infer _S, infer R> ? R : never
type NameOf<J extends readonly AnyJob[]> = keyof ByName<J> & string

/** Policies given here win over those of the definition, each as a whole. */
export interface ScheduleOptions<I> extends RowPolicies {
  /** With the job's name, the identity: calling again edits. */
  readonly key: string
  readonly when: When
  readonly input: I
  /** Refuses the edit when the schedule has moved on from this revision. */
  readonly revision?: number
}

const allScheduleChecks: Checks<ScheduleOptions<unknown>> = scheduleChecks
const scheduleNeeds = { required: ['key', 'when'] }

export interface SchedulerParts {
  readonly definitions: readonly AnyJob[]
  readonly defaults: Policies
  readonly owner: Owner
  readonly mode: 'open' | 'declared'
  /** Events and clock are there before the engine is, so that nothing is missed. */
  readonly heard: Events
  readonly clock: Clock
  readonly print: (line: string) => void
  /** Opens the store and makes the engine; leaves nothing open when it fails. */
  readonly connect: () => Promise<Engine>
  /** What a start needs besides its jobs; what it opened is closed by `disconnect`. */
  readonly prepare: (engine: Engine) => Promise<void>
  /** Loads what keeps workflows, at their first use. */
  readonly workflows: (engine: Engine) => Promise<OpenWorkflows>
  /** Loads what keeps sources, at their first use. */
  readonly sources: (engine: Engine) => Promise<OpenSources>
  /** Closes what `prepare` and the first uses opened. */
  readonly disconnect: () => Promise<void>
}

export class Scheduler<J extends readonly AnyJob[]> {
  readonly #parts: SchedulerParts
  readonly #streams = new Set<EventStream>()
  readonly #lifecycle = new Lifecycle<this, StopResult>()
  #engine: Engine | null = null
  #differences: readonly Difference[] = []

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  /**
   * Opens the store, reconciles the declared jobs, starts running. A second call gets the same
   * promise; a call during a stop waits for it; a start that fails leaves nothing open.
   */
  start(): Promise<this> {
    return this.#lifecycle.start(() => this.#begin())
  }

  async #begin(): Promise<this> {
    const { definitions, defaults, owner, print } = this.#parts
    await refuseDeclaredPayloads(definitions)
    const engine = await this.#parts.connect()
    try {
      await this.#parts.prepare(engine)
      const declarations = declarationsOf(definitions, defaults, owner)
      for (const definition of definitions) this.#bind(engine, definition)
      serveSchedules(engine)
      this.#differences = await declare(engine, declarations, owner)
      const lines = describeDifferences(declarations.length, this.#differences, owner)
      for (const line of lines) print(line)
      // Handlers may call this scheduler as soon as the node runs.
      this.#engine = engine
      await engine.node.start()
    } catch (error) {
      await this.#close(engine)
      throw error
    }
    return this
  }

  /** Declares one more job while running: for `schedule()`, whose calls come one by one. */
  async add(definition: AnyDefinition): Promise<readonly Job[]> {
    const { engine } = this
    const { owner, defaults } = this.#parts
    const declarations = declarationsOf([definition], defaults, owner)
    this.#bind(engine, definition)
    await declareMore(engine, declarations, owner)
    engine.node.onChanged(declarations.map(({ spec }) => spec.queue))
    return engine.store.get(declarations.map(({ id }) => id))
  }

  #bind(engine: Engine, definition: AnyDefinition): void {
    engine.handlers.set(definition.name, context =>
      invoke(definition, context.payload, runContext(context)),
    )
  }

  /**
   * Stops claiming, waits, aborts what is left, gives leases back, closes the store. A second call
   * gets the same result; a call during a start waits for it. Nothing runs afterwards, except
   * handlers that ignored their signal: `aborted` names them, their results are refused.
   */
  async stop(options: { grace?: Duration } = {}): Promise<StopResult> {
    refuseOptions('stop() is not valid', options, stopChecks, { code: 'SETTINGS_INVALID' })
    const grace = options.grace === undefined ? undefined : toMs(options.grace, 'grace')
    return this.#lifecycle.stop(() => this.#end(grace))
  }

  async #end(grace: number | undefined): Promise<StopResult> {
    const engine = this.#engine
    try {
      return engine ? await engine.node.stop(grace) : { clean: true, aborted: [] }
    } finally {
      for (const stream of this.#streams) stream.stop()
      this.#streams.clear()
      if (engine) await this.#close(engine)
    }
  }

  async #close(engine: Engine): Promise<void> {
    this.#engine = null
    try {
      await this.#parts.disconnect()
    } finally {
      await engine.store.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** The parts underneath, for surfaces and test kits. */
  get engine(): Engine {
    if (this.#engine) return this.#engine
    const { isStarted, isStopped } = this.#lifecycle
    if (isStarted) throw stateError('is still starting: await start()')
    throw stateError(
      isStopped ? 'is stopped: start() starts it again' : 'is not started: call start() first',
    )
  }

  /** What the last start changed. */
  get differences(): readonly Difference[] {
    return this.#differences
  }

  get jobs(): JobsApi {
    const { app } = this.#parts.owner
    const assertOpen = (verb: string) => this.#assertOpen(verb)
    return new JobsApi({ engine: this.engine, app, assertOpen, stored: this.#storedPayload })
  }

  get queues(): QueuesApi {
    return new QueuesApi(this.engine)
  }

  get runs(): RunsApi {
    return new RunsApi(this.engine, this.#storedPayload)
  }

  get sources(): SourcesApi {
    const { engine } = this
    return new SourcesApi(() => this.#parts.sources(engine))
  }

  get workflows(): WorkflowsApi {
    const { engine } = this
    const { app } = this.#parts.owner
    const assertOpen = (verb: string) => this.#assertOpen(verb)
    return new WorkflowsApi({
      engine,
      assertOpen,
      app,
      open: () => this.#parts.workflows(engine),
    })
  }

  /** Schedules and pushes of a queue that users share in turns. */
  get fair(): FairApi {
    return new FairApi(this.engine, verb => this.#assertOpen(verb), this.#storedPayload)
  }

  /** Runs a declared job once, with its own payload. */
  async trigger<N extends NameOf<J>>(
    name: N,
    input: InputOf<ByName<J>[N]>,
    options: TriggerOptions = {},
  ): Promise<RunHandle<Jsonify<ResultOf<ByName<J>[N]>>>> {
    const { engine } = this
    const definition = this.#definition(name)
    refuseTriggerOptions(name, options)
    const payload = await this.#payloadOf(definition, input)
    const task = this.#tasksOf(definition).make(payload, options)
    const [id] = await enqueue(engine, name, [task])
    return runHandle(engine, id!)
  }

  /**
   * Runs a declared job once for each entry, up to 100,000 in one call. Every entry is checked before
   * the first is stored. The handles are in the order of the entries.
   */
  async triggerMany<N extends NameOf<J>>(
    name: N,
    entries: readonly TriggerEntry<InputOf<ByName<J>[N]>>[],
    options: TriggerManyOptions = {},
  ): Promise<RunHandle<Jsonify<ResultOf<ByName<J>[N]>>>[]> {
    const { engine } = this
    const definition = this.#definition(name)
    const payloads = await payloadsOfEntries(definition, entries, options)
    const factory = this.#tasksOf(definition)
    const tasks = entries.map((entry, i) =>
      factory.make(payloads[i]!, entryOptions(entry, options)),
    )
    if (tasks.length === 0) return []
    const ids = await enqueue(engine, name, tasks)
    return ids.map(id => runHandle(engine, id))
  }

  #tasksOf(definition: AnyDefinition): TaskFactory {
    const { defaults, owner } = this.#parts
    return new TaskFactory({ definition, defaults, app: owner.app, engine: this.engine })
  }

  /** A schedule of a declared job, added or changed while running. */
  async schedule<N extends NameOf<J>>(
    name: N,
    options: ScheduleOptions<InputOf<ByName<J>[N]>>,
  ): Promise<ScheduleHandle> {
    this.#assertOpen('schedule')
    const { engine } = this
    const definition = this.#definition(name)
    refuseOptions(`schedule of ${name} is not valid`, options, allScheduleChecks, scheduleNeeds)
    const payload = await this.#payloadOf(definition, options.input)
    const { key } = options
    const spec = rowSpec(definition, this.#parts.defaults, { ...options, payload })
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
    refuseOptions(
      'the filter of events is not valid',
      filter,
      filterChecks satisfies Checks<EventFilter>,
    )
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

  /** As stored; one that is left out is the definition's own. */
  #payloadOf({ name, options }: AnyDefinition, input: unknown): Promise<Json> {
    return storedPayload(options.input, input === undefined ? options.payload : input, name)
  }

  readonly #storedPayload: PayloadCheck = (handler, payload) => {
    const { definitions } = this.#parts
    const definition = definitions.find(({ name }) => name === handler)
    return storedPayload(definition?.options.input, payload, handler)
  }

  #definition(name: string): AnyDefinition {
    const found = this.#parts.definitions.find(definition => definition.name === name)
    if (found) return found
    const known = this.#parts.definitions.map(definition => definition.name)
    const meant = typeof name === 'string' ? didYouMean(name, known) : null
    const hint = meant ?? `known: ${known.join(', ')}`
    throw new SchedulerError('HANDLER_UNKNOWN', `there is no job named ${name}; ${hint}`)
  }

  #assertOpen(verb: string): void {
    if (this.#parts.mode === 'open') return
    throw new SchedulerError(
      'JOB_DECLARED',
      `cannot ${verb}: this scheduler only runs declared jobs (mode: declared)`,
    )
  }
}

function stateError(state: string): SchedulerError {
  return new SchedulerError('SCHEDULER_STATE', `the scheduler ${state}`)
}
