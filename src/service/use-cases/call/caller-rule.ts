// Which specs a caller may store, whichever route they take: the one place that knows who is limited.

import { shortestInterval, type SpecRule } from '../../../core/shortest-interval.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import type { Call } from './call.ts'

/** Null for callers whom nothing holds but the limits of every job. */
export function ruleOf({ caller, settings }: Call): SpecRule | null {
  return caller.tenant === EVERY_TENANT ? null : shortestInterval(settings.intervalMsMin)
}
