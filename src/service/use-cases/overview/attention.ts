// What a person should look at, each as one sentence about one job: given up, late, failing again
// and again, without a node that could run it, paused for long, touched by a clock change.

import { z } from 'zod'
import { isDamaged } from '../../../core/stored/damage.ts'
import type { Attempt, OutcomeKind } from '../../../core/attempt.ts'
import { isSetAside } from '../../../core/run/crash.ts'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { isLastRunOver } from '../../../core/history/run.ts'
import {
  EPISODE_KIND,
  EVERY_JOB,
  MISSING_KIND,
  type Episode,
} from '../../../core/alerts/episode.ts'
import { DAY, formatDuration, iso, SECOND, type Instant } from '../../../core/time.ts'
import { compileCron } from '../../../core/schedule/trigger.ts'
import { NODE_KIND } from '../../../core/record.ts'
import type { DstNote } from '../../../cron/index.ts'
import type { Engine } from '../../../create-engine.ts'
import { openEpisodes } from '../../../watch/episodes.ts'
import { undeclaredJobs } from '../../../jobs/declaration-records.ts'
import { overduePermitWaits, overdueSince } from '../../../watch/permit-waits.ts'
import { recentAttempts } from '../../../watch/recent.ts'

export const attentionCodes = [
  'trouble',
  'no-node',
  'unbound',
  'failed',
  'damaged',
  'late',
  'crash-loop',
  'failing',
  'missing',
  'paused-long',
  'clock-change',
] as const

export const attentionAnswer = z
  .strictObject({
    findings: z.array(
      z.strictObject({
        code: z.enum(attentionCodes),
        severity: z.enum(['error', 'warning', 'info']),
        text: z.string(),
        job_id: z.string().nullable(),
        job_name: z.string().nullable(),
        tenant: z.string().nullable(),
        at: z.iso.datetime().nullable(),
      }),
    ),
  })
  .meta({ id: 'Attention', description: 'The worst first; a few of each kind.' })

type Finding = z.output<typeof attentionAnswer>['findings'][number]
type Scope = { readonly tenant?: string }

/** Findings of one kind: after so many, a list with a filter serves better. */
const EACH_MAX = 5
const STREAK = 3
const RECENT_MS = DAY
const PAUSED_LONG_MS = 7 * DAY
const AHEAD_MS = 7 * DAY
/** Shorter delays than this are not worth a look, whatever the grace. */
const LATE_MIN_MS = 10 * SECOND

/** What is wrong with the store is told also when the store does not answer. */
export async function attentionOf(engine: Engine, scope: Scope): Promise<Finding[]> {
  const troubles = troubleFindings(engine)
  try {
    return [...troubles, ...(await storedFindings(engine, scope))]
  } catch (error) {
    if (troubles.length > 0) return troubles
    throw error
  }
}

async function storedFindings(engine: Engine, scope: Scope): Promise<Finding[]> {
  const now = engine.clock.now()
  const groups = await Promise.all([
    nodeFindings(engine, scope, now),
    failed(engine, scope),
    late(engine, scope, now),
    failing(engine, scope, now),
    pausedLong(engine, scope, now),
    clockChanges(engine, scope, now),
  ])
  const found = groups.flat()
  const known = new Set(found.map(({ job_id }) => job_id))
  return [...found, ...(await episodeFindings(engine, scope, known))]
}

/** What was alerted of and is not over, unless it is among the findings already. */
async function episodeFindings(
  { store, clock }: Engine,
  { tenant }: Scope,
  known: ReadonlySet<string | null>,
): Promise<Finding[]> {
  const now = clock.now()
  const isMine = ({ subject }: Episode) => tenant === undefined || subject.tenant === tenant
  const failingNow = (await openEpisodes(store, EPISODE_KIND, now)).filter(isMine)
  const missing = (await openEpisodes(store, MISSING_KIND, now)).filter(isMine)
  return [missing, failingNow].flatMap(episodes =>
    episodes
      .filter(({ subject }) => subject.kind !== 'job' || !known.has(subject.id))
      .slice(0, EACH_MAX)
      .map(episodeFinding),
  )
}

function episodeFinding({ code, subject, since, detail }: Episode): Finding {
  const { kind, id, name, tenant } = subject
  const isAll = id === EVERY_JOB
  const what = whatOf(subject)
  const text = code === 'run_missing' ? `${detail}.` : `${what} failed: ${detail}`
  return {
    code: code === 'run_missing' ? 'missing' : 'failing',
    severity: 'error',
    text,
    job_id: kind === 'job' && !isAll ? id : null,
    job_name: isAll ? null : name,
    tenant: isAll ? null : tenant,
    at: iso(since),
  }
}

