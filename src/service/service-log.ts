// The log of the service: five lines about jobs in the words operators of crawl jobs know, with the
// crawler's fields for crawl jobs only, and the lines of the scheduler about everything else.

import type { Job } from '../core/job.ts'
import { formatDuration, SECOND, type Millis } from '../core/time.ts'
import type { Events, Settled } from '../runtime/events.ts'
import { logTo, type Logger } from '../observe/log.ts'

export interface ServiceLogOptions {
  readonly checkIntervalMs: Millis
  readonly lockDurationMs: Millis
  /** The name of the source a crawl job is about; null for other jobs. */
  readonly sourceOf: (job: Job) => string | null
}

/** Said here in other words. */
const replaced = ['job started', 'job finished', 'job failed', 'expired lease cleared']

/** Returns what stops it. */
export function logService(events: Events, logger: Logger, options: ServiceLogOptions): () => void {
  const stops = [
    logTo(events, without(logger, replaced)),
    events.on('stateChanged', ({ to }) => {
      if (to !== 'starting') return
      const check_interval = formatDuration(options.checkIntervalMs)
      const lock_duration = formatDuration(options.lockDurationMs)
      logger.info({ check_interval, lock_duration }, 'Starting interval scheduler')
    }),
    events.on('started', ({ jobs }) => {
      for (const job of jobs) {
        const retry_attempt = job.current.failures
        const source_name = options.sourceOf(job)
        const named = source_name === null ? { job_name: job.spec.name } : { source_name }
        logger.info({ job_id: job.id, ...named, retry_attempt }, 'Executing job')
      }
    }),
    events.on('settled', ({ settled }) => {
      for (const one of settled) logAttempt(logger, one, options)
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function logAttempt(
  logger: Logger,
  { job, attempt }: Settled,
  { sourceOf }: ServiceLogOptions,
): void {
  if (attempt === null) return
  const job_id = job.id
  const duration = `${(attempt.finishedAt - attempt.startedAt) / SECOND}s`
  switch (attempt.outcome) {
    case 'succeeded': {
      const items = { ...(sourceOf(job) === null ? {} : { items_crawled: 0 }), ...attempt.measures }
      logger.info({ job_id, duration, ...items }, 'Job completed successfully')
      return
    }
    case 'failed':
    case 'timedOut': {
      const retry_in =
        job.retryAt === null ? null : `${(job.retryAt - attempt.finishedAt) / SECOND}s`
      const error = attempt.error?.message ?? attempt.outcome
      logger.error({ job_id, duration, error, retry_in }, 'Job execution failed')
      return
    }
    case 'abandoned': {
      const lock_age = formatDuration(attempt.finishedAt - attempt.claimedAt)
      logger.warn({ job_id, lock_age }, 'Cleared stale lock')
      return
    }
    default:
      logger.info({ job_id, duration, outcome: attempt.outcome }, 'Job ended without a verdict')
  }
}

function without(logger: Logger, messages: readonly string[]): Logger {
  const unless = (write: (fields: object, message: string) => void) => {
    return (fields: object, message: string) => {
      if (!messages.includes(message)) write(fields, message)
    }
  }
  return {
    debug: unless((fields, message) => logger.debug(fields, message)),
    info: unless((fields, message) => logger.info(fields, message)),
    warn: unless((fields, message) => logger.warn(fields, message)),
    error: unless((fields, message) => logger.error(fields, message)),
  }
}
