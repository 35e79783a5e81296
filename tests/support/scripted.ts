// Handlers that do as they are told: hang until released, or end as a script says.

import type { Context } from '../../src/engine/context.ts'
import type { Handler } from '../../src/engine/handlers.ts'
import type { AbortReason } from '../../src/core/attempt.ts'

interface Call {
  readonly context: Context
  readonly resolve: (value?: unknown) => void
  readonly reject: (error: Error) => void
  isOver: boolean
}

export interface Gate {
  readonly handler: Handler
  /** Handlers inside, not yet released. */
  readonly inside: readonly Call[]
  /** Why handlers were told to stop, in order. */
  readonly aborts: readonly AbortReason[]
  /** Lets the oldest one inside go; throws when there is none. */
  open(value?: unknown): void
  fail(message?: string): void
  openAll(): void
}

/** A deaf handler hears nothing of being aborted. */
export function gate({ isDeaf = false } = {}): Gate {
  const calls: Call[] = []
  const aborts: AbortReason[] = []
  const inside = () => calls.filter(call => !call.isOver)
  const take = (): Call => {
    const [first] = inside()
    if (!first) throw new Error('no handler is inside the gate')
    first.isOver = true
    return first
  }
  const handler: Handler = context =>
    new Promise((resolve, reject) => {
      const call: Call = { context, resolve, reject, isOver: false }
      calls.push(call)
      context.signal.addEventListener('abort', () => {
        aborts.push((context.signal.reason as { reason: AbortReason }).reason)
        if (isDeaf) return
        call.isOver = true
        reject(context.signal.reason as Error)
      })
    })
  return {
    handler,
    get inside() {
      return inside()
    },
    aborts,
    open: value => take().resolve(value),
    fail: (message = 'failed in the gate') => take().reject(new Error(message)),
    openAll: () => {
      while (inside().length > 0) take().resolve()
    },
  }
}

export type Step = 'ok' | 'fail' | ((context: Context) => unknown)

/** One step per call; the last one is repeated. */
export function script(...steps: Step[]): Handler {
  let calls = 0
  return context => {
    const step = steps[Math.min(calls++, steps.length - 1)]!
    if (step === 'ok') return null
    if (step === 'fail') throw new Error(`failure ${calls}`)
    return step(context)
  }
}

export const ok: Handler = () => null
export const fail: Handler = () => {
  throw new Error('no luck')
}
