// Names of workflow runs. One attempt is one run of a workflow: a repeat of a schedule and a retry
// of it have the name the original gave them, a run asked for by hand that of its run.

import type { Attempt, Origin } from '../../../core/attempt.ts'
import { parseRunId, runId, type Job } from '../../../core/job.ts'
import type { Store } from '../../../store/port.ts'
import { REPEAT } from '../../../workflows/detail.ts'

export interface Tried {
  readonly run: number
  /** Failures of the run before. */
  readonly retries: number
  readonly origin: Origin
  /** The repeat it belongs to, from 0; null when it is none, or nobody lived to tell. */
  readonly repeat: number | null
}

/** The same for every attempt that goes on where one that died had begun. */
export function publicId(job: Pick<Job, 'id'>, { run, retries, repeat }: Tried): string {
  const which = repeat === null ? runId(job.id, run) : `sched-${job.id}-n${repeat}`
  return `${which}-rc${retries}`
}

export type AskedRun =
  | { readonly jobId: string; readonly repeat: number; readonly retries: number }
  | { readonly jobId: string; readonly run: number; readonly retries: number | null }

/** Reads a public id, or the id of a run as it is given when a run is asked for. */
export function parsePublicId(id: string): AskedRun | null {
  const repeat = /^sched-(.+)-n(\d{1,15})-rc(\d{1,15})$/.exec(id)
  if (repeat) {
    return { jobId: repeat[1]!, repeat: Number(repeat[2]), retries: Number(repeat[3]) }
  }
  const other = /^(.+?)(?:-rc(\d{1,15}))?$/.exec(id)
  const run = other ? parseRunId(other[1]!) : null
  if (run === null) return null
  return { ...run, retries: other![2] === undefined ? null : Number(other![2]) }
}

/** Only the firings of a job's own schedule are repeats. */
function isRepeat(job: Job, origin: Origin): boolean {
  return job.kind === 'job' && origin === 'schedule'
}

export function liveRepeat(job: Job, origin: Origin): number | null {
  return isRepeat(job, origin) ? job.counters.concluded : null
}

/** Told by the attempt itself; of one that died, by the job or by those that went on with it. */
export async function repeatOf(store: Store, job: Job, attempt: Attempt): Promise<number | null> {
  const { run, origin } = attempt
  if (!isRepeat(job, origin)) return null
  const own = told(attempt)
  if (own !== null) return own
  const { runs, concluded } = job.counters
  if (job.current.run === run) return concluded
  // Nobody asked for runs by hand, so their numbers are those of the repeats, from 1.
  if (runs - (job.current.run > 0 ? 1 : 0) === concluded) return run - 1
  const page = { limit: SIBLINGS_MAX, newestFirst: true }
  const { items } = await store.attempts({ jobId: job.id, run }, page)
  return items.map(told).find(repeat => repeat !== null) ?? null
}

/** More than may die in a row. */
const SIBLINGS_MAX = 20

function told({ measures }: Attempt): number | null {
  const repeat = measures?.[REPEAT]
  return typeof repeat === 'number' ? repeat : null
}
