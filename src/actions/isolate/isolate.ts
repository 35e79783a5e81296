// Runs a handler apart from the node: one that blocks, leaks or crashes takes only itself along.

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Json } from '../../core/json.ts'
import type { Instant, Millis } from '../../core/time.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Context } from '../../engine/context.ts'
import type { Handler } from '../../engine/handlers.ts'
import { Defer, NoRetry, RetryAfter, Skip } from '../../engine/verdicts.ts'
import { Output } from '../command/output.ts'
import type { Thrown, ToNode, Usage } from './messages.ts'
import { openProcess, openThread, type Vessel, type VesselOptions } from './vessel.ts'

export interface IsolateTarget {
  /** A path, taken from the working folder, or a file URL. */
  readonly module: string
  /** The exported function, called with payload and context. Default `default`. */
  readonly export?: string
  /** A process can be ended and measured whatever it does; a thread starts faster. */
  readonly in?: 'process' | 'thread'
  /** The largest heap. Default: Node's own. */
  readonly memoryMb?: number
}

export interface IsolateOptions extends Omit<VesselOptions, 'memoryMb'> {
  readonly clock: Clock
  /** Between asking a handler to stop and ending it. Shorter than the engine's own patience. */
  readonly graceMs?: Millis
}

const GRACE_MS: Millis = 700
/** How long a handler that is done may take to go. */
const LEAVE_MS: Millis = 1_000

/** A handler for the engine that lives in a module of its own. */
export function isolated(target: IsolateTarget, options: IsolateOptions): Handler {
  return context => new Isolated(target, options, context).run()
}

class Isolated {
  readonly #target: IsolateTarget
  readonly #options: IsolateOptions
  readonly #context: Context
  readonly #vessel: Vessel
  #settle: { done: (result: Json) => void; failed: (error: unknown) => void } | null = null
  #stopGrace: (() => void) | null = null

  constructor(target: IsolateTarget, options: IsolateOptions, context: Context) {
    this.#target = target
    this.#options = options
    this.#context = context
    const open = (target.in ?? 'process') === 'process' ? openProcess : openThread
    this.#vessel = open(
      { ...options, memoryMb: target.memoryMb ?? null },
      { heard: message => this.#heard(message), ended: how => this.#ended(how) },
    )
    const output = new Output(context.log)
    output.listen(this.#vessel.stdout, 'stdout')
    output.listen(this.#vessel.stderr, 'stderr')
  }

  run(): Promise<Json> {
    const { signal } = this.#context
    const onAbort = () => this.#abort()
    return new Promise<Json>((done, failed) => {
      this.#settle = { done, failed }
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
    }).finally(() => {
      signal.removeEventListener('abort', onAbort)
      this.#stopGrace?.()
      // What it left running does not outlive it.
      this.#options.clock.after(LEAVE_MS, () => this.#vessel.end())
    })
  }

  #abort(): void {
    this.#vessel.send({ kind: 'abort', reason: reasonOf(this.#context.signal) })
    const { clock, graceMs = GRACE_MS } = this.#options
    this.#stopGrace = clock.after(graceMs, () => this.#vessel.end())
  }

  /** Without a word of its own; when it was asked to stop, that is the reason to give. */
  #ended(how: string): void {
    const { signal } = this.#context
    const error = new Error(`the isolated handler ended without a result: ${how}`)
    this.#settle?.failed(signal.aborted ? signal.reason : error)
  }

  #heard(message: ToNode): void {
    const context = this.#context
    switch (message.kind) {
      case 'ready':
        return this.#start()
      case 'log':
        return context.log[message.level](message.message, message.fields ?? undefined)
      case 'progress':
        return context.progress(message.fraction, message.note)
      case 'measure':
        return context.measure(message.name, message.value)
      case 'beat':
        return this.#beat(message.id, message.checkpoint)
      case 'done':
        this.#measured(message.usage)
        return this.#settle?.done(JSON.parse(message.result) as Json)
      case 'threw':
        this.#measured(message.usage)
        return this.#settle?.failed(errorOf(message.error))
    }
  }

  #start(): void {
    const { job, runId, run, attempt, scheduledFor, startedAt, fence, checkpoint } = this.#context
    const { module, export: name = 'default' } = this.#target
    this.#vessel.send({
      kind: 'start',
      module: module.startsWith('file:') ? module : pathToFileURL(resolve(module)).href,
      export: name,
      payload: this.#context.payload,
      info: {
        jobId: job.id,
        name: job.spec.name,
        tenant: job.spec.tenant,
        runId,
        run,
        attempt,
        scheduledFor: scheduledFor.getTime(),
        startedAt: startedAt.getTime(),
        fence,
        ...(checkpoint === undefined ? {} : { checkpoint }),
      },
    })
  }

  #beat(id: number, checkpoint: Json | undefined): void {
    this.#context.heartbeat(checkpoint).then(
      () => this.#vessel.send({ kind: 'beaten', id, isHeld: true }),
      () => this.#vessel.send({ kind: 'beaten', id, isHeld: false }),
    )
  }

  #measured({ cpuMs, peakMb }: Usage): void {
    if (cpuMs !== null) this.#context.measure('cpu_time_ms', cpuMs)
    if (peakMb !== null) this.#context.measure('memory_peak_mb', peakMb)
  }
}

function reasonOf({ reason }: AbortSignal): string {
  const given: unknown = typeof reason === 'object' && reason !== null ? reason : {}
  return 'reason' in (given as object) ? String((given as { reason: unknown }).reason) : 'cancelled'
}

/** As if it had been thrown here; the engine tells its kinds apart by class. */
function errorOf({ name, message, stack, delayMs, until, worked }: Thrown): Error {
  const error = made({ name, message, delayMs, until, worked })
  if (stack !== null) error.stack = stack
  return error
}

interface Made {
  readonly name: string
  readonly message: string
  readonly delayMs: Millis | undefined
  readonly until: Instant | undefined
  readonly worked: boolean | undefined
}

function made({ name, message, delayMs, until, worked }: Made): Error {
  if (name === 'NoRetry') return new NoRetry(message)
  if (name === 'Skip') return new Skip(message)
  if (name === 'RetryAfter' && delayMs !== undefined) return new RetryAfter(delayMs, message)
  if (name === 'Defer' && until !== undefined) return new Defer(until, message, worked)
  return Object.assign(new Error(message), { name })
}
