// Resources of which a node has a limited number of permits, such as connections to a host. A job
// waits for one without a slot and without a lease, and is made due again when one is free.

import type { Job } from '../core/job.ts'

export interface Permit {
  /** Giving it back twice is harmless. */
  release(): void
}

export interface Waiter {
  readonly jobId: string
  /** The highest goes first, then whoever waits longest. */
  readonly priority: number
  /** Makes the job due; false when it no longer waits. */
  recall(): Promise<boolean>
  /** It started otherwise. */
  started(): void
}

export interface Resource {
  /** As people read it, such as `the host api.example.com`. */
  readonly name: string
  /** Jobs and requests of this node that wait for a permit. */
  readonly waiting: number
  /** Null while none is free for this job. */
  tryTake(jobId: string): Permit | null
  enqueue(waiter: Waiter): void
}

/** What an attempt of the job needs from its start until its handler returns; null for nothing. */
export type ResourceOf = (job: Job) => Resource | null
