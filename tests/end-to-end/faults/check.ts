// What must hold of a store after a storm, whatever went wrong. Losses and duplicates are named
// apart from the rest, since they are what people ask about first.

import type { Attempt } from '../../../src/core/attempt.ts'
import { checkAttempts, checkLedger, type Findings } from '../kill-check.ts'
import { healthOf } from './check-health.ts'
import type { Evidence } from './evidence.ts'
import type { Accepted, Finish, Start } from './witness.ts'
import { isHealthy, isHealthyQueue } from './workload.ts'

export interface Report extends Findings {
  /** Decisions looked at: runs and skips of schedules, and tasks. */
  occurrences: number
  /** Results that came too late, all of them refused. */
  staleRefused: number
  /** Handler calls beyond the first for one run. */
  repeats: number
}

export function check(all: Evidence): Report {
  const evidence = withoutUnwell(all)
  return {
    lost: [...lostJobs(evidence), ...lostOutcomes(evidence), ...undecided(evidence)],
    duplicates: [
      ...acceptedTwice(evidence),
      ...succeededTwice(evidence),
      ...decidedTwice(evidence),
    ],
    violations: [
      ...numbering(evidence),
      ...early(evidence),
      ...ghosts(evidence),
      ...staleAccepted(evidence),
      ...phantoms(evidence),
      ...leftOpen(evidence),
      ...mistakes(evidence),
      ...tallies(evidence),
      ...healthOf(all),
    ],
    occurrences: occurrencesOf(evidence),
    staleRefused: staleOf(evidence).length,
    repeats: repeatsOf(evidence),
  }
}

/** What was hurt on purpose is looked at on its own. */
function withoutUnwell(evidence: Evidence): Evidence {
  return {
    ...evidence,
    jobs: evidence.jobs.filter(({ id }) => isHealthy(id)),
    attempts: evidence.attempts.filter(({ jobId }) => isHealthy(jobId)),
    counts: evidence.counts.filter(({ queue }) => isHealthyQueue(queue)),
    lines: evidence.lines.filter(line => !('job' in line) || isHealthy(line.job)),
    seeded: evidence.seeded.filter(isHealthy),
  }
}

const linesOf = <K extends Evidence['lines'][number]['kind']>({ lines }: Evidence, kind: K) =>
  lines.filter((line): line is Extract<typeof line, { kind: K }> => line.kind === kind)

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const held = groups.get(keyOf(item))
    if (held) held.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

const byId = ({ attempts }: Evidence) => new Map(attempts.map(attempt => [attempt.id, attempt]))

/** D1: what was acknowledged as created is there. */
function lostJobs(evidence: Evidence): string[] {
  const ids = new Set(evidence.jobs.map(({ id }) => id))
  const created = [...evidence.seeded, ...linesOf(evidence, 'created').map(({ job }) => job)]
  return created.filter(id => !ids.has(id)).map(id => `job ${id} was acknowledged and is gone`)
}

/** D1, D2: what was accepted reads the same ever after. */
function lostOutcomes(evidence: Evidence): string[] {
  const stored = byId(evidence)
  return linesOf(evidence, 'accepted')
    .filter(({ id, outcome }) => stored.get(id)?.outcome !== outcome)
    .map(({ id, job, outcome, node }) => {
      const now = stored.get(id)?.outcome ?? 'gone'
      return `${outcome} of ${job} (attempt ${id}) was accepted from ${node} and reads ${now}`
    })
}

/** T1: every moment from the first on has a decision, up to beyond the last fault. */
function undecided(evidence: Evidence): string[] {
  const found: string[] = []
  for (const [job, epoch, { entries, tasks }] of schedulesOf(evidence)) {
    const { trigger } = job.spec
    if (trigger.kind !== 'interval') continue
    found.push(...checkLedger(job, entries, tasks).filter(text => !text.includes('twice')))
    const moments = [...entries.map(({ from }) => from), ...tasks.map(onceAt)]
    const first = Math.min(...moments, job.nextAt ?? Infinity)
    const begin = Math.max(job.createdAt, job.spec.startAt ?? 0)
    if (epoch === 0 && first > begin + trigger.everyMs) {
      found.push(`${job.id}: nothing decided between its creation and ${first}`)
    }
    // The cursor belongs to the time there is now.
    if (epoch < job.clockEpoch) continue
    const last = Math.max(...entries.map(({ to }) => to), ...tasks.map(onceAt))
    const isOpen = job.state !== 'completed' && job.state !== 'cancelled'
    if (isOpen && (job.nextAt === null || job.nextAt <= evidence.quietAt)) {
      found.push(`${job.id}: decided only up to ${last}, due until ${evidence.quietAt}`)
    }
    if (isOpen && job.nextAt !== null && last + trigger.everyMs < job.nextAt) {
      found.push(`${job.id}: nothing decided between ${last} and its cursor ${job.nextAt}`)
    }
  }
  return found
}

