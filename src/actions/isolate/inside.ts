// The isolated side: calls the handler with a context whose every part speaks to the node.

import type { Json, JsonObject } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import type { CallInfo, Start, Thrown, ToHandler, ToNode, Usage } from './messages.ts'

export interface Line {
  /** Calls back when the message is on its way. */
  send(message: ToNode, sent?: () => void): void
  /** What the handler has used since the meter was made. */
  meter(): () => Usage
  /** Nothing is left to do here. */
  leave(): void
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error'
type Fraction = { readonly fraction: number; readonly note: string | null }

export class Inside {
  readonly #line: Line
  readonly #controller = new AbortController()
  readonly #beats = new Map<number, (isHeld: boolean) => void>()
  #beatId = 0
  #lines = 0
  #nextProgress: Fraction | null = null
  #isSending = false

  constructor(line: Line) {
    this.#line = line
  }

  heard(message: ToHandler): void {
    switch (message.kind) {
      case 'start':
        void this.#run(message)
        return
      case 'abort': {
        const error = new Error(`aborted: ${message.reason}`)
        this.#controller.abort(Object.assign(error, { name: 'AbortError', reason: message.reason }))
        return
      }
      case 'beaten':
        this.#beats.get(message.id)?.(message.isHeld)
        this.#beats.delete(message.id)
    }
  }

  async #run(start: Start): Promise<void> {
    let usage = this.#line.meter()
    const leave = () => this.#line.leave()
    try {
      const module = (await import(start.module)) as Record<string, unknown>
      const handler = module[start.export]
      if (typeof handler !== 'function') {
        throw new Error(`${start.module} exports no function ${start.export}`)
      }
      usage = this.#line.meter()
      const returned: unknown = await handler(start.payload, this.#context(start.info))
      this.#line.send({ kind: 'done', result: jsonOf(returned), usage: usage() }, leave)
    } catch (error) {
      this.#line.send({ kind: 'threw', error: thrownOf(error), usage: usage() }, leave)
    }
  }

  #context(info: CallInfo) {
    const log = (level: LogLevel) => (message: string, fields?: JsonObject) =>
      this.#log(level, message, fields ?? null)
    return {
      signal: this.#controller.signal,
      run: {
        id: info.runId,
        number: info.run,
        attempt: info.attempt,
        scheduledFor: new Date(info.scheduledFor),
        startedAt: new Date(info.startedAt),
      },
      job: { id: info.jobId, name: info.name, tenant: info.tenant },
      log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      progress: (fraction: number, note?: string) =>
        this.#progress({ fraction, note: note ?? null }),
      measure: (name: string, value: number) => this.#line.send({ kind: 'measure', name, value }),
      heartbeat: (checkpoint?: Json) => this.#beat(checkpoint),
      checkpoint: info.checkpoint,
      idempotencyKey: info.runId,
      fence: info.fence,
    }
  }

  /** The node keeps no more than so many; the others need not travel. */
  #log(level: LogLevel, message: string, fields: JsonObject | null): void {
    if (this.#lines++ >= limits.logLinesPerAttempt) return
    const text = message.slice(0, limits.logMessageLength)
    this.#line.send({ kind: 'log', level, message: text, fields })
  }

  /** Only the newest counts: one is on its way at a time, whatever the handler says meanwhile. */
  #progress(given: Fraction): void {
    this.#nextProgress = given
    if (this.#isSending) return
    const { fraction, note } = this.#nextProgress
    this.#nextProgress = null
    this.#isSending = true
    this.#line.send({ kind: 'progress', fraction, note }, () => {
      this.#isSending = false
      if (this.#nextProgress) this.#progress(this.#nextProgress)
    })
  }

  async #beat(checkpoint?: Json): Promise<void> {
    const id = ++this.#beatId
    const isHeld = await new Promise<boolean>(resolve => {
      this.#beats.set(id, resolve)
      const more = checkpoint === undefined ? {} : { checkpoint }
      this.#line.send({ kind: 'beat', id, ...more })
    })
    if (isHeld) return
    this.#controller.signal.throwIfAborted()
    throw new Error('aborted: lease-lost')
  }
}

function jsonOf(returned: unknown): string {
  try {
    return JSON.stringify(returned ?? null) ?? 'null'
  } catch (error) {
    throw new Error('the returned value cannot be written as JSON', { cause: error })
  }
}

function thrownOf(error: unknown): Thrown {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: null }
  const { name, message, stack = null } = error
  const more = error as { delayMs?: unknown; until?: unknown; worked?: unknown }
  return {
    name,
    message,
    stack,
    ...(typeof more.delayMs === 'number' ? { delayMs: more.delayMs } : {}),
    ...(typeof more.until === 'number' ? { until: more.until } : {}),
    ...(typeof more.worked === 'boolean' ? { worked: more.worked } : {}),
  }
}
