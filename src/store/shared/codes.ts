// What the numbers in rows mean, in every store. A code is a position in its list: lists only ever
// grow at the end.

import type { Origin, OutcomeKind } from '../../core/attempt.ts'
import type { EndReason, Job, State, WaitingFor } from '../../core/job.ts'

export const kinds: readonly Job['kind'][] = ['job', 'task']
export const states: readonly State[] = [
  'waiting',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
]
export const waits: readonly WaitingFor[] = ['start', 'firing', 'retry']
export const outcomes: readonly OutcomeKind[] = [
  'succeeded',
  'failed',
  'timedOut',
  'cancelled',
  'abandoned',
  'interrupted',
  'skipped',
  'deferred',
  'released',
]
export const endReasons: readonly EndReason[] = [
  'completed',
  'exhausted',
  'final',
  'crash_loop',
  'missed',
  'cancelled',
  'archived',
  'invalid',
  'damaged',
]
export const origins: readonly Origin[] = ['schedule', 'manual', 'retry', 'backfill']
