// One run of a workflow: steps as soon as what they need is over, several at once, each kept as it
// ends. A step that fails stops the others and fails the run in its name.

import { errorInfo } from '../core/errors.ts'
import { jsonBytes, type Json, type JsonObject } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Context } from '../engine/context.ts'
import { abortError } from '../engine/active-attempt.ts'
import { NoRetry } from '../core/run/outcome.ts'
import * as details from './detail.ts'
import type { StepState, StepStatus } from './detail.ts'
import { filled } from './references.ts'
import { isWorkflowSchedule } from './schedule.ts'
import { endOfThrown, failureOf, messageOf, performStep } from './step.ts'
import type { StepEnd, StepParts } from './step.ts'
import { workflowLimits, type Entry, type Step, type Workflow } from './workflow.ts'

export interface RunParts extends StepParts {
  readonly clock: Clock
  /** How long steps that were told to stop may take before the run goes on without them. */
  readonly stopMs?: Millis
}

export interface RunInput {
  readonly workflow: Workflow
  readonly entry: Entry
  /** Made anew for each series of attempts, at this moment. */
  readonly event: (at: Instant) => JsonObject
  readonly context: Context
}

const STOP_MS: Millis = 5_000
const ERROR_MAX = 500

export class WorkflowRun {
  readonly #input: RunInput
  readonly #parts: RunParts
  readonly #states = new Map<string, StepState>()
  readonly #running = new Map<string, Promise<{ step: Step; end: StepEnd }>>()
  readonly #controller = new AbortController()
  readonly #series: string
  readonly #at: Instant
  readonly #event: JsonObject

