// A service as people run it: its own process, built code, a handler file, and callers with a token.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import {
  fromBuild,
  mintedFor,
  SERVE_SECRET,
  serveIn,
  type Serving,
} from '../../tests/support/carillon.ts'

/** `hold` runs until it is aborted and leaves the moment of that in a file. */
const handlers = (folder: string) => `
import { appendFileSync } from 'node:fs'
export default {
  handlers: {
    noop: async () => null,
    nap: ({ signal }) => new Promise(resolve => {
      const timer = setTimeout(resolve, 5_000, null)
      signal.addEventListener('abort', () => { clearTimeout(timer); resolve(null) })
    }),
    hold: ({ signal }) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        appendFileSync(${JSON.stringify(join(folder, 'aborted'))}, Date.now() + '\\n')
        reject(signal.reason)
      })
    }),
  },
}`

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface Site {
  readonly serving: Serving
  readonly startedMs: number
  /** The header of an admin of every tenant. */
  readonly wide: string
  get(path: string): Promise<Answer>
  post(path: string, body?: object): Promise<Answer>
  /** Attempts this process has settled so far. */
  settled(): Promise<number>
  /** Time its process has spent on processors; not a number where the system does not tell. */
  cpuMs(): number
  stop(): Promise<void>
}

const CPU_TICK_MS = 10

function cpuMsOf(pid: number): number {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return Number.NaN
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * CPU_TICK_MS
}

export function assertBuilt(): void {
  if (!existsSync(fromBuild[0]!))
    throw new Error('run `npm run build` first: built code is measured')
}

export async function openSite(
  folder: string,
  store: string,
  args: readonly string[] = [],
): Promise<Site> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'carillon.config.mjs'), handlers(folder))
  const from = performance.now()
  const serving = await serveIn(folder, {
    args: ['--store', store, '--rate-limit', '0', ...args],
    env: { CARILLON_JWT_SECRET: SERVE_SECRET },
    program: fromBuild,
  })
  const startedMs = performance.now() - from
  const agent = new Agent({ connections: 20 })
  const own = `Bearer ${await mintedFor('default')}`
  const wide = `Bearer ${await mintedFor('*')}`
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    authorization = own,
  ): Promise<Answer> => {
    const answer = await request(`${serving.address}${path}`, {
      dispatcher: agent,
      method,
      headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: answer.statusCode, body: (await answer.body.json()) as Answer['body'] }
  }
  return {
    serving,
    startedMs,
    wide,
    get: path => send('GET', path),
    post: (path, body) => send('POST', path, body),
    settled: async () => {
      const { body } = await send('GET', '/api/v1/system', undefined, wide)
      return (body['counters'] as { settled: number }).settled
    },
    cpuMs: () => cpuMsOf(serving.child.pid!),
    stop: async () => {
      await agent.close()
      serving.child.kill('SIGTERM')
      await serving.ended
    },
  }
}
