// Structured log lines from engine events. Takes any logger with pino's shape.

import { isSetAside } from '../core/run/crash.ts'
import type { JobAlert } from '../core/alerts/episode.ts'
import { PUSHING } from '../core/fairness/fair.ts'
import { iso } from '../core/time.ts'
import type { Events, Settled } from '../runtime/events.ts'

export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Writes one line per thing worth telling; returns what stops it. */
export function logTo(events: Events, logger: Logger): () => void {
  const setAside = new Set<string>()
  const stops = [
    events.on('stateChanged', ({ from, to }) => logger.info({ from, to }, 'scheduler state')),
    events.on('started', ({ jobs }) => {
      for (const job of jobs) {
        const retry_attempt = job.current.failures
        logger.info({ job_id: job.id, name: job.spec.name, retry_attempt }, 'job started')
      }
    }),
    events.on('settled', ({ settled }) => {
      for (const one of settled) {
        logSettled(logger, one)
        logSetAside(logger, one, setAside)
      }
    }),
    events.on('undeclared', ({ jobs, app, as }) => {
      for (const { id, spec } of jobs) {
        const message = `job ${as}: no running node of app ${app} declares it`
        logger.warn({ job_id: id, name: spec.name, app }, message)
      }
    }),
    events.on('alerted', ({ alert }) => logAlert(logger, alert)),
    events.on('reaped', ({ jobs }) => {
      for (const job of jobs) logger.warn({ job_id: job.id }, 'expired lease cleared')
    }),
    events.on('leaseLost', ({ job, reason }) => {
      logger.warn({ job_id: job.id, reason }, 'result refused: lease lost')
    }),
    events.on('stray', ({ job }) => {
      logger.warn({ job_id: job.id }, 'handler ignored its abort signal')
    }),
    events.on('stillRunning', ({ job, attemptId }) => {
      const fields = { job_id: job.id, execution_id: attemptId, reason: 'still_running' }
      logger.warn(fields, 'handler still runs after its run ended')
    }),
    events.on('lateResult', ({ job, reason }) => {
      logger.warn({ job_id: job.id, reason }, 'late result refused')
    }),
    events.on('resultOmitted', ({ job, why }) => {
      logger.warn({ job_id: job.id, name: job.spec.name, why }, 'result omitted')
    }),
    events.on('error', ({ kind, error, during }) => {
      const level = during === PUSHING ? 'debug' : 'error'
      logger[level]({ kind, during, err: error }, 'scheduler error')
    }),
    events.on('recovered', ({ during, afterMs }) => {
      logger.info({ during, after_ms: afterMs }, 'scheduler recovered')
    }),
    events.on('troubled', ({ trouble: { code, message, level } }) => {
      logger[level]({ code }, message)
    }),
    events.on('troubleOver', ({ trouble: { code }, afterMs }) => {
      logger.info({ code, after_ms: afterMs }, 'scheduler recovered')
    }),
    events.on('pruned', pruned => logger.debug({ ...pruned }, 'pruned')),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Jobs remembered as set aside. */
const SET_ASIDE_MAX = 10_000

/** One line when a job is set aside after crashes, and one when it succeeds again. */
function logSetAside(logger: Logger, { job, attempt }: Settled, known: Set<string>): void {
  const { id, spec, crashes, dueAt } = job
  const base = { job_id: id, name: spec.name }
  if (attempt?.outcome === 'succeeded') {
    if (known.delete(id)) logger.info(base, 'job recovered after it was set aside')
    return
  }
  if (attempt?.outcome !== 'abandoned' || !isSetAside(job) || known.has(id)) return
  if (known.size < SET_ASIDE_MAX) known.add(id)
  const next_run_at = dueAt === null ? null : iso(dueAt)
  logger.error({ ...base, reason: 'crash_loop', crashes, next_run_at }, 'job set aside')
}

/** Once per episode, by whichever node tells of it. */
function logAlert(logger: Logger, { type, condition, episode, message, subject }: JobAlert): void {
  const { kind, id, name, tenant } = subject
  const job_id = kind === 'job' ? id : null
  const fields = { condition, job_id, name, tenant, episode, alert: message }
  if (type === 'alert.cleared') logger.info(fields, 'alert cleared')
  else logger.error(fields, 'alert raised')
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