  constructor(input: RunInput, parts: RunParts) {
    const { workflow, context } = input
    this.#input = input
    this.#parts = parts
    this.#series = details.seriesOf(context)
    const saved = details.savedIn(context.checkpoint, this.#series, workflow)
    this.#at = saved?.at ?? parts.clock.now()
    this.#event = input.event(this.#at)
    for (const { id } of workflow.steps) {
      this.#states.set(id, saved?.steps.get(id) ?? details.waiting(id))
    }
    const done = [...this.#states.values()].filter(({ status }) => details.isOver(status))
    if (saved) context.log.info(`resumed after ${done.length} of ${workflow.steps.length} steps`)
  }

  /** Resolves to the outputs by step; rejects when any step failed or the run was told to stop. */
  async perform(): Promise<Json> {
    const { signal } = this.#input.context
    const stop = () => this.#stopAll(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await this.#all()
    } finally {
      signal.removeEventListener('abort', stop)
    }
    return this.#outputs()
  }

  async #all(): Promise<void> {
    for (;;) {
      if (!this.#controller.signal.aborted) this.#startReady()
      if (this.#running.size === 0) break
      const { step, end } = await Promise.race(this.#running.values())
      this.#running.delete(step.id)
      await this.#ended(step, end)
    }
    // Told to stop from outside: unless everything was done by then, the run was not.
    const isDone = [...this.#states.values()].every(({ status }) => details.isOver(status))
    if (!isDone) throw this.#controller.signal.reason
  }

  #startReady(): void {
    for (const step of this.#input.workflow.steps) {
      if (this.#running.size >= workflowLimits.stepsAtOnce) return
      if (this.#states.get(step.id)!.status !== 'queued') continue
      if (step.needs.every(need => details.isOver(this.#states.get(need)!.status))) {
        this.#start(step)
      }
    }
  }

  #start(step: Step): void {
    const { context } = this.#input
    const startedAt = this.#parts.clock.now()
    this.#set(step.id, { status: 'running', startedAt, attempt: context.attempt })
    const work = this.#work(step).then(
      (output): StepEnd => ({ kind: 'completed', output }),
      (thrown: unknown) => endOfThrown(thrown),
    )
    this.#running.set(
      step.id,
      work.then(end => ({ step, end })),
    )
  }

  async #work(step: Step): Promise<Json> {
    const payload = this.#payloadOf(step)
    const context = this.#input.context.part({
      name: step.id,
      payload,
      signal: this.#controller.signal,
      checkpoint: this.#states.get(step.id)!.checkpoint,
      fields: { step: step.id },
      keep: async checkpoint => {
        this.#keep(step.id, { checkpoint })
        await this.#input.context.heartbeat(this.#checkpoint())
      },
      progressed: fraction => this.#set(step.id, { fraction }),
    })
    return performStep(step, context, this.#parts)
  }

  #payloadOf({ input }: Step): Json {
    if (input === undefined) return this.#event.payload ?? null
    return filled(input, { event: this.#event, steps: this.#outputs() })
  }

  async #ended(step: Step, end: StepEnd): Promise<void> {
    const finishedAt = this.#parts.clock.now()
    const { log } = this.#input.context
    const took = finishedAt - this.#states.get(step.id)!.startedAt!
    switch (end.kind) {
      case 'completed':
      case 'skipped': {
        const output = end.kind === 'completed' ? end.output : null
        const error = end.kind === 'skipped' ? end.reason : null
        const over = { output, finishedAt, status: end.kind, error, checkpoint: undefined } as const
        try {
          this.#keep(step.id, over)
        } catch (thrown) {
          return this.#fail(step, thrown)
        }
        log.info(`step ${step.id} ${end.kind}`, { step: step.id, duration_ms: took })
        return this.#save()
      }
      case 'failed':
        // What a step says after it was told to stop is no news.
        if (this.#controller.signal.aborted) return
        return this.#fail(step, end.thrown)
    }
  }

  /** Stops the others, waits a little for them, and fails the run in the step's name. */
  async #fail(step: Step, thrown: unknown): Promise<never> {
    const { log } = this.#input.context
    this.#end(step.id, 'failed', messageOf(thrown))
    log.error(`step ${step.id} failed: ${messageOf(thrown)}`, { step: step.id })
    this.#stopAll(abortError('cancelled'))
    await this.#stopped()
    for (const id of this.#running.keys()) log.warn(`step ${id} did not stop`, { step: id })
    throw failureOf(step, thrown, isWorkflowSchedule(this.#input.context.job))
  }

  #stopAll(reason: unknown): void {
    this.#controller.abort(reason)
    for (const { id, status } of this.#states.values()) {
      if (status === 'running' || status === 'queued') {
        this.#end(id, 'cancelled', status === 'running' ? messageOf(reason) : null)
      }
    }
  }

  async #stopped(): Promise<void> {
    const { clock, stopMs = STOP_MS } = this.#parts
    const all = [...this.#running].map(async ([id, work]) => {
      await work
      this.#running.delete(id)
    })
    await new Promise<void>(resolve => {
      const leave = clock.after(stopMs, resolve)
      void Promise.all(all).finally(() => {
        leave()
        resolve()
      })
    })
  }

  #end(id: string, status: StepStatus, error: string | null): void {
    const finishedAt = this.#states.get(id)!.startedAt === null ? null : this.#parts.clock.now()
    this.#set(id, { status, error: error?.slice(0, ERROR_MAX) ?? null, finishedAt })
  }

  #set(id: string, change: Partial<StepState>): void {
    const { context, workflow, entry } = this.#input
    this.#states.set(id, { ...this.#states.get(id)!, ...change })
    const states = [...this.#states.values()]
    context.measure(details.DETAIL, details.detailOf(workflow, entry, states))
    const running = states.filter(({ status }) => status === 'running')
    const done = states.reduce(
      (sum, one) => sum + (details.isOver(one.status) ? 1 : one.fraction),
      0,
    )
    context.progress(done / states.length, running.map(one => one.id).join(', ') || null)
  }

  /** All that is kept travels in one checkpoint, which has a limit. */
  #keep(id: string, change: Partial<StepState>): void {
    const before = this.#states.get(id)!
    this.#set(id, change)
    const bytes = jsonBytes(this.#checkpoint()) ?? Infinity
    if (bytes <= limits.checkpointBytes) return
    this.#set(id, { ...before })
    throw new NoRetry(
      `what the steps of a run leave must be at most ${limits.checkpointBytes} bytes together`,
    )
  }

  #checkpoint(): JsonObject {
    const { workflow, entry } = this.#input
    const states = [...this.#states.values()]
    const detail = details.detailOf(workflow, entry, states)
    return details.checkpointOf(this.#series, this.#at, detail, states)
  }

  /** After the last step the outcome itself is written; until then each end is kept. */
  async #save(): Promise<void> {
    const isLast = [...this.#states.values()].every(({ status }) => details.isOver(status))
    if (isLast) return
    const { context } = this.#input
    try {
      await context.heartbeat(this.#checkpoint())
    } catch (error) {
      // A lost lease aborts the run by its signal; a store that fails may be back at the next step.
      if (context.signal.aborted) return
      context.log.warn(`the checkpoint was not stored: ${errorInfo(error).message}`)
    }
  }

  #outputs(): Record<string, Json> {
    const over = [...this.#states.values()].filter(({ status }) => details.isOver(status))
    return Object.fromEntries(over.map(({ id, output }) => [id, output]))
  }
}
