// Starting and stopping the service: store, node, HTTP, in this order and back.

import { serviceLogger, systemIds, type Logger } from '../compose.ts'
import { openDemo } from '../demo/demo.ts'
import type { StopResult } from '../engine/node.ts'
import type { Engine } from '../create-engine.ts'
import type { App } from './http/app/parts.ts'
import { httpSettings } from './http/app/settings.ts'
import type { Authenticator } from './auth/authenticator.ts'
import { sourceOf } from './compat/crawl-jobs/flat.ts'
import { traceHttp } from './http/app/tracing.ts'
import { Metrics } from './metrics/metrics.ts'
import { logService } from './service-log.ts'
import { openTelemetry, type Telemetry } from '../observe/tracing.ts'
import { openAlerts, type Alerts } from './alerts/open.ts'
import type { ConfigFile } from './config/config-file.ts'
import type { ServeConfig } from './config/config.ts'
import { heldSecret, openDataFolder, type HeldSecret } from './config/data-folder.ts'
import { authenticatorOf, openEngine, openPlaces, openWork, type Work } from './parts.ts'
import { version } from './version.ts'

export interface Service {
  /** Such as http://127.0.0.1:8060. */
  readonly address: string
  /** What the store promises, in one sentence. */
  readonly promise: string
  /** Signs an admin in once; null unless this is the first start, or asked for. */
  readonly link: string | null
  readonly secretPath: string | null
  readonly engine: Engine
  /** Lets running jobs finish, then closes everything. A second call gets the same result. */
  stop(): Promise<StopResult>
}

export interface StartOptions {
  /** Callers on this machine need no token; the configuration must keep others out. */
  readonly isOpen?: boolean
  /** Every start, not only the first one, gives a link that signs an admin in. */
  readonly hasLink?: boolean
  /** Fills the store with jobs to look at, unless they are there. */
  readonly hasDemo?: boolean
}

export async function startService(
  config: ServeConfig,
  handlers: ConfigFile['handlers'] = {},
  { isOpen = false, hasLink = false, hasDemo = false }: StartOptions = {},
): Promise<Service> {
  const ids = systemIds()
  openDataFolder(config.data)
  const held = secretOf(config, ids)
  const log = config.logLevel === 'silent' ? null : await serviceLogger(config.logLevel)
  const telemetry = await openTelemetry()
  // The app's code is read while a store's server answers.
  const [engine] = await Promise.all([openEngine(config, ids, { tracing: telemetry }), loadApp()])
  let alerts: Alerts | null = null
  let app: App | null = null
  let work: Work | null = null
  const end = async (drainMs?: number) => {
    await alerts?.stop()
    return stop(engine, { app, work, drainMs })
  }
  try {
    const places = await openPlaces(config)
    work = openWork(engine, config, { ...places, handlers, log })
    await openDemo({ engine, workflows: work.workflows }, hasDemo)
    const auth = authenticatorOf(config, held?.secret ?? null, { records: engine, isOpen })
    alerts = await openAlerts(config, { engine, outbound: work.actions.outbound, log })
    app = await makeApp({ config, engine, work, auth, log, alerts, telemetry })
    if (config.worker) await engine.node.start()
    const address = await listen(app, config)
    const code = hasLink || held?.isNew === true ? auth.code.issue(ids, engine.clock.now()) : null
    let stopping: Promise<StopResult> | null = null
    return {
      address,
      promise: engine.store.promise,
      link: code === null ? null : `${address}/#code=${code}`,
      secretPath: held?.path ?? null,
      engine,
      stop: () => (stopping ??= end()),
    }
  } catch (error) {
    await end(0).catch(() => {})
    throw error
  }
}

/** A given one, or the one in the data folder; none where others sign. */
function secretOf(
  config: ServeConfig,
  ids: ReturnType<typeof systemIds>,
): (Omit<HeldSecret, 'path'> & { readonly path: string | null }) | null {
  if (config.jwksUrl !== null) return null
  if (config.jwtSecret !== null) return { secret: config.jwtSecret, path: null, isNew: false }
  return heldSecret(config.data, ids)
}

interface Made {
  readonly config: ServeConfig
  readonly engine: Engine
  readonly work: Work
  readonly auth: Authenticator
  readonly log: Logger | null
  readonly alerts: Alerts
  readonly telemetry: Telemetry | null
}

function loadApp() {
  return import('./http/app/app.ts')
}

async function makeApp(made: Made): Promise<App> {
  const { config, engine, work, auth, log, alerts, telemetry } = made
  const { createApp } = await loadApp()
  if (log !== null) {
    const { checkIntervalMs, lockDurationMs } = config
    logService(engine.events, log, { checkIntervalMs, lockDurationMs, sourceOf })
  }
  const metrics = new Metrics(engine)
  return createApp({
    engine,
    auth,
    log,
    version,
    actions: work.actions.registry,
    workflows: work.workflows,
    pages: work.pages,
    sources: work.sources,
    metricsText: async () => (await metrics.text()) + alerts.text(),
    ...(telemetry ? { instrument: app => traceHttp(telemetry, app) } : {}),
    settings: httpSettings({
      ratePerMinute: config.ratePerMinute === 0 ? null : config.ratePerMinute,
      tenantRequestsMax: config.tenantRequestsMax,
      bodyBytesMax: config.bodyBytesMax,
      intervalMsMin: config.intervalMsMin,
      requiresIfMatch: config.requireIfMatch,
      servesDashboard: config.dashboard,
      environment: config.environment,
      trustedProxies: config.trustProxy,
      readyAfterMs: Math.max(60_000, config.checkIntervalMs * 3),
    }),
  })
}

async function listen(app: App, { host, port }: ServeConfig): Promise<string> {
  await app.listen({ host, port })
  const bound = app.server.address()
  const actual = typeof bound === 'object' && bound !== null ? bound.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${actual}`
}

interface Running {
  readonly app: App | null
  readonly work: Work | null
  /** How long running jobs have to finish; by default as configured. */
  readonly drainMs?: number | undefined
}

/** People can still look and cancel while running jobs come to their end. */
export async function stop(engine: Engine, { app, work, drainMs }: Running): Promise<StopResult> {
  try {
    return await engine.node.stop(drainMs)
  } finally {
    await app?.close()
    await work?.actions.close()
    await work?.tables.close()
    await engine.store.close()
  }
}
