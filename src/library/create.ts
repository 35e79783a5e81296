// Making a scheduler: options checked, concrete parts chosen, signals wired when asked.

import process from 'node:process'
import {
  attachLog,
  DEFAULT_STORE,
  makeNodeId,
  openStore,
  openTables,
  openTracing,
  systemIds,
  type Logger,
  type LogLevel,
} from '../compose.ts'
import { refuse, SchedulerError } from '../core/errors.ts'
import type { Checks } from '../core/spec/option-check.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'
import { createEngine, type Engine } from '../create-engine.ts'
import { Events } from '../runtime/events.ts'
import type { Ids } from '../runtime/ids.ts'
import type { EngineSettings } from '../runtime/settings.ts'
import type { Store } from '../store/port.ts'
import type { LibraryOptions as SourceOptions, OpenSources } from '../sources/open.ts'
import { QUEUE_SIZE, SOURCE_QUEUE } from '../sources/source.ts'
import type { OpenWorkflows, WorkflowOptions } from '../workflows/open.ts'
import { lazy, serve, type Lazy } from './lazy.ts'
import type { Policies } from './policies.ts'
import { Scheduler, type AnyJob } from './scheduler.ts'
import { schedulerChecks, schedulerProblems } from './scheduler-checks.ts'
import { onSignals } from './signals.ts'
import { toMs, type Duration } from './time-input.ts'

export interface SchedulerOptions<J extends readonly AnyJob[]> {
  readonly jobs: J
  /** `sqlite:<path>` (default `sqlite:.carillon/carillon.db`), `memory:`, or an opened store. */
  readonly store?: string | Store
  /** The label under which these declarations are kept apart from other programs'. */
  readonly app?: string
  /** Declarations of an older generation never overwrite those of a newer one. */
  readonly generation?: string | number
  /** What happens to jobs that are no longer declared. Default archive. */
  readonly orphans?: 'archive' | 'forget' | 'keep'
  /** How long nodes of this app run without declaring a job before it is dropped. Default 1 hour. */
  readonly orphanGraceMs?: number
  /** 'declared' refuses jobs added, edited or removed while running. Default open. */
  readonly mode?: 'open' | 'declared'
  readonly defaults?: Policies
  /** Handlers running at once in this process. Default 100. */
  readonly slots?: number
  readonly queues?: EngineSettings['queues']
  readonly nodeId?: string
  readonly checkIntervalMs?: number
  /** How long a claim holds without being renewed. */
  readonly lockDurationMs?: number
  readonly staleLockCheckMs?: number
  readonly metricsMs?: number
  readonly waitingMax?: number | null
  /** Finer settings of the node, for those who measured. */
  readonly settings?: Partial<Omit<EngineSettings, 'nodeId'>>
  /** Given, this process runs workflows; their steps call its jobs by name. */
  readonly workflows?: WorkflowOptions
  /** Given, this process fetches sources into tables of the store's database. */
  readonly sources?: SourceOptions
  readonly shutdown?: { readonly signals?: boolean; readonly grace?: Duration }
  /**
   * A logger with pino's shape, or a level: then pino writes to the standard output. Without one,
   * what goes wrong is printed to the standard error; false is silence.
   */
  readonly logger?: Logger | LogLevel | false
  /** Receives the engine's events before anything happens: for metrics and test kits. */
  readonly listen?: (events: Events) => void
  /** Where the difference at start is printed. Default: the console. */
  readonly print?: (line: string) => void
  /** Time itself; tests bring their own. */
  readonly clock?: Clock
  readonly ids?: Ids
}

const optionChecks: Checks<SchedulerOptions<readonly AnyJob[]>> = schedulerChecks

