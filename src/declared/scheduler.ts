// Tasks declared as a whole at start: initialise, stop, and nothing else. A thin face of the engine.

import {
  attachLog,
  DEFAULT_STORE,
  makeNodeId,
  openStore,
  openTracing,
  systemIds,
  type Logger,
  type LogLevel,
} from '../compose.ts'
import { isZone, parseCron } from '../cron/index.ts'
import { refuse, SchedulerError } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import { anything, checkOptions, type Checks } from '../core/spec/option-check.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'
import { createEngine, type Engine, type EngineOptions } from '../create-engine.ts'
import { Events } from '../runtime/events.ts'
import { engineDefaults, type EngineSettings } from '../runtime/settings.ts'
import { declare, type Owner } from '../library/declare.ts'
import type { Store } from '../store/port.ts'
import { checkRegistrations, type Registration, type Task } from './registration.ts'
import { reportOf, tell } from './report.ts'
import { reviveAll } from './revive.ts'
import { declarationOf, ownerLabel, perform, TASK_QUEUE } from './task.ts'

export interface TaskSchedulerOptions {
  /** `sqlite:<path>` (default `sqlite:.carillon/carillon.db`), any other store, or an opened one. */
  readonly store?: string | Store
  /** Time itself; tests bring their own. */
  readonly clock?: Clock
  /** An IANA zone for the cron expressions. Default: the host's. */
  readonly tz?: string
  /** The label under which these tasks are kept apart from other programs'. */
  readonly app?: string
  /** A logger with pino's shape, or a level. Default: plain lines for what changed and what fails. */
  readonly logger?: Logger | LogLevel | false
  /** Finer settings of the node, for those who measured. */
  readonly settings?: Partial<Omit<EngineSettings, 'nodeId' | 'queues'>>
}

export interface TaskScheduler {
  /** Makes the stored tasks match these and runs them; rejects while tasks are active. */
  initialize(registrations: readonly Registration[]): Promise<void>
  /** Nothing starts any more; resolves when the running callbacks have ended. */
  stop(): Promise<void>
}

export function createTaskScheduler(options: TaskSchedulerOptions = {}): TaskScheduler {
  refuseWrong(options)
  const tasks = new DeclaredTasks(options)
  return {
    initialize: registrations => tasks.initialize(registrations),
    stop: () => tasks.stop(),
  }
}

const APP_MAX = 40

const optionChecks: Checks<TaskSchedulerOptions> = {
  store: anything,
  clock: anything,
  tz: anything,
  app: anything,
  logger: anything,
  settings: anything,
}

function refuseWrong(options: TaskSchedulerOptions): void {
  const found = new Findings()
  checkOptions(found, options, optionChecks)
  const { app, tz } = options ?? {}
  if (app !== undefined) {
    found.text('app', app, APP_MAX)
    if (typeof app === 'string') found.text('app', encodeURIComponent(app), APP_MAX)
  }
  if (tz !== undefined && tz !== 'system' && !(typeof tz === 'string' && isZone(tz))) {
    found.add('tz', tz, 'an IANA time zone such as Europe/Berlin, or system')
  }
  refuse('SETTINGS_INVALID', 'the task scheduler cannot be made', found.problems.slice(0, 1))
}

interface Active {
  readonly engine: Engine
  readonly end: () => Promise<void>
}

class DeclaredTasks {
  readonly #options: TaskSchedulerOptions
  readonly #app: string
  readonly #tz: string
  #active: Promise<Active> | null = null
  #stopping: Promise<void> | null = null
  /** A store in memory outlives a stop: nothing else remembers what happened. */
  #memory: Store | null = null

  constructor(options: TaskSchedulerOptions) {
    this.#options = options
    this.#app = options.app ?? 'default'
    this.#tz = options.tz ?? 'system'
  }

  async initialize(registrations: readonly Registration[]): Promise<void> {
    if (this.#active) {
      throw new SchedulerError('SCHEDULER_STATE', 'tasks are active already: call stop() first')
    }
    const tasks = checkRegistrations(registrations, this.#tz)
    const active = this.#begin(tasks)
    this.#active = active
    try {
      await active
    } catch (error) {
      this.#active = null
      throw error
    }
  }

  stop(): Promise<void> {
    const active = this.#active
    if (!active) return Promise.resolve()
    this.#stopping ??= this.#end(active).finally(() => {
      this.#stopping = null
    })
    return this.#stopping
  }

  async #end(starting: Promise<Active>): Promise<void> {
    const active = await starting.catch(() => null)
    if (!active) return
    // A callback is waited for however long it takes: it is never aborted by a stop.
    try {
      await active.engine.node.stop(Number.MAX_SAFE_INTEGER)
      await active.end()
    } finally {
      this.#active = null
    }
  }

  async #begin(tasks: readonly Task[]): Promise<Active> {
    const store = await this.#open()
    const events = new Events()
    const end = () => this.#release(store)
    try {
      const { logger: given, clock = systemClock } = this.#options
      const logger = await attachLog(events, { logger: given, now: () => clock.now(), store })
      const engine = this.#engine({ store, events, tracing: await openTracing() }, tasks)
      await this.#reconcile(engine, tasks, logger)
      await engine.node.start()
      return { engine, end }
    } catch (error) {
      await end()
      throw error
    }
  }

  #engine(given: Pick<EngineOptions, 'store' | 'events' | 'tracing'>, tasks: readonly Task[]) {
    const ids = systemIds()
    const clock = this.#options.clock ?? systemClock
    const slots = Math.max(engineDefaults.slots, tasks.length)
    const settings = { slots, ...this.#options.settings, queues: { [TASK_QUEUE]: {} } }
    const nodeId = makeNodeId(ids)
    const engine = createEngine({ ...given, clock, ids, settings: { ...settings, nodeId } })
    for (const task of tasks) {
      const { spec } = declarationOf(task, this.#app)
      engine.handlers.set(spec.handler, context => perform(task, context))
    }
    return engine
  }

  async #reconcile(engine: Engine, tasks: readonly Task[], logger: Logger | null): Promise<void> {
    const owner: Owner = { app: ownerLabel(this.#app), generation: '', orphans: 'forget' }
    const declarations = tasks.map(task => declarationOf(task, this.#app))
    const report = reportOf(await declare(engine, declarations, owner, true), zoneOf(this.#tz))
    if (report && this.#options.logger !== false) tell(logger, report)
    await reviveAll(engine, owner.app)
  }

  async #open(): Promise<Store> {
    const { store = DEFAULT_STORE, clock } = this.#options
    if (typeof store !== 'string') return store
    if (this.#memory) return this.#memory
    const now = () => (clock ?? systemClock).now()
    const opened = await openStore(store, { now, listens: clock === undefined })
    if (opened.kind === 'memory') this.#memory = opened
    return opened
  }

  /** A store that was opened here is closed here; whoever brought one closes it. */
  async #release(store: Store): Promise<void> {
    if (store !== this.#memory && store !== this.#options.store) await store.close()
  }
}

function zoneOf(tz: string): string {
  return parseCron('* * * * *', { zone: tz, dialect: 'posix' }).zone
}
