// Jobs and their executions.

import { each } from './pages.ts'
import type { CallOptions, Transport } from './transport.ts'
import type * as t from './types.ts'

const root = '/api/v1/jobs'
/** Callers see jobs of either form alike. */
const inBoth = { form: 'both' }
const at = (id: string, rest = '') => `${root}/${encodeURIComponent(id)}${rest}`

export interface Page {
  readonly limit?: number
  readonly offset?: number
  readonly cursor?: string
}

export class Jobs {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(query: t.JobQuery = {}, options: CallOptions = {}): Promise<t.JobList> {
    return this.#transport.json({
      method: 'GET',
      path: root,
      query: { ...inBoth, ...query },
      ...options,
    })
  }

  /** Every job that fits, page after page. */
  each(query: t.JobQuery = {}, options: CallOptions = {}): AsyncGenerator<t.Job, void> {
    return each(async cursor => {
      const page = await this.list({ limit: 250, ...query, cursor }, options)
      return { items: page.jobs, next: page.next_cursor }
    })
  }

  get(id: string, options: CallOptions = {}): Promise<t.Job> {
    return this.#transport.json({ method: 'GET', path: at(id), query: inBoth, ...options })
  }

  create(body: t.JobBody, options: CallOptions = {}): Promise<t.Job> {
    return this.#transport.json({ method: 'POST', path: root, query: inBoth, body, ...options })
  }

  /** What is given changes, everything else stays. */
  edit(id: string, body: t.JobBody, options: CallOptions = {}): Promise<t.Job> {
    return this.#transport.json({ method: 'PATCH', path: at(id), query: inBoth, body, ...options })
  }

  remove(id: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.json({ method: 'DELETE', path: at(id), ...options })
  }

  pause(id: string, body: t.PauseBody = {}, options: CallOptions = {}): Promise<t.Job> {
    return this.#job(id, 'pause', body, options)
  }

  resume(id: string, options: CallOptions = {}): Promise<t.Job> {
    return this.#job(id, 'resume', {}, options)
  }

  cancel(id: string, body: t.CancelBody = {}, options: CallOptions = {}): Promise<t.Job> {
    return this.#job(id, 'cancel', body, options)
  }

  /** Starts a failed job over, at once. */
  retry(id: string, options: CallOptions = {}): Promise<t.Job> {
    return this.#job(id, 'retry', {}, options)
  }

  /** Once more beside the schedule, which does not move. */
  run(id: string, body: t.RunBody = {}, options: CallOptions = {}): Promise<t.RunAsked> {
    return this.#post(id, 'run', body, options)
  }

  /** Past firings of the schedule, one run each. */
  backfill(id: string, body: t.BackfillBody, options: CallOptions = {}): Promise<t.Backfill> {
    return this.#post(id, 'backfill', body, options)
  }

  /** Takes the lock of a holder that is gone. */
  unlock(id: string, options: CallOptions = {}): Promise<t.Job> {
    return this.#job(id, 'unlock', {}, options)
  }

  /** Cron times that a plain interval says as well become intervals. */
  fromCron(
    body: { readonly apply?: boolean } = {},
    options: CallOptions = {},
  ): Promise<t.FromCron> {
    return this.#transport.json({ method: 'POST', path: `${root}/from-cron`, body, ...options })
  }

  executions(id: string, query: Page = {}, options: CallOptions = {}): Promise<t.ExecutionList> {
    return this.#read(id, 'executions', query, options)
  }

  stats(id: string, options: CallOptions = {}): Promise<t.JobStats> {
    return this.#read(id, 'stats', {}, options)
  }

  heartbeat(id: string, slots = 60, options: CallOptions = {}): Promise<t.Heartbeat> {
    return this.#read(id, 'heartbeat', { slots }, options)
  }

  lateness(id: string, options: CallOptions = {}): Promise<t.Lateness> {
    return this.#read(id, 'lateness', {}, options)
  }

  why(id: string, options: CallOptions = {}): Promise<t.Why> {
    return this.#read(id, 'why', {}, options)
  }

  upcoming(id: string, limit = 10, options: CallOptions = {}): Promise<t.JobUpcoming> {
    return this.#read(id, 'upcoming', { limit }, options)
  }

  #job(id: string, verb: string, body: unknown, options: CallOptions): Promise<t.Job> {
    const path = at(id, `/${verb}`)
    return this.#transport.json({ method: 'POST', path, query: inBoth, body, ...options })
  }

  #post<T>(id: string, verb: string, body: unknown, options: CallOptions): Promise<T> {
    return this.#transport.json({ method: 'POST', path: at(id, `/${verb}`), body, ...options })
  }

  #read<T>(id: string, what: string, query: object, options: CallOptions): Promise<T> {
    return this.#transport.json({ method: 'GET', path: at(id, `/${what}`), query, ...options })
  }
}

export class Executions {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get(id: string, options: CallOptions = {}): Promise<t.Execution> {
    const path = `/api/v1/executions/${encodeURIComponent(id)}`
    return this.#transport.json({ method: 'GET', path, ...options })
  }

  log(id: string, query: Page = {}, options: CallOptions = {}): Promise<t.ExecutionLog> {
    const path = `/api/v1/executions/${encodeURIComponent(id)}/log`
    return this.#transport.json({ method: 'GET', path, query, ...options })
  }
}