function whatOf({ kind, name }: Episode['subject']): string {
  switch (kind) {
    case 'job':
      return 'It'
    case 'workflow':
      return `A run of workflow ${name}`
    case 'definition':
      return `A task of ${name}`
  }
}

type Told = Pick<Finding, 'code' | 'severity' | 'text'>

function about(job: Job, at: Instant | null, told: Told): Finding {
  return {
    ...told,
    job_id: job.seriesId ?? job.id,
    job_name: job.spec.name,
    tenant: job.spec.tenant,
    at: at === null ? null : iso(at),
  }
}

/** What this node knows to be wrong with itself or its store. */
function troubleFindings({ troubles }: Engine): Finding[] {
  return troubles.list.map(({ level, message, since }) => ({
    code: 'trouble',
    severity: level === 'error' ? 'error' : 'warning',
    text: message,
    job_id: null,
    job_name: null,
    tenant: null,
    at: iso(since),
  }))
}

const none: ReadonlySet<string> = new Set()

/** Jobs nobody can run: no node at all, or none that has their handler. */
async function nodeFindings(engine: Engine, scope: Scope, now: Instant): Promise<Finding[]> {
  const { store } = engine
  const waiting = (await store.counts(scope)).filter(
    ({ state, count }) => state === 'waiting' && count > 0,
  )
  if (waiting.length === 0) return []
  const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, now)
  const nothing = { job_id: null, job_name: null, tenant: null, at: null }
  if (nodes.items.length === 0 && engine.node.state !== 'running') {
    const text = 'Jobs wait, but no process runs them: start one with `carillon serve`.'
    return [{ ...nothing, code: 'no-node', severity: 'error', text }]
  }
  const isHere = (handler: string) =>
    engine.node.state === 'running' && engine.handlers.has(handler)
  const known = new Set<unknown>()
  for (const { value } of nodes.items) {
    const names = (value as { handlers?: unknown } | null)?.handlers
    if (Array.isArray(names)) for (const name of names) known.add(name)
  }
  const lost = waiting
    .filter(({ handler }) => !isHere(handler) && !known.has(handler))
    .slice(0, EACH_MAX)
  const found: Finding[] = []
  const undeclared = lost.length === 0 ? none : await undeclaredJobs(engine)
  for (const { handler, count } of lost) {
    const filter = { ...scope, handler, states: ['waiting'] } as const
    const { items } = await store.list(filter, {
      limit: undeclared.size === 0 ? 1 : limits.pageMax,
    })
    const wanted = items.filter(({ id }) => !undeclared.has(id))
    const left = count - (items.length - wanted.length)
    if (left <= 0) continue
    const text = `No node has the handler ${handler}: ${left} waiting.`
    const told = { code: 'unbound', severity: 'error', text } as const
    found.push(wanted[0] ? about(wanted[0], null, told) : { ...nothing, ...told })
  }
  return found
}

async function failed({ store }: Engine, scope: Scope): Promise<Finding[]> {
  const page = { limit: EACH_MAX, newestFirst: true }
  const { items } = await store.list({ ...scope, kind: 'job', states: ['failed'] }, page)
  return items.map(job => {
    const why = job.lastError?.message ?? job.ended?.reason ?? 'no reason was kept'
    if (isDamaged(job)) {
      const text = `Its record is damaged: ${why}. Delete it, or run \`carillon doctor --repair\`.`
      return about(job, job.ended!.at, { code: 'damaged', severity: 'error', text })
    }
    return about(job, job.ended?.at ?? null, {
      code: 'failed',
      severity: 'error',
      text: `Given up: ${why}`,
    })
  })
}

async function late(engine: Engine, scope: Scope, now: Instant): Promise<Finding[]> {
  const { store } = engine
  const due = await store.upcoming({ ...scope, from: 0, until: now - LATE_MIN_MS, limit: 50 })
  const waiting = await overduePermitWaits(store, {
    ...scope,
    wantedBefore: now - LATE_MIN_MS,
    now,
  })
  const overdue = [...due, ...waiting].filter(job => {
    const since = overdueSince(job)
    return since !== null && now - since > job.spec.graceMs
  })
  if (overdue.length === 0) return []
  const undeclared = await undeclaredJobs(engine)
  return overdue
    .filter(({ id }) => !undeclared.has(id))
    .slice(0, EACH_MAX)
    .map(job => {
      const since = overdueSince(job)!
      const waitsFor = job.hold?.waitsFor
      const why = waitsFor === undefined ? '' : `: it waits for ${waitsFor.name}`
      const text = `Due for ${formatDuration(now - since)} and not started${why}.`
      return about(job, since, { code: 'late', severity: 'warning', text })
    })
}

