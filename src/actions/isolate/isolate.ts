// Runs a handler apart from the node: one that blocks, leaks or crashes takes only itself along.

import type { Json } from '../../core/json.ts'
import type { Instant, Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { CountedLog } from '../../engine/context.ts'
import {
  Defer,
  EndJob,
  LimitExceeded,
  NoRetry,
  OmittedResult,
  RetryAfter,
  Skip,
} from '../../core/run/outcome.ts'
import { Output } from '../command/output.ts'
import type { Usage } from '../usage.ts'
import type { CallFacts, HandlerPlace, Thrown, ToNode } from './messages.ts'
import {
  openProcess,
  openThread,
  type Sandbox,
  type SandboxEnd,
  type SandboxOptions,
} from './sandbox.ts'

/** The side of a run that stays with the node. */
export interface RunLink {
  readonly signal: AbortSignal
  readonly log: CountedLog
  readonly progress: (fraction: number, note?: string) => void
  readonly measure: (name: string, value: number) => void
  readonly heartbeat: (checkpoint?: Json) => Promise<void>
}

export interface IsolatedCall extends CallFacts {
  readonly place: HandlerPlace
  readonly link: RunLink
}

export interface IsolationOptions extends Omit<SandboxOptions, 'memoryMb' | 'cpuMs'> {
  readonly clock: Clock
  /** A process can be ended and measured whatever it does; a thread starts faster. */
  readonly kind: 'process' | 'thread'
  readonly memoryMb?: number | undefined
  readonly cpuSeconds?: number | undefined
  /** Between asking a handler to stop and ending it. Shorter than the engine's own patience. */
  readonly graceMs?: Millis
}

const GRACE_MS: Millis = 700
/** How long a handler that is done may take to go. */
const LEAVE_MS: Millis = 1_000

/** Calls the handler in a process or thread of its own; resolves with what it returned. */
export function runIsolated(call: IsolatedCall, options: IsolationOptions): Promise<unknown> {
  return new IsolatedRun(call, options).run()
}

class IsolatedRun {
  readonly #call: IsolatedCall
  readonly #options: IsolationOptions
  readonly #sandbox: Sandbox
  #settle: ((end: SandboxEnd) => void) | null = null
  /** What the handler came to, once it is over: told when its process or thread has ended. */
  #verdict: (() => unknown) | null = null
  #isMeasured = false
  #stopTimer: (() => void) | null = null

  constructor(call: IsolatedCall, options: IsolationOptions) {
    const { kind, memoryMb = null, cpuSeconds, ...others } = options
    this.#call = call
    this.#options = options
    const open = kind === 'process' ? openProcess : openThread
    this.#sandbox = open(
      { ...others, memoryMb, cpuMs: cpuSeconds === undefined ? null : cpuSeconds * 1_000 },
      { received: message => this.#receive(message), ended: end => this.#settle?.(end) },
    )
    const output = new Output(call.link.log)
    output.listen(this.#sandbox.stdout, 'stdout')
    output.listen(this.#sandbox.stderr, 'stderr')
  }

  async run(): Promise<unknown> {
    const { signal } = this.#call.link
    const onAbort = () => this.#abort(signal)
    try {
      const end = await new Promise<SandboxEnd>(resolve => {
        this.#settle = resolve
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort, { once: true })
      })
      return this.#conclude(end)
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#stopTimer?.()
    }
  }

  #abort(signal: AbortSignal): void {
    this.#sandbox.send({ kind: 'abort', reason: reasonOf(signal) })
    this.#endAfter(this.#options.graceMs ?? GRACE_MS)
  }

  #endAfter(ms: Millis): void {
    this.#stopTimer?.()
    this.#stopTimer = this.#options.clock.after(ms, () => {
      this.#measure(this.#sandbox.usage())
      this.#sandbox.end()
    })
  }

  #conclude(end: SandboxEnd): unknown {
    const { signal } = this.#call.link
    if (this.#verdict !== null) return this.#verdict()
    // It was asked to stop: that is the reason to give.
    if (signal.aborted) throw signal.reason
    if (end.kind === 'gone') {
      throw new Error(`the isolated handler ended without a result: ${end.how}`)
    }
    this.#measure(end.usage)
    throw this.#exceeded(end.limit, end.how)
  }

  #exceeded(limit: 'memory' | 'cpu', how: string): LimitExceeded {
    const { memoryMb, cpuSeconds } = this.#options
    const setting = limit === 'memory' ? `memoryMb is ${memoryMb}` : `cpuSeconds is ${cpuSeconds}`
    return new LimitExceeded(limit, `${limit} limit exceeded: ${how}, ${setting}`)
  }

  #receive(message: ToNode): void {
    const { link } = this.#call
    switch (message.kind) {
      case 'ready': {
        const { place, payload, context, upcoming } = this.#call
        return this.#sandbox.send({ kind: 'start', ...place, payload, context, upcoming })
      }
      case 'log':
        return link.log[message.level](message.message, message.fields ?? undefined)
      case 'left-out':
        return link.log.leaveOut(message.lines)
      case 'progress':
        return link.progress(message.fraction, message.note ?? undefined)
      case 'measure':
        return link.measure(message.name, message.value)
      case 'heartbeat':
        return this.#heartbeat(message.id, message.checkpoint)
      case 'done': {
        const { result, omitted, usage } = message
        return this.#over(usage, () => (omitted === null ? result : new OmittedResult(omitted)))
      }
      case 'threw': {
        const error = errorOf(message.error)
        return this.#over(message.usage, () => {
          throw error
        })
      }
    }
  }

  /** What it left running does not outlive it for long. */
  #over(usage: Usage, verdict: () => unknown): void {
    this.#measure(usage)
    this.#verdict = verdict
    this.#endAfter(LEAVE_MS)
  }

  #heartbeat(id: number, checkpoint: Json | undefined): void {
    const answer = (isHeld: boolean) => this.#sandbox.send({ kind: 'heartbeat-answer', id, isHeld })
    this.#call.link.heartbeat(checkpoint).then(
      () => answer(true),
      () => answer(false),
    )
  }

  /** The first word counts: what is looked up later includes the way out. */
  #measure({ cpuMs, peakMb }: Usage): void {
    if (this.#isMeasured) return
    this.#isMeasured = cpuMs !== null || peakMb !== null
    const { measure } = this.#call.link
    if (cpuMs !== null) measure('cpu_time_ms', cpuMs)
    if (peakMb !== null) measure('memory_peak_mb', peakMb)
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
  if (name === 'EndJob') return new EndJob(message)
  if (name === 'Skip') return new Skip(message)
  if (name === 'RetryAfter' && delayMs !== undefined) return new RetryAfter(delayMs, message)
  if (name === 'Defer' && until !== undefined) return new Defer(until, message, worked)
  return Object.assign(new Error(message), { name })
}
