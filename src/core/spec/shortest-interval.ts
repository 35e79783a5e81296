// How often a job may fire that is made or changed by someone who is held to a shortest interval.

import { CronError } from '../../cron/index.ts'
import { shortestGapMs } from '../../cron/gap.ts'
import type { Problem } from '../errors.ts'
import type { JobSpec } from '../spec.ts'
import type { Millis } from '../time.ts'
import type { Trigger } from '../schedule/trigger.ts'

/** What speaks against storing a spec; `before` is what it replaces, null for a new job. */
export type SpecRule = (spec: JobSpec, before: JobSpec | null) => readonly Problem[]

/** A rhythm that is stored already may stay, whatever else of the job changes. */
export function shortestInterval(minMs: Millis): SpecRule {
  return ({ trigger }, before) => {
    const gap = gapMs(trigger)
    if (gap >= minMs || (before !== null && gapMs(before.trigger) === gap)) return []
    const token = `(intervalMsMin) with a token of one tenant`
    if (trigger.kind === 'cron') {
      const rule = `must leave at least ${minMs} ms between firings ${token}; it leaves ${gap} ms`
      return [{ field: 'trigger.expression', value: trigger.expression, rule }]
    }
    const value = trigger.kind === 'interval' ? trigger.everyMs : null
    return [{ field: 'trigger.everyMs', value, rule: `must be at least ${minMs} ms ${token}` }]
  }
}

/** Infinity for what does not fire repeatedly, and for an expression that is refused as such. */
function gapMs(trigger: Trigger): Millis {
  switch (trigger.kind) {
    case 'once':
    case 'manual':
      return Infinity
    case 'interval':
      return trigger.everyMs
    case 'cron':
      return cronGapMs(trigger.expression, trigger.dialect)
  }
}

function cronGapMs(...expression: Parameters<typeof shortestGapMs>): Millis {
  try {
    return shortestGapMs(...expression)
  } catch (error) {
    if (error instanceof CronError) return Infinity
    throw error
  }
}
