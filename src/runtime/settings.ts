// How a node behaves: every number in one frozen object, checked as a whole.

import { refuse } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import { limits } from '../core/limits.ts'
import { HOUR, MINUTE, type Millis } from '../core/time.ts'

export interface EngineSettings {
  readonly nodeId: string
  /** Handlers running at once in this node. */
  readonly slots: number
  /** Of the slots, what one tenant holds at most while two or more have work. */
  readonly tenantSlotsPercent: number
  /** The queues served, with limits of their own; null serves every queue there is. */
  readonly queues: Readonly<Record<string, QueueSettings>> | null
  /** Fixed numbers of jobs held claimed beyond the slots, for queues that need one. */
  readonly buffers: Readonly<Record<string, number>>
  /** Jobs held claimed beyond the slots, at most; how many is measured (bufferMs of work). */
  readonly bufferMax: number
  readonly bufferMs: Millis
  /** A claimed job that found no slot after so long goes back to the store. */
  readonly claimWaitMs: Millis
  /** The longest sleep of the loop. */
  readonly checkIntervalMs: Millis
  readonly leaseMs: Millis
  /** How often ended leases and pauses are looked for. */
  readonly reapMs: Millis
  /** The same while nobody holds anything: a lease taken meanwhile cannot end sooner. */
  readonly idleReapMs: Millis
  /** How often running jobs are checked for cancellation. */
  readonly cancelCheckMs: Millis
  readonly metricsMs: Millis
  readonly pruneMs: Millis
  /** How long a stop waits for running handlers before it aborts them. */
  readonly drainMs: Millis
  /** How long an aborted handler may take before the node goes on without it. */
  readonly abortGraceMs: Millis
  /** How long the next start waits for a handler whose run was cancelled, timed out or replaced. */
  readonly holdMs: Millis
  readonly batchMax: number
  readonly endedTasksMax: number
  /** How long a due job, or its grace if that is longer, may pass before its run is missing. */
  readonly missingMs: Millis
  /** How long nodes of a label run without declaring one of its jobs before it is dropped. */
  readonly orphanGraceMs: Millis
  /** The waiting jobs a queue may hold; null for no limit. */
  readonly waitingMax: number | null
}

export interface QueueSettings {
  readonly slots?: number
  readonly buffer?: number
}

export const engineDefaults = {
  slots: 100,
  tenantSlotsPercent: 90,
  queues: null,
  buffers: {},
  bufferMax: 2_000,
  bufferMs: 100,
  claimWaitMs: 250,
  checkIntervalMs: 10_000,
  leaseMs: 15_000,
  reapMs: 5_000,
  idleReapMs: 15_000,
  cancelCheckMs: 1_000,
  metricsMs: 30_000,
  pruneMs: 60_000,
  drainMs: 30_000,
  abortGraceMs: 1_000,
  holdMs: limits.holdMs,
  batchMax: 2_000,
  endedTasksMax: 100_000,
  missingMs: 5 * MINUTE,
  orphanGraceMs: HOUR,
  waitingMax: null,
} as const satisfies Omit<EngineSettings, 'nodeId'>

const ranges: readonly (readonly [keyof EngineSettings, number, number])[] = [
  ['slots', 1, 100_000],
  ['tenantSlotsPercent', 1, 100],
  ['bufferMax', 0, 100_000],
  ['bufferMs', 0, 60_000],
  ['claimWaitMs', 10, 60_000],
  ['checkIntervalMs', 10, 3_600_000],
  ['leaseMs', 100, 3_600_000],
  ['reapMs', 10, 3_600_000],
  ['idleReapMs', 10, 86_400_000],
  ['cancelCheckMs', 10, 60_000],
  ['metricsMs', 100, 3_600_000],
  ['pruneMs', 100, 86_400_000],
  ['drainMs', 0, 86_400_000],
  ['abortGraceMs', 0, 600_000],
  ['holdMs', 0, 3_600_000],
  ['batchMax', 1, 10_000],
  ['endedTasksMax', 0, 1_000_000_000],
  ['missingMs', 100, 2_592_000_000],
  ['orphanGraceMs', 0, 2_592_000_000],
]

/** Fills defaults in and reports every problem at once. */
export function engineSettings(
  given: Partial<EngineSettings> & { readonly nodeId: string },
): EngineSettings {
  const settings: EngineSettings = { ...engineDefaults, ...given }
  const found = new Findings()
  found.text('nodeId', settings.nodeId, 200)
  for (const [field, min, max] of ranges) found.whole(field, settings[field], min, max)
  if (settings.waitingMax !== null) {
    found.whole('waitingMax', settings.waitingMax, 1, 1_000_000_000)
  }
  for (const [name, queue] of Object.entries(settings.queues ?? {})) {
    found.text('queues', name, 200)
    if (queue.slots !== undefined) {
      found.whole(`queues.${name}.slots`, queue.slots, 1, 100_000)
    }
    if (queue.buffer !== undefined) {
      found.whole(`queues.${name}.buffer`, queue.buffer, 0, 100_000)
    }
  }
  for (const [name, buffer] of Object.entries(settings.buffers)) {
    found.whole(`buffers.${name}`, buffer, 0, 100_000)
  }
  refuse('SETTINGS_INVALID', 'the settings are not valid', found.problems)
  return Object.freeze(settings)
}
