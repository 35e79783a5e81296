// How many jobs of each tenant, queue, handler, kind and state there are: summed while a write goes
// on, written with it.

import type { Job, State } from '../../core/job.ts'

export interface CountKey {
  /** Names as they are stored. */
  readonly tenant: string
  readonly queue: string
  readonly handler: string
  readonly kind: Job['kind']
  readonly state: State
}

export interface CountChange extends CountKey {
  readonly count: number
  readonly pruned: number
}
