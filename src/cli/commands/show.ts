// `carillon show`: one job in full, with its policies, past and next runs, or one run.

import type { Job, JobStats, RunDetail } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import { define, exits } from '../command.ts'
import type { Context } from '../context.ts'
import { findJob, orNull } from '../find.ts'
import { heartbeatBar } from '../heartbeat.ts'
import { markedStatus, markOf, nextOf, scheduleOf, styleOf, zoneOf } from '../job-words.ts'
import { runLines } from '../run-lines.ts'
import { safe } from '../screen.ts'
import { away, shortMoment, took, zoneFor } from '../times.ts'

const REASON = 'its process died repeatedly while running it; carillon retry tries it at once'

export const command = define({
  name: 'show',
  group: 'look',
  about: 'one job or one run in full',
  args: [['<job>', 'its name, its id, or the beginning of its id; or the id of a run']],
  examples: [
    ['carillon show email.digest', 'schedule, policies, past and next runs'],
    ['carillon show email.digest --json', 'the job as the HTTP API has it'],
    [
      'carillon show $(carillon runs email.digest --plain --columns id --limit 1)',
      'its newest run, with the payload it got',
    ],
  ],
  run: async (context, [typed]) => {
    const client = await context.client()
    const { signal, globals, screen } = context
    const run = await runById(client, typed as string, signal)
    if (run !== null) return showRun(context, run)
    const job = await findJob(client, typed as string, signal)
    if (globals.json) {
      context.json(job)
      return exits.ok
    }
    const [beat, stats, next] = await Promise.all([
      client.jobs.heartbeat(job.id, 60, { signal }),
      client.jobs.stats(job.id, { signal }),
      client.jobs.upcoming(job.id, 3, { signal }),
    ])
    const now = context.now()
    const zone = zoneFor(globals.tz, zoneOf(job))
    const marked = markedStatus(job)
    const mark = screen.paint(styleOf(marked), `${markOf(marked, screen)} ${job.status}`)
    const lines: (readonly [string, string])[] = [
      ['id', job.id],
      ['schedule', scheduleOf(job)],
      ['next', nextOf(job, now, globals.tz)],
      ...(job.reason === null ? [] : [['reason', `${job.reason}: ${REASON}`] as const]),
      ...next.upcoming.slice(1).map(({ at, note }, i) => {
        const when = Date.parse(at)
        const extra = note === null ? '' : `  (${note})`
        return [
          i === 0 ? 'then' : '',
          `${shortMoment(when, now, zone)}  ${away(when, now)}${extra}`,
        ] as const
      }),
      ['does', workOf(job)],
      ['policies', policiesOf(job)],
      ['queue', `${job.queue}, priority ${job.priority}, tenant ${job.tenant}`],
      ['runs', pastOf(stats)],
      ['last 60', heartbeatBar(beat.slots, screen) || '-'],
      ...(job.error_message === null ? [] : [['last error', job.error_message] as const]),
      ...(job.pause_note === null ? [] : [['note', job.pause_note] as const]),
      ...(job.tags.length === 0 ? [] : [['tags', job.tags.join(', ')] as const]),
      ...(job.declared_by === null ? [] : [['declared by', job.declared_by] as const]),
    ]
    context.print(`${safe(job.name)}  ${mark}`)
    for (const [name, text] of lines) context.print(`  ${name.padEnd(12)}${safe(text)}`)
    return exits.ok
  },
})

/** Names of jobs are looked up otherwise. */
async function runById(client: Api, typed: string, signal: AbortSignal) {
  return /\.\d+$/.test(typed) ? orNull(client.runs.get(typed, { signal })) : null
}

function showRun(context: Context, run: RunDetail): number {
  const { globals, screen } = context
  if (globals.json) {
    context.json(run)
    return exits.ok
  }
  const mark = screen.paint(styleOf(run.status), `${markOf(run.status, screen)} ${run.status}`)
  context.print(`${safe(run.job_name)} #${run.run}  ${mark}`)
  for (const [name, text] of runLines(run, context.now(), zoneFor(globals.tz))) {
    context.print(`  ${name.padEnd(12)}${safe(text)}`)
  }
  return exits.ok
}

function workOf({ action, handler, url }: Job): string {
  if (action === null) return `handler ${handler}`
  const kind = String(action['kind'])
  const what = url ?? (Array.isArray(action['command']) ? action['command'].join(' ') : '')
  return `${kind} ${what}`.trim()
}

function policiesOf(job: Job): string {
  const retries = job.max_retries === null ? 'retries without end' : `${job.max_retries} retries`
  const limit =
    job.timeout_seconds === null
      ? 'no time limit'
      : `stops after ${took(job.timeout_seconds * 1_000)}`
  return `${retries}, ${limit}, overlap ${named(job.overlap)}, missed ${named(job.missed)}`
}

function named(value: unknown): string {
  return typeof value === 'string' ? value : String((value as { policy?: string }).policy)
}

function pastOf(stats: JobStats): string {
  const { total_runs: total, runs, average_duration_ms, skipped_occurrences } = stats
  const rate = runs.success_rate === null ? '' : `, ${(runs.success_rate * 100).toFixed(1)} % ok`
  const retried =
    runs.retried_attempts === 0 ? '' : `, ${runs.retried_attempts} failed attempts retried`
  return `${total}${rate}${retried}, average ${took(average_duration_ms)}, ${skipped_occurrences} skipped`
}
