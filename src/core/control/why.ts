// Why a job runs when it does, or does not: one sentence, and the checks behind it.

import { isSetAside } from '../run/crash.ts'
import { scheduleMoment, type Job } from '../job.ts'
import { nodeIdOf } from '../run/owner.ts'
import { statusOf } from './status.ts'
import { formatDuration, iso, type Instant } from '../time.ts'
import { describeTrigger } from '../schedule/trigger.ts'

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
    holdCheck(job, facts),
    crashCheck(job),
  ].filter(check => check !== null)
  const next = job.state === 'waiting' ? job.dueAt : null
  return { verdict: verdict(job, facts, checks), next, checks }
}

function verdict(job: Job, facts: Facts, checks: readonly Check[]): string {
  const blocked = checks.find(check => !check.ok)
  if (job.state === 'running') {
    const since = formatDuration(facts.now - job.lease!.claimedAt)
    return `Running on ${nodeIdOf(job.lease!.owner)} since ${iso(job.lease!.claimedAt)} (${since}).`
  }
  if (isSetAside(job) && (!blocked || blocked.code === 'crash_loop')) {
    const at = job.dueAt!
    const left = formatDuration(Math.max(0, at - facts.now))
    const since = `Set aside (crash_loop) after ${job.crashes} crashes in a row`
    return `${since}: tried again at ${iso(at)} (in ${left}).`
  }
  if (blocked) return `Will NOT run: ${blocked.text}.`
  if (isHeld(job, facts.now)) {
    const { waitsFor, owner, until } = job.hold!
    if (waitsFor !== undefined) {
      const since = formatDuration(facts.now - waitsFor.since)
      const again = until > facts.now ? `at ${iso(until)} at the latest` : 'by the next free slot'
      return (
        `Waits for ${waitsFor.name} since ${iso(waitsFor.since)} (${since}): node ${owner} had no ` +
        `connection free. Tried again when one is, ${again}.`
      )
    }
    return `Waits for the previous handler to end (until ${iso(job.hold!.until)} at the latest).`
  }
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
  const text = describeTrigger(spec.trigger, spec.retry.exhausted === 'wait')
  return { ok: true, code: 'schedule', text: `schedule: ${text}` }
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

/** The hold alone keeps the job from being due; one for a permit goes on until a claim ends it. */
function isHeld({ hold, state, dueAt }: Job, now: Instant): boolean {
  if (state !== 'waiting' || hold === null || dueAt !== hold.until) return false
  return hold.until > now || hold.waitsFor !== undefined
}

function holdCheck(job: Job, { now }: Facts): Check | null {
  const { hold } = job
  if (hold === null) return null
  if (hold.isStillRunning === true) {
    const text = `the handler of execution ${hold.attemptId} still runs on ${nodeIdOf(hold.owner)}`
    return {
      ok: true,
      code: 'still_running',
      text,
      fix: 'let handlers end when their signal aborts',
    }
  }
  if (hold.until <= now) return null
  if (hold.waitsFor !== undefined) {
    return {
      ok: true,
      code: 'host_busy',
      text: `waits for a free connection to ${hold.waitsFor.name} (until ${iso(hold.until)})`,
      fix: 'wait, make the endpoint faster, or raise CARILLON_HOST_CONNECTIONS',
    }
  }
  const text = `waits for the previous handler to end (until ${iso(hold.until)})`
  return { ok: true, code: 'hold', text }
}

/** Last, so that what keeps it from running altogether is said first. */
function crashCheck(job: Job): Check | null {
  const { crashes } = job
  if (crashes === 0 || job.state === 'failed') return null
  const fix = `find out what ends the process; "carillon retry ${job.id}" tries it at once`
  if (isSetAside(job)) {
    const text = `set aside (crash_loop): its process died ${crashes} times in a row while running it`
    return { ok: false, code: 'crash_loop', text, fix }
  }
  const times = crashes === 1 ? 'once' : `${crashes} times in a row`
  return { ok: true, code: 'crashes', text: `its process died ${times} while running it` }
}

function requestCheck(job: Job): Check | null {
  if (job.requests.length === 0) return null
  return { ok: true, code: 'requests', text: `${job.requests.length} requested runs waiting` }
}
