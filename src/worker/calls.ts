// The five requests of the worker protocol, and what their answers mean for the one who asks.

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json }

/** A task as the service gives it. */
export interface Task {
  readonly id: string
  readonly execution_id: string
  readonly lease_token: string
  readonly fence: number
  readonly lease_until: string
  readonly timeout_at: string | null
  readonly queue: string
  readonly handler: string
  readonly user_id: string | null
  readonly priority: number
  readonly payload: Json
  readonly attempt: number
  readonly checkpoint: Json
  readonly schedule_id: string | null
  readonly cron: string | null
  readonly scheduled_for: string
}

export interface ClaimRequest {
  readonly worker: string
  readonly queues?: readonly string[]
  readonly handlers?: readonly string[]
  readonly users?: readonly string[]
  readonly steal?: readonly string[]
  readonly limit: number
  readonly wait_seconds: number
  readonly lease_seconds: number
}

/** The service said no: trying the same again does not help. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

/** The service or the way to it is out of order for now. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  readonly retryAfterMs: number | null

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

export interface CallOptions {
  readonly url: string
  readonly token: string | (() => string | Promise<string>)
  readonly fetch: typeof globalThis.fetch
  /** Beyond the time a claim waits, how long any answer may take. */
  readonly timeoutMs: number
}

export class Calls {
  readonly #options: CallOptions

  constructor(options: CallOptions) {
    this.#options = options
  }

  async claim(request: ClaimRequest, signal: AbortSignal): Promise<readonly Task[]> {
    const waitMs = request.wait_seconds * 1_000
    const answer = await this.#post('/api/v1/tasks/claim', request, { signal, waitMs })
    return (answer as { tasks: readonly Task[] }).tasks
  }

  heartbeat(task: Task, more: object): Promise<unknown> {
    return this.#tell(task, 'heartbeat', more)
  }

  complete(task: Task, result: unknown): Promise<unknown> {
    return this.#tell(task, 'complete', resultFields(result))
  }

  fail(task: Task, failure: object): Promise<unknown> {
    return this.#tell(task, 'fail', failure)
  }

  release(task: Task): Promise<unknown> {
    return this.#tell(task, 'release', {})
  }

  #tell(task: Task, verb: string, more: object): Promise<unknown> {
    const path = `/api/v1/tasks/${encodeURIComponent(task.id)}/${verb}`
    return this.#post(path, { lease_token: task.lease_token, ...more })
  }

  async #post(
    path: string,
    body: object,
    { signal, waitMs = 0 }: { signal?: AbortSignal; waitMs?: number } = {},
  ): Promise<unknown> {
    const { url, token, fetch, timeoutMs } = this.#options
    const limit = AbortSignal.timeout(timeoutMs + waitMs)
    const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${typeof token === 'string' ? token : await token()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    }).catch((error: unknown) => {
      throw new Unavailable(error instanceof Error ? error.message : 'no answer')
    })
    const answer = (await response.json().catch(() => null)) as { detail?: string } | null
    if (response.ok) return answer
    const detail = answer?.detail ?? `answered with ${response.status}`
    if (response.status < 500 && response.status !== 429) throw new Refused(response.status, detail)
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    throw new Unavailable(detail, Number.isFinite(seconds) ? seconds * 1_000 : null)
  }
}

/** As the service keeps them; larger requests may be refused as a whole. */
const RESULT_BYTES_MAX = 64 * 1024

/** The work is done: a result that cannot be sent is left out instead of failing it. */
function resultFields(result: unknown): object {
  try {
    const text = JSON.stringify(result) as string | undefined
    if (text === undefined) return {}
    const bytes = new TextEncoder().encode(text).length
    return bytes <= RESULT_BYTES_MAX ? { result } : { result_omitted: true }
  } catch {
    return { result_omitted: true }
  }
}
