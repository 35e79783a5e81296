// The `carillon` command as a process: run to its end, or serving until it is told to stop.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { distOf } from '../../scripts/packages.ts'
import type { Role } from '../../src/service/auth/principal.ts'
import { mint } from '../../src/service/auth/tokens.ts'

type Env = Readonly<Record<string, string>>

const root = fileURLToPath(new URL('../..', import.meta.url))
const loader = fileURLToPath(import.meta.resolve('tsx'))
/** As it lies in the tree, and as `npm run build` makes it. */
const fromSource: readonly string[] = ['--import', loader, join(root, 'src/cli/main.ts')]
export const fromBuild: readonly string[] = [join(root, distOf('carillon-service'), 'cli/main.js')]

const clean = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('CARILLON_')),
)

export function carillon(cwd: string, args: readonly string[], env: Env = {}) {
  return spawnSync(process.execPath, [...fromSource, ...args], {
    cwd,
    env: { ...clean, ...env },
    encoding: 'utf8',
  })
}

export interface Serving {
  readonly child: ChildProcess
  readonly address: string
  /** What it has written so far. */
  readonly output: () => string
  readonly ended: Promise<number | null>
  kill(): Promise<void>
}

export interface ServeOptions {
  readonly args?: readonly string[]
  readonly env?: Env
  readonly program?: readonly string[]
}

/** Resolves when the address is printed. */
export async function serveIn(cwd: string, options: ServeOptions = {}): Promise<Serving> {
  const { args = [], env = {}, program = fromSource } = options
  const child = spawn(
    process.execPath,
    [...program, 'serve', '--port', '0', '--log-level', 'warn', ...args],
    { cwd, env: { ...clean, ...env } },
  )
  let text = ''
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        text += chunk.toString()
        const found = /Carillon is at (http:\S+)[\s\S]*(?:tokens|sign in) .*\n/.exec(text)
        if (found) resolve(found[1]!)
      }
      child.stdout.on('data', read)
      child.stderr.on('data', read)
      child.once('exit', code => reject(new Error(`ended with ${code}: ${text}`)))
    })
    return { child, address, output: () => text, ended, kill }
  } catch (error) {
    await kill()
    throw error
  }
}

export interface Answered {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export type Call = (method: string, path: string, body?: object) => Promise<Answered>

/** Given to services whose callers sign their tokens themselves. */
export const SERVE_SECRET = 'tests-c7Zk2mXqLw81RbTn04vYhGd6UeSpJf3A'
const TOKEN_MS = 3_600_000

/** For a service that was given the secret. */
export function mintedFor(tenant: string, role: Role = 'admin'): Promise<string> {
  const rules = {
    now: () => Date.now(),
    issuer: null,
    audience: null,
    lifetimeMaxMs: TOKEN_MS,
  }
  return mint(SERVE_SECRET, { sub: 'test', tenant, role, ttlMs: TOKEN_MS }, rules)
}

/** Calls as an admin of the default tenant, of a service that was given the secret. */
export async function callAt(serving: Serving): Promise<Call> {
  const authorization = `Bearer ${await mintedFor('default')}`
  return async (method, path, body) => {
    const answer = await fetch(`${serving.address}${path}`, {
      method,
      headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      body: text === '' ? {} : (JSON.parse(text) as Answered['body']),
    }
  }
}
