// What a node and an isolated handler say to each other. Plain JSON, whichever way it travels.

import type { Json, JsonObject } from '../../core/json.ts'

export interface Start {
  readonly kind: 'start'
  /** A file URL. */
  readonly module: string
  readonly export: string
  readonly payload: Json
  readonly info: CallInfo
}

/** What a handler may know about its run; moments as numbers. */
export interface CallInfo {
  readonly jobId: string
  readonly name: string
  readonly tenant: string
  readonly runId: string
  readonly run: number
  readonly attempt: number
  readonly scheduledFor: number
  readonly startedAt: number
  readonly fence: number
  readonly checkpoint?: Json
}

export type ToHandler =
  | Start
  | { readonly kind: 'abort'; readonly reason: string }
  | { readonly kind: 'beaten'; readonly id: number; readonly isHeld: boolean }

export type ToNode =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly message: string
      readonly fields: JsonObject | null
    }
  | { readonly kind: 'progress'; readonly fraction: number; readonly note: string | null }
  | { readonly kind: 'measure'; readonly name: string; readonly value: number }
  | { readonly kind: 'beat'; readonly id: number; readonly checkpoint?: Json }
  | { readonly kind: 'done'; readonly result: string; readonly usage: Usage }
  | { readonly kind: 'threw'; readonly error: Thrown; readonly usage: Usage }

/** Null where it cannot be told apart from what else the process does. */
export interface Usage {
  readonly cpuMs: number | null
  readonly peakMb: number | null
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
