// Which specs a caller may store, whichever route they take: the one place that knows who is limited.

import { shortestInterval, type SpecRule } from '../../core/spec/shortest-interval.ts'
import { callerOf } from '../auth/access.ts'
import { EVERY_TENANT } from '../auth/principal.ts'
import type { AppParts, Request } from './parts.ts'

/** Null for callers whom nothing holds but the limits of every job. */
export function ruleOf(
  request: Request,
  { settings }: Pick<AppParts, 'settings'>,
): SpecRule | null {
  const isWide = callerOf(request).tenant === EVERY_TENANT
  return isWide ? null : shortestInterval(settings.intervalMsMin)
}
