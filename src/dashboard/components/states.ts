// The words for states, each in one of seven families: a family has a colour and a glyph, so that
// nobody has to tell them apart by colour alone.

export type Family = 'ok' | 'failed' | 'running' | 'retry' | 'wait' | 'skip' | 'cancel'
export type GlyphName =
  | 'check'
  | 'cross'
  | 'dead'
  | 'play'
  | 'again'
  | 'clock'
  | 'dash'
  | 'pause'
  | 'barred'

export interface StateLook {
  readonly family: Family
  readonly glyph: GlyphName
  readonly label: string
}

const looks: Readonly<Record<string, StateLook>> = {
  completed: { family: 'ok', glyph: 'check', label: 'Completed' },
  failed: { family: 'failed', glyph: 'cross', label: 'Failed' },
  timedOut: { family: 'failed', glyph: 'cross', label: 'Timed out' },
  abandoned: { family: 'failed', glyph: 'cross', label: 'Lost' },
  dead: { family: 'failed', glyph: 'dead', label: 'Dead' },
  running: { family: 'running', glyph: 'play', label: 'Running' },
  retrying: { family: 'retry', glyph: 'again', label: 'Retrying' },
  late: { family: 'retry', glyph: 'clock', label: 'Late' },
  pending: { family: 'wait', glyph: 'clock', label: 'Pending' },
  scheduled: { family: 'wait', glyph: 'clock', label: 'Scheduled' },
  queued: { family: 'wait', glyph: 'clock', label: 'Queued' },
  skipped: { family: 'skip', glyph: 'dash', label: 'Skipped' },
  missed: { family: 'skip', glyph: 'dash', label: 'Missed' },
  paused: { family: 'skip', glyph: 'pause', label: 'Paused' },
  cancelled: { family: 'cancel', glyph: 'barred', label: 'Cancelled' },
}

export function lookOf(state: string): StateLook {
  return Object.hasOwn(looks, state)
    ? looks[state]!
    : { family: 'wait', glyph: 'clock', label: state }
}

interface JobLike {
  readonly status: string
  readonly reason: string | null
  readonly next_run_at: string | null
  readonly current_retry_count: number
  readonly max_retries: number | null
  readonly grace_seconds: number
  readonly trigger: Readonly<Record<string, unknown>>
}

/** What a job's badge says: derived from the row as it is now. */
export function jobLook(job: JobLike, now: number): StateLook {
  const look = lookOf(job.status)
  if (job.status !== 'scheduled' && job.status !== 'pending') return look
  if (job.reason !== null) return { family: 'failed', glyph: 'again', label: 'Set aside' }
  const next = job.next_run_at === null ? null : Date.parse(job.next_run_at)
  if (next !== null && now - next > Math.max(1_000, job.grace_seconds * 1_000)) {
    return { ...lookOf('late'), label: 'Late' }
  }
  if (job.current_retry_count > 0) {
    const of = job.max_retries === null ? '' : `/${job.max_retries}`
    return { ...lookOf('retrying'), label: `Retrying ${job.current_retry_count}${of}` }
  }
  if (next === null && job.trigger.manual !== true) {
    return { family: 'failed', glyph: 'dead', label: 'No next run' }
  }
  return job.trigger.manual === true ? { ...look, label: 'Manual' } : look
}
