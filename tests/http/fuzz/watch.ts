// What must hold of every answer: no failure of ours, the declared shape, and nothing of others.

import type { Document, Schema } from './document.ts'
import type { Call } from './requests.ts'
import { Shapes } from './shape.ts'
import { kinds, secretOf, tenants, type Holdings } from './tenants.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

const SHOWN = 600
const problem: Schema = { $ref: '#/components/schemas/Problem' }
const harmless = ['POST /api/v1/cron/preview', 'DELETE /api/v1/session']
/** Told to whoever asks from this machine, by configuration. */
const forOperators = '/metrics'

export interface Known {
  readonly held: Holdings
  readonly slugs: readonly string[]
  /** What was logged of failures, by request id. */
  readonly causes: ReadonlyMap<unknown, unknown>
}

export class Watch {
  /** Status → how often, to see that the fuzz gets anywhere. */
  readonly statuses = new Map<number, number>()
  /** Operations that answered with success at least once. */
  readonly reached = new Set<string>()
  readonly failures: string[] = []
  readonly #seed: number
  readonly #shapes: Shapes
  readonly #held: Holdings
  readonly #slugs: ReadonlySet<string>

  readonly #causes: ReadonlyMap<unknown, unknown>

  constructor(seed: number, document: Document, of: Known) {
    this.#seed = seed
    this.#shapes = new Shapes(document.schemas)
    this.#held = of.held
    this.#slugs = new Set(of.slugs)
    this.#causes = of.causes
  }

  look(call: Call, answer: Answer): void {
    const { status } = answer
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const found = [
      ...(status >= 500 ? ['it is a failure of ours'] : []),
      ...(status < 400 ? this.#success(call, answer) : this.#refusal(call, answer)),
      ...headerProblems(call, answer),
      ...this.#leaks(call, answer),
    ]
    if (found.length > 0) this.failures.push(this.#report(call, answer, found))
  }

  #success({ operation, method, caller }: Call, { status, headers, text }: Answer): string[] {
    if (operation === null) return method === 'HEAD' && text === '' ? [] : ['no such operation']
    const name = `${method} ${operation.path}`
    this.reached.add(name)
    const mayWrite = caller.role !== null && caller.role !== 'viewer'
    const found = mayWrite || method === 'GET' || harmless.includes(name) ? [] : ['it was allowed']
    const declared = operation.answers[String(status)]
    if (declared === undefined) return [...found, `status ${status} is not declared`]
    const [type, media] = Object.entries(declared.content ?? {})[0] ?? []
    if (type === undefined || media === undefined) {
      return text === '' ? found : [...found, 'a body that is not declared']
    }
    if (!String(headers['content-type']).startsWith(type)) found.push(`it is not ${type}`)
    if (type !== 'application/json') return found
    const body: unknown = JSON.parse(text)
    if (caller.tenant !== null && caller.tenant !== '*') {
      this.#harvest(caller.tenant, operation.path.split('/')[3] ?? '', body)
      if (name === 'POST /api/v1/tasks/claim') this.#keepClaims(caller.tenant, body)
    }
    return [...found, ...this.#shapes.problems(media.schema, body).slice(0, 5)]
  }

  #refusal({ method }: Call, { status, headers, text }: Answer): string[] {
    const type = String(headers['content-type'])
    if (!type.startsWith('application/problem+json')) return [`a refusal as ${type}`]
    if (method === 'HEAD') return []
    const body = JSON.parse(text) as Readonly<Record<string, unknown>>
    const found = this.#shapes.problems(problem, body)
    if (body.status !== status) found.push('the status in the body is another one')
    if (!this.#slugs.has(String(body.type))) found.push(`unknown type ${String(body.type)}`)
    if (body.request_id !== headers['x-request-id']) found.push('the request id is another one')
    return found
  }

  #leaks({ caller, url, body, headers }: Call, { text, headers: told }: Answer): string[] {
    const { tenant } = caller
    if (tenant === '*') this.#held.common(told['x-request-id'])
    if (tenant === '*' || url.startsWith(forOperators)) return []
    const asked = [plain(url), body ?? '', ...Object.values(headers)].join('\n')
    const answered = `${text}\n${JSON.stringify(told)}`
    if (tenant !== null) this.#held.sent(tenant, asked)
    const unsaid = tenant === null ? answered : this.#held.unsaid(tenant, answered)
    const found = wordsOfOthers(tenant, unsaid).filter(word => !asked.includes(word))
    if (tenant === null) return found
    return [...found, ...this.#held.foreign(tenant, answered)]
  }

  #keepClaims(tenant: string, body: unknown): void {
    const { tasks } = body as { readonly tasks: readonly { id: string; lease_token: string }[] }
    for (const { id, lease_token } of tasks) {
      this.#held.keep(tenant, 'claims', `${id} ${lease_token}`)
    }
  }

  #harvest(tenant: string, kind: string, body: unknown): void {
    if (typeof body !== 'object' || body === null) return
    for (const [key, value] of Object.entries(body)) {
      if (typeof value === 'object') this.#harvest(tenant, kind, value)
      const name = kindOf(key, kind)
      const isId = typeof value === 'string' || (name === 'workflows' && Number.isInteger(value))
      if (isId && kinds.includes(name)) this.#held.keep(tenant, name, String(value))
    }
  }

  #report({ n, caller, method, url, headers, body }: Call, answer: Answer, found: string[]) {
    const { authorization: _secret, ...shown } = headers
    const cause = this.#causes.get(answer.headers['x-request-id'])
    return [
      `seed ${this.#seed}, request ${n}: ${found.join('; ')}`,
      `  ${caller.name}: ${method} ${cut(url)} ${JSON.stringify(shown)}`,
      `  ${body === null ? 'no body' : cut(body)}`,
      `  → ${answer.status} ${cut(answer.text)}`,
      ...(cause instanceof Error ? [`  ${cause.stack}`.slice(0, SHOWN)] : []),
    ].join('\n')
  }
}

export function wordsOfOthers(tenant: string | null, text: string): string[] {
  const others = tenants.filter(one => one !== tenant)
  return others.flatMap(other => [secretOf(other), other]).filter(word => text.includes(word))
}

function kindOf(key: string, kind: string): string {
  switch (key) {
    case 'id':
      return kind
    case 'name':
      return kind === 'sources' ? kind : ''
    case 'domain':
      return kind === 'source-limits' ? kind : ''
    case 'job_id':
      return 'jobs'
    case 'run_id':
    case 'current_run_id':
      return 'runs'
    case 'execution_id':
      return 'executions'
    case 'next_cursor':
      return 'cursors'
    default:
      return ''
  }
}

function headerProblems({ url }: Call, { headers }: Answer): string[] {
  const isSafe =
    headers['x-content-type-options'] === 'nosniff' &&
    (headers['cache-control'] === 'no-store' || url.startsWith(forOperators))
  const isQuiet = headers['x-powered-by'] === undefined && headers['server'] === undefined
  return isSafe && isQuiet && headers['x-request-id'] !== undefined ? [] : ['headers are missing']
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} in all)` : text
}

function plain(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
