// The service without a door: the same routes over the same store, asked in this process and running
// no jobs. What the command line does to a store is done by the very code that serves others.

import { userInfo } from 'node:os'
import type { Readable } from 'node:stream'
import { systemIds } from '../compose.ts'
import { httpSettings } from './http/app/settings.ts'
import { EVERY_TENANT, type Principal } from './auth/principal.ts'
import { openTo } from './http/desk/auth.ts'
import { Desk } from './http/desk/desk.ts'
import type { Answer } from './http/desk/reply.ts'
import type { ConfigFile } from './config/config-file.ts'
import type { ServeConfig } from './config/config.ts'
import { openDataFolder } from './config/data-folder.ts'
import { latePlaces } from './lazy-stores.ts'
import { openEngine, openWork } from './parts.ts'
import { version } from './version.ts'

/** What is read of an answer; a Response is one, but loading those takes longer than most answers. */
export interface LocalAnswer {
  readonly ok: boolean
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly body: ReadableStream<Uint8Array> | null
  text(): Promise<string>
}

export interface LocalService {
  /** Answers like `fetch`, without a network. */
  readonly fetch: (url: string, init: RequestInit) => Promise<LocalAnswer>
  close(): Promise<void>
}

export async function openLocal(
  given: ServeConfig,
  handlers: ConfigFile['handlers'] = {},
): Promise<LocalService> {
  // Jobs that run commands can be made here: whether a node takes them is said where it is started.
  const config: ServeConfig = { ...given, worker: false, allowCommands: [], commandUser: null }
  openDataFolder(config.data)
  const engine = await openEngine(config, systemIds(), { migrates: false })
  try {
    const work = openWork(engine, config, { ...latePlaces(config), handlers, log: null })
    const principal = whoever()
    const parts = {
      ...work,
      actions: work.actions.registry,
      engine,
      auth: openTo(principal, engine),
      log: null,
      version,
      metricsText: async () => '',
      settings: httpSettings({ bodyBytesMax: config.bodyBytesMax }),
    }
    const desk = new Desk(parts, principal)
    return {
      fetch: (url, init) => ask(desk, url, init),
      close: async () => {
        await desk.close()
        await work.actions.close()
        await work.tables.close()
        await engine.store.close()
      },
    }
  } catch (error) {
    await engine.store.close()
    throw error
  }
}

/** Whoever can open the store may do everything to it. */
function whoever(): Principal {
  return { sub: whoami(), tenant: EVERY_TENANT, role: 'admin', by: 'token' }
}

/** The name the audit has for what is done at this machine's command line. */
function whoami(): string {
  try {
    return `local:${userInfo().username}`
  } catch {
    return 'local'
  }
}

async function ask(desk: Desk, url: string, init: RequestInit): Promise<LocalAnswer> {
  const { pathname, search } = new URL(url)
  const { method = 'GET', headers = {}, body, signal = null } = init
  const answer = await desk.ask({
    method,
    url: `${pathname}${search}`,
    headers: headers as Record<string, string>,
    body: typeof body === 'string' ? body : null,
    signal,
  })
  return answerOf(answer, signal)
}

function answerOf({ status, headers, body }: Answer, signal: AbortSignal | null): LocalAnswer {
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: name => headers.get(name.toLowerCase()) ?? null },
    body: typeof body === 'string' ? null : streamOf(body, signal),
    text: async () => (typeof body === 'string' ? body : ''),
  }
}

function streamOf(source: Readable, signal: AbortSignal | null): ReadableStream<Uint8Array> {
  const halt = () => void source.destroy()
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