/** T2 */
function decidedTwice(evidence: Evidence): string[] {
  return schedulesOf(evidence).flatMap(([job, , { entries, tasks }]) =>
    checkLedger(job, entries, tasks).filter(text => text.includes('twice')),
  )
}

const onceAt = ({ spec }: Evidence['jobs'][number]): number =>
  spec.trigger.kind === 'once' ? spec.trigger.at : 0

/** The decisions of each schedule in each clock epoch. */
function schedulesOf(evidence: Evidence) {
  const series = groupBy(evidence.jobs, ({ seriesId }) => seriesId ?? '')
  const schedules = evidence.jobs.filter(({ id }) => evidence.ledgers.has(id))
  return schedules.flatMap(job => {
    const entries = groupBy(evidence.ledgers.get(job.id)!, ({ clockEpoch = 0 }) => `${clockEpoch}`)
    const tasks = groupBy(series.get(job.id) ?? [], ({ id }) => `${taskEpoch(id)}`)
    const epochs = new Set([...entries.keys(), ...tasks.keys()])
    if (job.clockEpoch === 0) epochs.add('0')
    return [...epochs].map(epoch => {
      const decided = { entries: entries.get(epoch) ?? [], tasks: tasks.get(epoch) ?? [] }
      return [job, Number(epoch), decided] as const
    })
  })
}

/** Tasks of later clock epochs have it in their id. */
const taskEpoch = (id: string): number => Number(/~(\d+)$/.exec(id)?.[1] ?? 0)

/** E3: an attempt is settled once, by whoever may. */
function acceptedTwice(evidence: Evidence): string[] {
  const groups = groupBy(linesOf(evidence, 'accepted'), ({ id }) => id)
  return [...groups.values()]
    .filter(lines => lines.length > 1)
    .map(lines => `attempt ${lines[0]!.id} was accepted ${lines.map(said).join(' and ')}`)
}

const said = ({ outcome, node }: Accepted) => `as ${outcome} from ${node}`

/** E2: a run succeeds once, an occurrence is served by one run. */
function succeededTwice({ attempts }: Evidence): string[] {
  const wins = attempts.filter(({ outcome }) => outcome === 'succeeded')
  const scheduled = wins.filter(({ origin, retryOf }) => origin === 'schedule' && retryOf === null)
  const twice = (keyOf: (attempt: Attempt) => string, list: readonly Attempt[]) =>
    [...groupBy(list, keyOf)].filter(([, group]) => group.length > 1).map(([key]) => key)
  return [
    ...twice(({ id }) => `attempt ${id} is stored twice`, attempts),
    ...twice(({ jobId, run }) => `run ${jobId}.${run} succeeded twice`, wins),
    ...twice(one => `${occurrenceOf(one)} succeeded twice`, scheduled),
  ]
}

const occurrenceOf = ({ jobId, occurrence, clockEpoch = 0 }: Attempt) =>
  `${jobId} at ${occurrence}${clockEpoch > 0 ? ` in clock epoch ${clockEpoch}` : ''}`

/** A1, E1: numbers without gaps, fences that grow. */
function numbering(evidence: Evidence): string[] {
  const groups = groupBy(evidence.attempts, ({ jobId }) => jobId)
  return evidence.jobs.flatMap(job => checkAttempts(job, groups.get(job.id) ?? []))
}

