// Why a job runs when it does, or does not: one sentence, and the checks behind it.

import { scheduleMoment, type Job } from './job.ts'
import { statusOf } from './status.ts'
import { formatDuration, iso, type Instant } from './time.ts'
import { describeTrigger } from './trigger.ts'

export interface Check {
  readonly ok: boolean
  readonly code: string
  readonly text: string
  /** What to do about it. */
  readonly fix?: string
}

export interface Explanation {
  readonly verdict: string
  readonly next: Instant | null
  readonly checks: readonly Check[]
}

export interface Facts {
  readonly now: Instant
  readonly isQueuePaused: boolean
  /** Nodes alive that have the handler. */
  readonly nodesWithHandler: number
  readonly nodes: number
}

export function explain(job: Job, facts: Facts): Explanation {
  const checks = [
    scheduleCheck(job),
    stateCheck(job, facts),
    handlerCheck(job, facts),
    queueCheck(job, facts),
    retryCheck(job),
    requestCheck(job),
  ].filter(check => check !== null)
  const next = job.state === 'waiting' ? job.dueAt : null
  return { verdict: verdict(job, facts, checks), next, checks }
}

function verdict(job: Job, facts: Facts, checks: readonly Check[]): string {
  const blocked = checks.find(check => !check.ok)
  if (job.state === 'running') {
    const since = formatDuration(facts.now - job.lease!.claimedAt)
    return `Running on ${job.lease!.owner} since ${iso(job.lease!.claimedAt)} (${since}).`
  }
  if (blocked) return `Will NOT run: ${blocked.text}.`
  if (job.dueAt === null) return 'Waits to be asked: it has no schedule of its own.'
  const left = job.dueAt - facts.now
  if (left > 0) return `Will run at ${iso(job.dueAt)} (in ${formatDuration(left)}).`
  return `Due since ${iso(job.dueAt)} (${formatDuration(-left)}): the next free slot takes it.`
}

function scheduleCheck(job: Job): Check {
  const { spec } = job
  const isAlive = job.state === 'waiting' && spec.trigger.kind !== 'manual'
  if (isAlive && scheduleMoment(job) === null && job.requests.length === 0) {
    return {
      ok: false,
      code: 'no_next',
      text: 'active without a next moment',
      fix: 'edit its trigger',
    }
  }
  return { ok: true, code: 'schedule', text: `schedule: ${describeTrigger(spec.trigger)}` }
}

function stateCheck(job: Job, { now }: Facts): Check {
  const status = statusOf(job)
  switch (job.state) {
    case 'paused': {
      const { until, note } = job.pause ?? { until: null, note: null }
      const end = until === null ? '' : ` until ${iso(until)} (in ${formatDuration(until - now)})`
      const why = note === null ? '' : `: "${note}"`
      return { ok: false, code: 'paused', text: `paused${end}${why}`, fix: 'resume it' }
    }
    case 'failed': {
      const reason = job.ended?.reason ?? 'failed'
      const error = job.lastError ? `: ${job.lastError.message}` : ''
      return { ok: false, code: 'failed', text: `failed (${reason})${error}`, fix: 'retry it' }
    }
    case 'cancelled': {
      const { reason = '', note } = job.ended ?? {}
      const why = note === undefined ? '' : `: "${note}"`
      return { ok: false, code: 'cancelled', text: `cancelled (${reason})${why}` }
    }
    case 'completed':
      return { ok: false, code: 'completed', text: 'completed: nothing is left to run' }
    case 'running':
    case 'waiting':
      return { ok: true, code: status, text: status }
  }
}

function handlerCheck(job: Job, { nodes, nodesWithHandler }: Facts): Check {
  const { handler } = job.spec
  if (nodesWithHandler > 0) {
    const text = `handler ${handler} bound on ${nodesWithHandler} of ${nodes} nodes`
    return { ok: true, code: 'handler', text }
  }
  const text =
    nodes === 0 ? 'no node is running' : `none of ${nodes} nodes has the handler ${handler}`
  return { ok: false, code: 'handler', text, fix: 'start a node that has it' }
}

function queueCheck(job: Job, { isQueuePaused }: Facts): Check {
  const { queue } = job.spec
  return isQueuePaused
    ? { ok: false, code: 'queue_paused', text: `queue ${queue} is paused`, fix: 'resume the queue' }
    : { ok: true, code: 'queue', text: `queue ${queue} is open` }
}

function retryCheck(job: Job): Check | null {
  const { failures } = job.current
  if (failures === 0 || job.state === 'failed') return null
  const limit = job.spec.retry.limit === null ? 'no limit' : `limit ${job.spec.retry.limit}`
  const text = `${failures} failures of this run (${limit}): ${job.lastError?.message ?? ''}`
  return { ok: true, code: 'retrying', text }
}

function requestCheck(job: Job): Check | null {
  if (job.requests.length === 0) return null
  return { ok: true, code: 'requests', text: `${job.requests.length} requested runs waiting` }
}
