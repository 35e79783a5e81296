// The service without a door: the same app over the same store, asked in this process and running
// no jobs. What the command line does to a store is done by the very code that serves others.

import { userInfo } from 'node:os'
import { systemIds } from '../compose.ts'
import { DAY } from '../core/time.ts'
import type { Engine } from '../engine/engine.ts'
import { createApp } from '../http/app/app.ts'
import { httpSettings } from '../http/app/settings.ts'
import { EVERY_TENANT } from '../http/auth/principal.ts'
import { mint } from '../http/auth/tokens.ts'
import type { ConfigFile } from './config-file.ts'
import type { ServeConfig } from './config.ts'
import { openDataFolder } from './data-folder.ts'
import { authenticatorOf, openEngine, openWork } from './parts.ts'
import { stop } from './start.ts'
import { tokenRules } from './token-rules.ts'
import { version } from './version.ts'

export interface LocalService {
  /** Answers like `fetch`, without a network. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly token: string
  readonly engine: Engine
  close(): Promise<void>
}

export async function openLocal(
  given: ServeConfig,
  handlers: ConfigFile['handlers'] = {},
): Promise<LocalService> {
  // Whoever can open the store may do everything to it; the token is for this process alone. Jobs
  // that run commands can be made here: whether a node takes them is said where the node is started.
  const config: ServeConfig = {
    ...given,
    jwksUrl: null,
    jwtIssuer: null,
    jwtAudience: null,
    worker: false,
    allowCommands: true,
  }
  const ids = systemIds()
  openDataFolder(config.data)
  const secret = `${ids.token()}${ids.token()}`
  const engine = await openEngine(config, ids)
  try {
    const work = await openWork(engine, config, handlers, null)
    const app = await createApp({
      ...work,
      actions: work.actions.registry,
      engine,
      auth: authenticatorOf(config, secret),
      log: null,
      version,
      metricsText: () => '',
      settings: httpSettings({
        ratePerMinute: null,
        bodyBytesMax: config.bodyBytesMax,
        describesApi: false,
        servesDashboard: false,
      }),
    })
    const grant = { sub: whoami(), tenant: EVERY_TENANT, role: 'admin', ttlMs: DAY } as const
    return {
      fetch: (url, init) => inject(app, url, init),
      token: await mint(secret, grant, tokenRules(config)),
      engine,
      close: async () => void (await stop(engine, app, work)),
    }
  } catch (error) {
    await engine.store.close()
    throw error
  }
}

/** The name the audit has for what is done at this machine's command line. */
function whoami(): string {
  try {
    return `local:${userInfo().username}`
  } catch {
    return 'local'
  }
}

type App = Awaited<ReturnType<typeof createApp>>

async function inject(app: App, url: string, init: RequestInit): Promise<Response> {
  const { pathname, search } = new URL(url)
  const answer = await app.inject({
    method: (init.method ?? 'GET') as 'GET',
    url: `${pathname}${search}`,
    headers: init.headers as Record<string, string>,
    payloadAsStream: true,
    ...(typeof init.body === 'string' ? { payload: init.body } : {}),
    ...(init.signal ? { signal: init.signal } : {}),
  })
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers.set(name, String(value))
  }
  const { statusCode: status } = answer
  const isEmpty = status === 204 || status === 304
  const body = isEmpty ? null : streamOf(answer.stream(), init.signal ?? null)
  return new Response(body, { status, headers })
}

function streamOf(source: NodeJS.ReadableStream, signal: AbortSignal | null): ReadableStream {
  const halt = () => (source as NodeJS.ReadableStream & { destroy(): void }).destroy()
  return new ReadableStream({
    start(controller) {
      source.on('data', (chunk: Buffer) =>
        unlessClosed(() => controller.enqueue(new Uint8Array(chunk))),
      )
      source.on('end', () => unlessClosed(() => controller.close()))
      source.on('error', error => unlessClosed(() => controller.error(error)))
      signal?.addEventListener('abort', () => {
        halt()
        unlessClosed(() => controller.error(signal.reason))
      })
    },
    cancel: halt,
  })
}

/** A stream that its reader has closed takes nothing more. */
function unlessClosed(work: () => void): void {
  try {
    work()
  } catch {
    // Nobody reads it any more.
  }
}