export function createScheduler<const J extends readonly AnyJob[]>(
  options: SchedulerOptions<J>,
): Scheduler<J> {
  refuse(
    'SETTINGS_INVALID',
    'the scheduler cannot be made',
    schedulerProblems(options, optionChecks),
  )
  let stopListening: (() => void) | null = null
  const heard = new Events()
  options.listen?.(heard)
  let logging: Promise<unknown> | null = null
  const { clock = systemClock, store = DEFAULT_STORE } = options
  const workflows = workflowsOf(options.workflows)
  const sources = sourcesOf(options)
  const scheduler = new Scheduler<J>({
    heard,
    clock,
    definitions: options.jobs,
    defaults: options.defaults ?? {},
    owner: {
      app: options.app ?? 'default',
      generation: String(options.generation ?? ''),
      orphans: options.orphans ?? 'archive',
    },
    mode: options.mode ?? 'open',
    // oxlint-disable-next-line no-console -- the difference at start is meant to be read
    print: options.print ?? (line => console.info(line)),
    connect: async () => {
      // Once for all starts: a handler may end after the stop, which is worth a line too.
      logging ??= attachLog(heard, { logger: options.logger, now: () => clock.now(), store })
      await logging
      return connect(options, heard)
    },
    prepare: async engine => {
      if (options.shutdown?.signals) stopListening = onSignals(() => scheduler.stop())
      if (options.workflows) await serve(engine, workflows)
      if (options.sources) await serve(engine, sources)
    },
    workflows: engine => workflows.open(engine),
    sources: engine => sources.open(engine),
    disconnect: async () => {
      stopListening?.()
      await Promise.all([workflows.close(), sources.close()])
    },
  })
  return scheduler
}

function workflowsOf(options: WorkflowOptions = {}): Lazy<OpenWorkflows> {
  return lazy(async engine => {
    const { openWorkflows } = await import('../workflows/open.ts')
    return openWorkflows(engine, { env: process.env, ...options })
  })
}

function sourcesOf(options: SchedulerOptions<readonly AnyJob[]>): Lazy<OpenSources> {
  return lazy(async engine => {
    const { openOwnSources } = await import('../sources/open.ts')
    const { sources, store } = options
    const { database, env = process.env } = sources ?? {}
    const tables = await openTables(database ?? placeOf(store), null).catch((error: unknown) => {
      // Whoever only keeps definitions needs no place for rows.
      if (sources !== undefined) throw error
      return null
    })
    return openOwnSources(engine, { ...sources, tables, env })
  })
}

/** An opened store does not say where it is. */
function placeOf(store: string | Store = DEFAULT_STORE): string {
  if (typeof store === 'string') return store
  return store.kind === 'memory' ? 'memory:' : 'opened:'
}

async function connect(
  options: SchedulerOptions<readonly AnyJob[]>,
  events: Events,
): Promise<Engine> {
  const clock = options.clock ?? systemClock
  const ids = options.ids ?? systemIds()
  const given = options.store ?? DEFAULT_STORE
  const listens = options.clock === undefined
  const store =
    typeof given === 'string' ? await openStore(given, { now: () => clock.now(), listens }) : given
  try {
    const tracing = await openTracing()
    const settings = {
      nodeId: options.nodeId ?? makeNodeId(ids),
      buffers: { [SOURCE_QUEUE]: QUEUE_SIZE },
      ...options.settings,
      ...settingsOf(options),
    }
    return withPublicNames(() => createEngine({ tracing, store, clock, ids, events, settings }))
  } catch (error) {
    await store.close()
    throw error
  }
}

const publicNames: Readonly<Record<string, string>> = {
  leaseMs: 'lockDurationMs',
  reapMs: 'staleLockCheckMs',
  drainMs: 'shutdown.grace',
}

/** A caller must find the name they wrote in the message, not ours. */
function withPublicNames<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof SchedulerError) || error.code !== 'SETTINGS_INVALID') throw error
    const problems = error.problems.map(problem => ({
      ...problem,
      field: publicNames[problem.field] ?? problem.field,
    }))
    refuse('SETTINGS_INVALID', 'the settings are not valid', problems)
    throw error
  }
}

/** Public names on the left; the engine speaks of leases and reaping. */
function settingsOf(options: SchedulerOptions<readonly AnyJob[]>): Partial<EngineSettings> {
  const { shutdown } = options
  const given: { -readonly [K in keyof EngineSettings]?: EngineSettings[K] | undefined } = {
    slots: options.slots,
    queues: options.queues,
    checkIntervalMs: options.checkIntervalMs,
    leaseMs: options.lockDurationMs,
    reapMs: options.staleLockCheckMs,
    metricsMs: options.metricsMs,
    waitingMax: options.waitingMax,
    orphanGraceMs: options.orphanGraceMs,
    drainMs: shutdown?.grace === undefined ? undefined : toMs(shutdown.grace, 'shutdown.grace'),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
