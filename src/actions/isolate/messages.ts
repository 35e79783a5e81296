// What a node and an isolated handler say to each other: values that can be cloned, whichever way
// they travel.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Usage } from '../usage.ts'

/** Where the code of a handler is: what its own process or thread loads. */
export interface HandlerPlace {
  /** A file URL. */
  readonly module: string
  /** The export, and members below it. */
  readonly path: readonly string[]
  /** What it is called with: payload and context, or the context alone with the payload in it. */
  readonly takes: 'payload' | 'context'
}

/** What a handler may know about its run; methods are added where it runs. */
export interface CallFacts {
  readonly payload: unknown
  /** Members of its context. */
  readonly context: Readonly<Record<string, unknown>>
  /** What `job.next()` answers with; null where there is no such method. */
  readonly upcoming: readonly unknown[] | null
}

export interface Start extends HandlerPlace, CallFacts {
  readonly kind: 'start'
}

export type ToHandler =
  | Start
  | { readonly kind: 'abort'; readonly reason: string }
  | { readonly kind: 'heartbeat-answer'; readonly id: number; readonly isHeld: boolean }

export type ToNode =
  /** `thread`: the id by which the system knows it, where it has one. */
  | { readonly kind: 'ready'; readonly thread: number | null }
  | {
      readonly kind: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly message: string
      readonly fields: JsonObject | null
    }
  /** Lines before the next one, too many at once to travel. */
  | { readonly kind: 'left-out'; readonly lines: number }
  | { readonly kind: 'progress'; readonly fraction: number; readonly note: string | null }
  | { readonly kind: 'measure'; readonly name: string; readonly value: number }
  | { readonly kind: 'heartbeat'; readonly id: number; readonly checkpoint?: Json }
  | {
      readonly kind: 'done'
      readonly result: Json
      /** Why the result was left out; null when it was not. */
      readonly omitted: string | null
      readonly usage: Usage
    }
  | { readonly kind: 'threw'; readonly error: Thrown; readonly usage: Usage }

/** Tells what Carillon says from what the handler's own code sends on the same channel. */
export interface Envelope {
  readonly carillon: ToNode
}

/** Null for a message that is none of ours, such as that of `process.send('ready')`. */
export function messageIn(sent: unknown): ToNode | null {
  const isOurs = typeof sent === 'object' && sent !== null && Object.hasOwn(sent, 'carillon')
  return isOurs ? (sent as Envelope).carillon : null
}

/** An error, with what the engine's own kinds of errors carry. */
export interface Thrown {
  readonly name: string
  readonly message: string
  readonly stack: string | null
  readonly delayMs?: number
  readonly until?: number
  readonly worked?: boolean
}

export interface IsolateLimits {
  readonly memoryMb: number | null
  readonly cpuMs: number | null
}

/** What the watchdog of a process writes before it ends the process. */
export interface LimitReport extends Usage {
  readonly limit: 'memory' | 'cpu'
  readonly usedMb: number
}

/** The first argument of an isolated process. */
export interface ProcessOptions extends IsolateLimits {
  /** Where the report of the watchdog is written. */
  readonly reportFd: number
}

export interface WatchdogOptions extends ProcessOptions {
  readonly parent: number
}
