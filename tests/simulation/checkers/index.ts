// All families of checks over one history.

import type { History, Violation } from '../history.ts'
import { checkAccounting } from './accounting.ts'
import { checkExclusion } from './exclusion.ts'
import { checkDurability } from './durability.ts'
import { checkLiveness } from './liveness.ts'
import { checkOccurrences } from './occurrences.ts'
import { checkPunctual } from './punctual.ts'
import { checkRequests } from './requests.ts'
import { checkRetries } from './retries.ts'
import { checkStates } from './states.ts'

export const checkers = {
  occurrences: checkOccurrences,
  requests: checkRequests,
  punctual: checkPunctual,
  exclusion: checkExclusion,
  durability: checkDurability,
  accounting: checkAccounting,
  retries: checkRetries,
  states: checkStates,
  liveness: checkLiveness,
} as const

export function checkAll(history: History): Violation[] {
  return Object.values(checkers).flatMap(check => check(history))
}