/** Jobs whose newest attempts failed one after the other, or whose last run is over and failed. */
async function failing({ store }: Engine, scope: Scope, now: Instant): Promise<Finding[]> {
  const { items } = await store.attempts(
    { ...scope, outcomes: [...failures], since: now - RECENT_MS },
    { limit: limits.pageMax, newestFirst: true },
  )
  const found: Finding[] = []
  for (const job of await failedJobs(store, items)) {
    if (found.length >= EACH_MAX) break
    if (job.state === 'failed' || job.last === null || !failures.has(job.last.outcome)) continue
    if (isSetAside(job)) {
      found.push(setAside(job, now))
      continue
    }
    const streak = await streakOf(store, job)
    if (streak < STREAK && !isLastRunOver(job)) continue
    found.push(
      about(job, job.last.startedAt, {
        code: 'failing',
        severity: 'warning',
        text: `${failedText(streak)}${job.lastError === null ? '' : `: ${job.lastError.message}`}`,
      }),
    )
  }
  return found
}

const failures: ReadonlySet<OutcomeKind> = new Set(['failed', 'timedOut', 'abandoned'])

/** The jobs of these attempts, the series in place of its tasks. */
async function failedJobs(
  store: Engine['store'],
  attempts: readonly Pick<Attempt, 'jobId'>[],
): Promise<readonly Job[]> {
  const rows = await store.get([...new Set(attempts.map(({ jobId }) => jobId))])
  const ids = new Set(
    rows.flatMap(({ kind, id, seriesId }) => (kind === 'job' ? id : seriesId) ?? []),
  )
  return store.get([...ids].slice(0, 50))
}

function failedText(streak: number): string {
  if (streak <= 1) return 'The last run failed'
  const times = streak > STREAK_READ - 1 ? `${STREAK_READ} times or more` : `${streak} times`
  return `Failed ${times} in a row`
}

function setAside(job: Job, now: Instant): Finding {
  const left = formatDuration(Math.max(0, job.dueAt! - now))
  const text =
    `Set aside after ${job.crashes} crashes in a row, tried again in ${left}. ` +
    `Find out what ends the process; "carillon retry ${job.id}" tries it at once.`
  return about(job, job.last?.finishedAt ?? null, { code: 'crash-loop', severity: 'error', text })
}

const STREAK_READ = 20

async function streakOf(store: Engine['store'], job: Job): Promise<number> {
  const items = await recentAttempts(store, job, { limit: STREAK_READ })
  const end = items.findIndex(({ outcome }) => outcome === 'succeeded')
  return end < 0 ? items.length : end
}

async function pausedLong({ store }: Engine, scope: Scope, now: Instant): Promise<Finding[]> {
  const page = { limit: limits.pageMax }
  const { items } = await store.list({ ...scope, kind: 'job', states: ['paused'] }, page)
  return items
    .filter(({ pause }) => pause !== null && now - pause.at > PAUSED_LONG_MS)
    .slice(0, EACH_MAX)
    .map(job => {
      const note = job.pause!.note === null ? '' : `: ${job.pause!.note}`
      const text = `Paused for ${formatDuration(now - job.pause!.at)}${note}`
      return about(job, job.pause!.at, { code: 'paused-long', severity: 'info', text })
    })
}

const clockNotes: Readonly<Record<DstNote, string>> = {
  'dst-gap-shifted': 'The clocks go forward over its time: it fires when the gap ends.',
  'dst-first-of-two': 'The clocks go back over its time: it fires the first time round.',
  'dst-second-of-two': 'The clocks go back over its time: it fires a second time.',
}

/** The next firing of a job within a week that a clock change moves, drops or doubles. */
async function clockChanges({ store }: Engine, scope: Scope, now: Instant): Promise<Finding[]> {
  const jobs = await store.upcoming({ ...scope, from: now, until: now + AHEAD_MS, limit: 250 })
  return jobs
    .flatMap(job => {
      const { trigger } = job.spec
      const at = job.nextAt
      const note = trigger.kind === 'cron' && at !== null ? compileCron(trigger).note(at) : null
      if (note === null) return []
      return [about(job, at, { code: 'clock-change', severity: 'info', text: clockNotes[note] })]
    })
    .slice(0, EACH_MAX)
}
