// What would become of the stored jobs: each difference, its next runs before and after, and what
// it means for a run that is going on.

import type { Job, Reconciliation } from '../../client/index.ts'
import type { Api } from '../target/api.ts'
import type { Instant } from '../../core/time.ts'
import { momentsOf, type TriggerBody } from '../../move/moments.ts'
import type { Context } from '../context.ts'
import { safe } from '../screen.ts'
import { shortMoment, zoneFor } from '../times.ts'
import type { FileSet } from './files.ts'

export type Difference = Reconciliation['differences'][number]

const SHOWN = 3
const AT_ONCE = 8
const TEXT_MAX = 60

const marks: Readonly<Record<Difference['kind'], string>> = {
  added: '+',
  changed: '~',
  archived: '-',
  forgotten: '-',
  kept: '?',
  newer: '?',
}

export async function planText(
  context: Context,
  set: FileSet,
  { tenant, app, declared, differences }: Reconciliation,
): Promise<string> {
  const stored = await storedOf(context, differences)
  const files = new Map(
    set.jobs.map(({ definition, key, job }) => [
      [tenant, app, definition, key].map(encodeURIComponent).join(':'),
      job['trigger'] as TriggerBody | undefined,
    ]),
  )
  const lines = differences.flatMap(one => {
    const job = stored.get(one.id) ?? null
    const head = `  ${marks[one.kind]} ${one.name}  ${wordOf(one)}`.trimEnd()
    const notes = notesOf(context, one, job, files.get(one.id) ?? null)
    return [head, ...notes.map(([name, text]) => `      ${name.padEnd(8)} ${text}`)].map(safe)
  })
  return [...lines, countsOf(differences, declared)].join('\n')
}

function wordOf({ kind, schedule }: Difference): string {
  switch (kind) {
    case 'added':
      return schedule
    case 'changed':
      return ''
    case 'archived':
    case 'forgotten':
      return 'no longer in the files: archived, its history stays'
    case 'kept':
      return 'not in the files, and stays'
    case 'newer':
      return 'stored by a newer generation, and stays'
  }
}

type NoteRow = readonly [name: string, text: string]

function notesOf(
  context: Context,
  { kind, fields }: Difference,
  job: Job | null,
  trigger: TriggerBody | null,
): NoteRow[] {
  const now = context.now()
  const times = (moments: readonly Instant[], zone: string | null) =>
    moments.map(at => shortMoment(at, now, zoneFor(context.globals.tz, zone))).join(', ') || 'none'
  const zone = trigger !== null && 'cron' in trigger ? (trigger.timezone ?? 'UTC') : null
  const later = trigger === null ? [] : momentsOf({ trigger, next: null, now, count: SHOWN })
  if (kind === 'added') return trigger === null ? [] : [['next', times(later, zone)]]
  const before = job === null ? '' : times(nextOf(job, now), null)
  if (kind === 'archived') {
    const isRunning = job?.status === 'running'
    return [
      ['next', `${before} → none`],
      ...(isRunning ? [['running', 'its run is cancelled'] as const] : []),
    ]
  }
  if (kind !== 'changed') return []
  const isMoved = fields.some(({ field }) => field === 'trigger')
  return [
    ...fields.map(({ field, from, to }): NoteRow => [field, `${shown(from)} → ${shown(to)}`]),
    ...(isMoved && job?.status !== 'paused'
      ? [['next', `${before} → ${times(later, zone)}`] as const]
      : [['next', `${before} (stays)`] as const]),
    ...(job?.status === 'running'
      ? [['running', 'its run goes on as it began; the change holds from the next one'] as const]
      : []),
  ]
}

function nextOf(job: Job, now: Instant): Instant[] {
  if (job.next_run_at === null) return []
  const next = Date.parse(job.next_run_at)
  return momentsOf({ trigger: job.trigger as TriggerBody, next, now, count: SHOWN })
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text
}

async function storedOf(
  context: Context,
  differences: readonly Difference[],
): Promise<Map<string, Job>> {
  const client: Api = await context.client()
  const { signal } = context
  const wanted = differences.filter(({ kind }) => kind === 'changed' || kind === 'archived')
  const found = new Map<string, Job>()
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const bite = wanted.slice(at, at + AT_ONCE)
    const jobs = await Promise.all(bite.map(({ id }) => client.jobs.get(id, { signal })))
    for (const job of jobs) found.set(job.id, job)
  }
  return found
}

export function countOf(differences: readonly Difference[], kind: Difference['kind']): number {
  return differences.filter(one => one.kind === kind).length
}

export function countsOf(differences: readonly Difference[], declared: number): string {
  const [added, changed, archived, newer] = (
    ['added', 'changed', 'archived', 'newer'] as const
  ).map(kind => countOf(differences, kind)) as [number, number, number, number]
  const rest = declared - added - changed - newer
  return `${added} to add, ${changed} to change, ${archived} to archive, ${rest} unchanged`
}

/** So much goes that a slip of the hand is likelier than a wish. */
export function isMass(differences: readonly Difference[], declared: number): boolean {
  const gone = countOf(differences, 'archived')
  const stored = declared - countOf(differences, 'added') + gone
  return gone >= MASS || (gone > 1 && gone > stored / 2)
}

const MASS = 10
