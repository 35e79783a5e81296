// What handlers tell about an attempt while it runs.

import type { Json, JsonObject } from '../json.ts'
import type { Instant } from '../time.ts'

export interface Progress {
  readonly attemptId: string
  readonly fraction: number | null
  readonly note: string | null
  readonly checkpoint: Json | undefined
  readonly at: Instant
}

export interface LogLine {
  readonly at: Instant
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: JsonObject | null
}
