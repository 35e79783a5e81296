// The isolated side: calls the handler with a context whose every part speaks to the node.

import { storedCheckpoint } from '../../core/checkpoint.ts'
import { toJson } from '../../core/json/json-copy.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import { errorInfo, textOf, type Problem } from '../../core/errors.ts'
import { whyOmitted } from '../../core/run/outcome.ts'
import type { Usage } from '../usage.ts'
import type { HandlerPlace, Start, Thrown, ToHandler, ToNode } from './messages.ts'

export interface Link {
  /** Calls back when the message is on its way. */
  send(message: ToNode, sent?: () => void): void
  usage(): Usage
  /** Resolves when limits hold, even for a handler that never lets go of its thread. */
  readonly armed: Promise<void>
  /** Nothing is left to do here. */
  leave(): void
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error'
type LogMessage = Extract<ToNode, { readonly kind: 'log' }>
type Fraction = { readonly fraction: number; readonly note: string | null }
type AnyFunction = (...args: readonly unknown[]) => unknown

export class HandlerHost {
  readonly #link: Link
  readonly #controller = new AbortController()
  readonly #measured = new Set<string>()
  readonly #heartbeats = new Map<number, (isHeld: boolean) => void>()
  #heartbeatId = 0
  /** Lines on their way, and the last of those that wait until there are fewer. */
  #sending = 0
  #waiting: LogMessage[] = []
  #leftOut = 0
  #nextProgress: Fraction | null = null
  #isSending = false

  constructor(link: Link) {
    this.#link = link
  }

  receive(message: ToHandler): void {
    switch (message.kind) {
      case 'start':
        void this.#run(message)
        return
      case 'abort': {
        const error = new Error(`aborted: ${message.reason}`)
        this.#controller.abort(Object.assign(error, { name: 'AbortError', reason: message.reason }))
        return
      }
      case 'heartbeat-answer':
        this.#heartbeats.get(message.id)?.(message.isHeld)
        this.#heartbeats.delete(message.id)
    }
  }

  async #run(start: Start): Promise<void> {
    const leave = () => this.#link.leave()
    try {
      await this.#link.armed
      const handler = await load(start)
      const context = this.#context(start)
      const returned: unknown =
        start.takes === 'payload' ? await handler(start.payload, context) : await handler(context)
      const { result, omitted } = resultOf(returned)
      this.#sendLines()
      this.#link.send({ kind: 'done', result, omitted, usage: this.#link.usage() }, leave)
    } catch (error) {
      this.#sendLines()
      this.#link.send({ kind: 'threw', error: thrownOf(error), usage: this.#link.usage() }, leave)
    }
  }

  #context({ context, payload, takes, upcoming }: Start) {
    const log = (level: LogLevel) => (message: string, fields?: JsonObject) =>
      this.#log(level, message, fields ?? null)
    const job = context['job'] as object
    return {
      ...context,
      ...(takes === 'context' ? { payload } : {}),
      job: upcoming === null ? job : { ...job, next: (n: number) => upcoming.slice(0, n) },
      signal: this.#controller.signal,
      log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      progress: (fraction: number, note?: string | null) =>
        this.#progress({ fraction, note: noteOf(note) }),
      measure: (name: string, value: number) => this.#measure(name, value),
      heartbeat: (checkpoint?: unknown) => this.#heartbeat(checkpoint),
    }
  }

  /** A handler that logs faster than its lines travel keeps the newest: the node keeps no more either. */
  #log(level: LogLevel, message: string, fields: JsonObject | null): void {
    const text = textOf(message).slice(0, limits.logMessageLength)
    this.#waiting.push({ kind: 'log', level, message: text, fields: fieldsOf(fields) })
    if (this.#sending < limits.logLinesPerAttempt) this.#sendLines()
    else if (this.#waiting.length > 2 * limits.logTailLines) {
      const between = this.#waiting.length - limits.logTailLines
      this.#leftOut += between
      this.#waiting = this.#waiting.slice(between)
    }
  }

  #sendLines(): void {
    if (this.#leftOut > 0) this.#link.send({ kind: 'left-out', lines: this.#leftOut })
    this.#leftOut = 0
    const lines = this.#waiting
    this.#waiting = []
    this.#sending += lines.length
    for (const line of lines) this.#link.send(line, () => this.#sent())
  }

  #sent(): void {
    this.#sending--
    if (this.#waiting.length > 0 && this.#sending < limits.logLinesPerAttempt) this.#sendLines()
  }

  /** One more than are kept: the node says in the log that there were too many. */
  #measure(name: string, value: number): void {
    if (this.#measured.size <= limits.measuresMax) this.#measured.add(name)
    if (this.#measured.has(name)) this.#link.send({ kind: 'measure', name, value })
  }

  /** Only the newest counts: one is on its way at a time, whatever the handler says meanwhile. */
  #progress(given: Fraction): void {
    this.#nextProgress = given
    if (this.#isSending) return
    const { fraction, note } = this.#nextProgress
    this.#nextProgress = null
    this.#isSending = true
    this.#link.send({ kind: 'progress', fraction, note }, () => {
      this.#isSending = false
      if (this.#nextProgress) this.#progress(this.#nextProgress)
    })
  }

  async #heartbeat(given?: unknown): Promise<void> {
    const checkpoint = given === undefined ? {} : { checkpoint: storedCheckpoint(given) }
    const id = ++this.#heartbeatId
    const isHeld = await new Promise<boolean>(resolve => {
      this.#heartbeats.set(id, resolve)
      this.#link.send({ kind: 'heartbeat', id, ...checkpoint })
    })
    if (isHeld) return
    this.#controller.signal.throwIfAborted()
    throw new Error('aborted: lease-lost')
  }
}

async function load({ module, path }: HandlerPlace): Promise<AnyFunction> {
  let found = (await import(module)) as unknown
  for (const name of path) found = (found as Record<string, unknown> | null | undefined)?.[name]
  if (typeof found === 'function') return found as AnyFunction
  throw new Error(`${module} exports no function ${path.join('.')}`)
}

/** A value that cannot be stored is not sent to the node, however large it is; the reason is sent instead. */
function resultOf(returned: unknown): { result: Json; omitted: string | null } {
  if (returned === undefined || returned === null) return { result: null, omitted: null }
  const problems: Problem[] = []
  const result = toJson(returned, 'result', problems, 'null')
  const omitted = whyOmitted(result, problems)
  return { result: omitted === null ? result : null, omitted }
}

function noteOf(note: string | null | undefined): string | null {
  return note === null || note === undefined ? null : textOf(note).slice(0, limits.noteLength)
}

/** What cannot travel must not make a line fail. */
function fieldsOf(fields: JsonObject | null): JsonObject | null {
  if (fields === null) return null
  const problems: Problem[] = []
  const json = toJson(fields, 'fields', problems, 'null')
  if (problems.length > 0) return { fields_left_out: 'they are no JSON' }
  const { length } = JSON.stringify(json)
  return length <= limits.logFieldsBytes
    ? (json as JsonObject)
    : { fields_left_out: `they have ${length} characters` }
}

function thrownOf(error: unknown): Thrown {
  // Bounded here: nothing that a node would cut travels to it.
  const info = errorInfo(error)
  if (!(error instanceof Error)) return info
  const more = error as { delayMs?: unknown; until?: unknown; worked?: unknown }
  return {
    ...info,
    ...(typeof more.delayMs === 'number' ? { delayMs: more.delayMs } : {}),
    ...(typeof more.until === 'number' ? { until: more.until } : {}),
    ...(typeof more.worked === 'boolean' ? { worked: more.worked } : {}),
  }
}