/** T5: by the machine's clock, which is the store's, whatever the node believed. */
function early(evidence: Evidence): string[] {
  return linesOf(evidence, 'start')
    .filter(({ at, occurrence }) => at < occurrence)
    .map(one => `${one.node} started ${one.job} ${one.occurrence - one.at} ms before its moment`)
}

/** A5: whatever ran has an attempt to show for it. */
function ghosts(evidence: Evidence): string[] {
  const stored = byId(evidence)
  return linesOf(evidence, 'start')
    .filter(({ id, fence }) => stored.get(id)?.fence !== fence)
    .map(({ job, id, node }) => `${node} ran ${job} as attempt ${id}, which is not stored`)
}

/** Handlers that came to their end after somebody else had settled their attempt. */
function staleOf(evidence: Evidence): Finish[] {
  const stored = byId(evidence)
  return linesOf(evidence, 'finish').filter(({ id }) => stored.get(id)?.outcome === 'abandoned')
}

/** E3: nobody was told that such a result counts. */
function staleAccepted(evidence: Evidence): string[] {
  const stale = new Map(staleOf(evidence).map(line => [line.id, line]))
  return linesOf(evidence, 'accepted')
    .filter(({ id, outcome }) => stale.has(id) && outcome !== 'abandoned')
    .map(({ job, id, node }) => `${node} had a stale result of ${job} accepted (attempt ${id})`)
}

/** T3: every job was asked for. */
function phantoms(evidence: Evidence): string[] {
  const asked = new Set([...evidence.seeded, ...linesOf(evidence, 'asked').map(({ job }) => job)])
  return evidence.jobs
    .filter(({ id, seriesId }) => !asked.has(seriesId ?? id))
    .map(({ id }) => `nobody asked for ${id}`)
}

/** F1: every lease had the time to end and to be taken over, so nothing may be held any more. */
function leftOpen({ jobs }: Evidence): string[] {
  return jobs.filter(({ lease }) => lease !== null).map(({ id }) => `${id} is still held`)
}

/** A store that is away is no mistake; code that trips over it is. */
function mistakes(evidence: Evidence): string[] {
  const texts = linesOf(evidence, 'error')
    .filter(({ message }) => /\b(Type|Reference|Range|Syntax)Error\b/.test(message))
    .map(({ during, message }) => `during ${during}: ${message}`)
  return [...new Set(texts)]
}

/** A4: counters equal the history they summarise. */
function tallies({ jobs, attempts, counts, ledgers }: Evidence): string[] {
  const found: string[] = []
  const wins = groupBy(
    attempts.filter(({ outcome }) => outcome === 'succeeded'),
    ({ jobId }) => jobId,
  )
  for (const { id, totals } of jobs) {
    const won = wins.get(id)?.length ?? 0
    if (totals.succeeded !== won)
      found.push(`${id} counts ${totals.succeeded} successes, has ${won}`)
    const skips = (ledgers.get(id) ?? []).filter(({ decision }) => decision === 'skip')
    const skipped = skips.reduce((sum, { count }) => sum + count, 0)
    if (ledgers.has(id) && totals.skipped !== skipped) {
      found.push(`${id} counts ${totals.skipped} skips, has ${skipped}`)
    }
  }
  const key = (state: string, queue: string, handler: string) => `${state} in ${queue}/${handler}`
  const real = groupBy(jobs, ({ state, spec }) => key(state, spec.queue, spec.handler))
  const told = groupBy(counts, one => key(one.state, one.queue, one.handler))
  for (const name of new Set([...real.keys(), ...told.keys()])) {
    const sum = (told.get(name) ?? []).reduce((total, { count }) => total + count, 0)
    const there = real.get(name)?.length ?? 0
    if (sum !== there) found.push(`the store counts ${sum} ${name}, and has ${there}`)
  }
  return found
}

function occurrencesOf({ jobs, ledgers }: Evidence): number {
  const decided = [...ledgers.values()].flat().reduce((sum, { count }) => sum + count, 0)
  return decided + jobs.filter(({ spec }) => spec.trigger.kind === 'once').length
}

function repeatsOf(evidence: Evidence): number {
  const starts: Start[] = linesOf(evidence, 'start')
  const groups = groupBy(starts, ({ job, run }) => `${job}.${run}`)
  return starts.length - groups.size
}
