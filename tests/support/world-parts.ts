// What a world is made of: a clock that waits for everything, a store whose calls are waited for,
// and the two recorders, of handler calls and of events.

import type { Instant, Millis } from '../../src/core/time.ts'
import type { Clock } from '../../src/runtime/clock.ts'
import type { Context } from '../../src/engine/context.ts'
import type { EngineEvents, EventName, Events } from '../../src/runtime/events.ts'
import type { Store } from '../../src/store/port.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

export type Heard = <N extends EventName>(name: N) => EngineEvents[N][]

export interface Witness {
  readonly node: string
  readonly job: string
  readonly at: Instant
  readonly occurrence: Instant
  readonly run: number
  readonly attempt: number
  readonly fence: number
  readonly origin: Context['origin']
  readonly missed: number
}

/** '1h30m', '250ms', '2d' → milliseconds. */
export function span(text: string | Millis): Millis {
  if (typeof text === 'number') return text
  const sizes: Record<string, Millis> = { ms: 1, s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 }
  let ms = 0
  const rest = text.replace(/(\d+)(ms|s|m|h|d|w)/g, (_, count: string, unit: string) => {
    ms += Number(count) * sizes[unit]!
    return ''
  })
  if (rest !== '') throw new Error(`not a span of time: ${text}`)
  return ms
}

/** '2026-01-05T12:00Z' → the moment; a text without a zone is refused. */
export function moment(text: string | Instant): Instant {
  if (typeof text === 'number') return text
  const at = /(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) throw new Error(`not a moment: ${text}`)
  return at
}

/** Work handed on by a callback is done too before time goes on, however many steps it takes. */
export class WorldClock extends VirtualClock {
  #asked = 0

  override soon(callback: () => void): void {
    this.#asked++
    super.soon(callback)
  }

  override async settle(): Promise<void> {
    let before: number
    do {
      before = this.#asked
      await super.settle()
      await super.settle()
    } while (before !== this.#asked)
  }
}

export type SteppingClock = Clock & { stepMs: Millis }

/** The virtual clock with a step of the system's clock on top; timers are not moved by it. */
export function stepping(base: VirtualClock, stepMs: Millis = 0): SteppingClock {
  return {
    stepMs,
    now() {
      return base.now() + this.stepMs
    },
    monotonic: () => base.monotonic(),
    after: (ms, callback) => base.after(ms, callback),
    soon: callback => base.soon(callback),
  }
}

/** Time goes on only when every call to the store, or whatever it is, has come back. */
export function tracked<T extends object = Store>(store: T, clock: VirtualClock): T {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const returned: unknown = Reflect.apply(member, target, args)
        return returned instanceof Promise ? clock.track(returned) : returned
      }
    },
  })
}

export function witness(node: string, context: Context, at: Instant): Witness {
  const { job, run, attempt, fence, origin, missed } = context
  const occurrence = context.scheduledFor.getTime()
  return { node, job: job.id, at, occurrence, run, attempt, fence, origin, missed }
}

export function recorder(events: Events): Heard {
  const heard = new Map<EventName, unknown[]>()
  const names: EventName[] = [
    'settled',
    'leaseLost',
    'stillRunning',
    'reaped',
    'resumed',
    'pruned',
    'stateChanged',
    'error',
    'recovered',
    'clockSetBack',
    'stray',
  ]
  for (const name of names) {
    const list: unknown[] = []
    heard.set(name, list)
    events.on(name, event => list.push(event))
  }
  return <N extends EventName>(name: N) => (heard.get(name) ?? []) as EngineEvents[N][]
}
