// Structured log lines from engine events. Takes any logger with pino's shape.

import type { Events, Settled } from '../engine/events.ts'

export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Writes one line per thing worth telling; returns what stops it. */
export function logTo(events: Events, logger: Logger): () => void {
  const stops = [
    events.on('stateChanged', ({ from, to }) => logger.info({ from, to }, 'scheduler state')),
    events.on('started', ({ jobs }) => {
      for (const job of jobs) {
        const retry_attempt = job.current.failures
        logger.info({ job_id: job.id, name: job.spec.name, retry_attempt }, 'job started')
      }
    }),
    events.on('settled', ({ settled }) => {
      for (const one of settled) logSettled(logger, one)
    }),
    events.on('reaped', ({ jobs }) => {
      for (const job of jobs) logger.warn({ job_id: job.id }, 'expired lease cleared')
    }),
    events.on('leaseLost', ({ job, reason }) => {
      logger.warn({ job_id: job.id, reason }, 'result refused: lease lost')
    }),
    events.on('stray', ({ job }) => {
      logger.warn({ job_id: job.id }, 'handler ignored its abort signal')
    }),
    events.on('error', ({ kind, error, during }) => {
      logger.error({ kind, during, err: error }, 'scheduler error')
    }),
    events.on('recovered', ({ during, afterMs }) => {
      logger.info({ during, after_ms: afterMs }, 'scheduler recovered')
    }),
    events.on('pruned', pruned => logger.debug({ ...pruned }, 'pruned')),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function logSettled(logger: Logger, { job, attempt, skips }: Settled): void {
  for (const { from, to, count, reason } of skips) {
    const span = { job_id: job.id, name: job.spec.name, from, to, count, reason }
    logger.info(span, 'occurrences skipped')
  }
  if (attempt === null) return
  const duration_ms = attempt.finishedAt - attempt.startedAt
  const base = { job_id: job.id, name: job.spec.name, run: attempt.run, duration_ms }
  if (attempt.error === null) {
    logger.info({ ...base, outcome: attempt.outcome, ...attempt.measures }, 'job finished')
    return
  }
  const retry_in_ms = job.retryAt === null ? null : job.retryAt - attempt.finishedAt
  logger.error({ ...base, error: attempt.error.message, retry_in_ms }, 'job failed')
}
