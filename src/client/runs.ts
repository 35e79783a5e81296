// Runs: what became of every occurrence, their logs, and waiting for one to end.

import { wait } from './ambient.ts'
import { TimeoutError } from './error.ts'
import { each } from './pages.ts'
import type { CallOptions, Transport } from './transport.ts'
import type * as t from './types.ts'

const root = '/api/v1/runs'
const at = (id: string, rest = '') => `${root}/${encodeURIComponent(id)}${rest}`

/** Between two looks at a run that is waited for; it grows up to the second. */
const LOOK_MS = 200
const LOOK_MAX_MS = 2_000
const FOLLOW_SECONDS = 15
const over: readonly t.Run['status'][] = ['completed', 'failed', 'cancelled', 'skipped']

export type LogLine = t.RunLog['lines'][number]

export class Runs {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  list(query: t.RunQuery = {}, options: CallOptions = {}): Promise<t.RunList> {
    return this.#transport.json({ method: 'GET', path: root, query, ...options })
  }

  each(query: t.RunQuery = {}, options: CallOptions = {}): AsyncGenerator<t.Run, void> {
    return each(async cursor => {
      const page = await this.list({ limit: 250, ...query, cursor }, options)
      return { items: page.runs, next: page.next_cursor }
    })
  }

  get(id: string, options: CallOptions = {}): Promise<t.RunDetail> {
    return this.#transport.json({ method: 'GET', path: at(id), ...options })
  }

  log(id: string, query: t.RunLogQuery = {}, options: CallOptions = {}): Promise<t.RunLog> {
    return this.#transport.json({ method: 'GET', path: at(id, '/log'), query, ...options })
  }

  /** Every line of an attempt; with `follow` those to come, until the attempt is over. */
  lines(id: string, which: LinesOf = {}, options: CallOptions = {}): AsyncGenerator<LogLine, void> {
    return linesOf(this, id, which, options)
  }

  /** Resolves when the run is over, however it ended. */
  wait(id: string, options: WaitOptions = {}): Promise<t.RunDetail> {
    return waitFor(this, id, options)
  }

  cancel(id: string, body: t.CancelBody = {}, options: CallOptions = {}): Promise<t.RunCancelled> {
    return this.#post(id, 'cancel', body, options)
  }

  /** A new run of the same occurrence. */
  retry(id: string, options: CallOptions = {}): Promise<t.RunAgain> {
    return this.#post(id, 'retry', {}, options)
  }

  /** A new run of its job with this payload. */
  replay(id: string, payload: unknown, options: CallOptions = {}): Promise<t.RunAgain> {
    return this.#post(id, 'replay', { payload }, options)
  }

  #post<T>(id: string, verb: string, body: unknown, options: CallOptions): Promise<T> {
    return this.#transport.json({ method: 'POST', path: at(id, `/${verb}`), body, ...options })
  }
}

export interface LinesOf {
  readonly follow?: boolean
  readonly attempt?: number
}

// oxlint-disable-next-line max-params -- those of the method, and where it reads
export async function* linesOf(
  runs: Pick<Runs, 'log'>,
  id: string,
  { follow = false, attempt }: LinesOf = {},
  options: CallOptions = {},
): AsyncGenerator<LogLine, void> {
  let offset = 0
  for (;;) {
    const query = { offset, attempt, follow: follow ? FOLLOW_SECONDS : 0 }
    const page = await runs.log(id, query, options)
    yield* page.lines
    offset = page.next_offset
    if (page.is_over || (!follow && page.lines.length < page.limit)) return
  }
}

export type WaitOptions = CallOptions & { readonly waitMs?: number }

export async function waitFor(
  runs: Pick<Runs, 'get'>,
  id: string,
  { waitMs, ...call }: WaitOptions = {},
): Promise<t.RunDetail> {
  let waited = 0
  for (let pause = LOOK_MS; ; pause = Math.min(LOOK_MAX_MS, pause * 1.5)) {
    const run = await runs.get(id, call)
    if (over.includes(run.status)) return run
    if (waitMs !== undefined && waited >= waitMs) {
      throw new TimeoutError(`run ${id} is still ${run.status} after ${waitMs} ms`)
    }
    await wait(pause, call.signal)
    call.signal?.throwIfAborted()
    waited += pause
  }
}
