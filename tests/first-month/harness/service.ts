// The packed service as an operator starts it: `carillon serve` with default options, on a free port
// and with a data folder of its own.

import { createHmac } from 'node:crypto'
import { workFolder } from './project.ts'
import { startCli, type Program, type ProgramOptions } from './program.ts'

export const SECRET = 'T3sts-Of-The-First-Month-Share-This-Secret-73'

/** Members of a JSON body; tests assert on what they read. */
export interface Body {
  readonly [field: string]: Body
}

export interface Answer {
  readonly status: number
  readonly body: Body
}

export interface Service {
  readonly program: Program
  readonly url: string
  readonly folder: string
  request(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
  /** A graceful end. */
  stop(): Promise<{ readonly code: number | null }>
}

export interface RequestOptions {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Identity {
  readonly role?: 'viewer' | 'operator' | 'admin'
  readonly tenant?: string
  readonly sub?: string
  /** When it ends, in seconds; within 366 days by the clock of the service. */
  readonly exp?: number
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token the service accepts; by default an administrator of every tenant, for a day. */
export function signToken(identity: Identity = {}): string {
  const { role = 'admin', tenant = '*', sub = 'tests' } = identity
  const exp = identity.exp ?? Math.floor(Date.now() / 1_000) + 86_400
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub, tenant, role, exp })}`
  return `${content}.${createHmac('sha256', SECRET).update(content).digest('base64url')}`
}

export interface ServiceOptions extends ProgramOptions {
  /** Handlers: the source of a `carillon.config.mjs`. */
  readonly config?: string
}

export async function startService(
  args: readonly string[] = [],
  options: ServiceOptions = {},
): Promise<Service> {
  const { config, files, env } = options
  const folder =
    options.folder ??
    workFolder({ ...files, ...(config === undefined ? {} : { 'carillon.config.mjs': config }) })
  const program = startCli(['serve', '--port', '0', ...args], {
    ...options,
    folder,
    env: { CARILLON_JWT_SECRET: SECRET, ...env },
  })
  const [, url] = await program.waitFor(/(http:\/\/127\.0\.0\.1:\d+)/)
  const admin = signToken()
  return {
    program,
    url: url!,
    folder,
    request: async (method, path, body, { token = admin, headers = {} } = {}) => {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.includes('json') ?? false
      return {
        status: answer.status,
        body: isJson && text !== '' ? (JSON.parse(text) as Body) : (text as unknown as Body),
      }
    },
    stop: () => program.kill('SIGTERM'),
  }
}
