// The parts of a running service, chosen by its configuration.

import process from 'node:process'
import { actionHandlers, type Actions, type PageSink } from '../actions/index.ts'
import { httpAction } from '../actions/http/action.ts'
import {
  isPostgres,
  makeNodeId,
  openPages,
  openStore,
  openTables,
  type DataWriter,
  type Logger,
} from '../compose.ts'
import { systemClock } from '../runtime/clock.ts'
import { createEngine, type Engine } from '../create-engine.ts'
import { secretsFrom } from '../actions/secrets.ts'
import type { Tracing } from '../engine/handlers.ts'
import type { Ids } from '../runtime/ids.ts'
import type { EngineSettings } from '../runtime/settings.ts'
import { Authenticator, type AuthOptions } from './auth/authenticator.ts'
import type { TokenKey } from './auth/tokens.ts'
import { openSources } from '../sources/open.ts'
import { SOURCE_QUEUE } from '../sources/source.ts'
import type { Sources } from '../sources/sources.ts'
import type { SourceTables } from '../sources/tables.ts'
import { workflowAction } from '../workflows/action.ts'
import { Workflows } from '../workflows/workflows.ts'
import { parseAlertLimits } from './alerts/limits.ts'
import { commandAccountOf } from './command-account.ts'
import { hostLimitsOf, type ServeConfig } from './config/config.ts'
import type { ConfigFile } from './config/config-file.ts'
import { bindHandlers } from './handlers.ts'
import { tokenRules } from './auth/token-rules.ts'

const readClock = () => systemClock.now()

export interface EngineParts {
  readonly tracing?: Tracing | null
  /** Only what starts a node brings a store of an older version up to date. */
  readonly migrates?: boolean
}

export async function openEngine(
  config: ServeConfig,
  ids: Ids,
  { tracing = null, migrates = true }: EngineParts = {},
): Promise<Engine> {
  const store = await openStore(config.store, { now: readClock, listens: true, migrates })
  try {
    const settings = engineSettingsOf(config, ids)
    return createEngine({ store, clock: systemClock, ids, settings, tracing })
  } catch (error) {
    await store.close()
    throw error
  }
}

function engineSettingsOf(
  config: ServeConfig,
  ids: Ids,
): Partial<EngineSettings> & { readonly nodeId: string } {
  const { missingMs } = parseAlertLimits(config.alerts, 'CARILLON_ALERTS')
  return {
    nodeId: config.nodeId ?? makeNodeId(ids),
    slots: config.slots,
    queues: config.queues,
    buffers: { [SOURCE_QUEUE]: config.sourceQueue },
    checkIntervalMs: config.checkIntervalMs,
    leaseMs: config.lockDurationMs,
    reapMs: config.staleLockCheckMs,
    metricsMs: config.metricsMs,
    drainMs: config.drainMs,
    abortGraceMs: config.abortGraceMs,
    ...(missingMs === null ? {} : { missingMs }),
  }
}

export interface Work {
  readonly actions: Actions
  readonly workflows: Workflows
  readonly pages: PageSink
  readonly sources: Sources
  readonly tables: SourceTables
}

/** Where runs leave what they found. */
export type Places = Pick<Work, 'pages' | 'tables'>

export async function openPlaces(
  { store, dataDb }: ServeConfig,
  writer: DataWriter = {},
): Promise<Places> {
  const pages = await openPages(isPostgres(store) ? store : dataDb, writer)
  return { pages, tables: await openTables(store, dataDb, writer) }
}

export interface WorkParts extends Places {
  readonly handlers: ConfigFile['handlers']
  readonly log: Logger | null
}

/** Everything a job can do here: actions, workflows, and the code the configuration brings. */
export function openWork(
  engine: Engine,
  config: ServeConfig,
  { pages, tables, handlers, log }: WorkParts,
): Work {
  const { clock, store } = engine
  const actions = actionHandlers({
    clock,
    pages,
    allowHosts: config.allowHosts,
    dns: config.dns,
    allowCommands: config.allowCommands,
    commandAccount: commandAccountOf(config),
    env: process.env,
    limits: {
      connectMs: config.connectTimeoutMs,
      firstByteMs: config.firstByteTimeoutMs,
      ...hostLimitsOf(config).limits,
    },
    onRefused: refused => log?.warn({ err: refused }, 'an internal address was refused'),
  })
  const secrets = secretsFrom(process.env)
  const http = httpAction({ outbound: actions.outbound, clock, userAgent: 'Carillon', secrets })
  const workflows = new Workflows({ store, clock, http })
  actions.registry.add(workflowAction({ workflows, handlers: engine.handlers, http, clock }))
  const { registry, outbound } = actions
  const sources = openSources(engine, { outbound, registry, tables, env: process.env })
  const own = bindHandlers(handlers, config)
  for (const [name, handler] of [...own, ...registry.handlers]) engine.handlers.set(name, handler)
  return { actions, workflows, pages, sources, tables }
}

/** With keys of an identity provider, nothing that is signed here is taken for a token. */
export function authenticatorOf(
  config: ServeConfig,
  secret: string | null,
  { records, isOpen = false }: Pick<AuthOptions, 'records' | 'isOpen'>,
): Authenticator {
  const key: TokenKey =
    config.jwksUrl === null
      ? { kind: 'secret', secret: secret! }
      : { kind: 'jwks', url: new URL(config.jwksUrl) }
  return new Authenticator({ key, rules: tokenRules(config), records, isOpen })
}
