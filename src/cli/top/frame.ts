// One frame of `carillon top` as lines of text: nothing here reads a clock or a terminal.

import { formatInZone } from '../../cron/index.ts'
import type { Instant } from '../../core/time.ts'
import { markOf, styleOf } from '../job-words.ts'
import { cut, safe, type Screen } from '../screen.ts'
import { table, type Column } from '../table.ts'
import { ago, away, took, zoneFor } from '../times.ts'
import type { Snapshot } from './data.ts'

export interface View {
  readonly now: Instant
  readonly tz: string
  readonly filter: string
  readonly selected: number
  /** What was done, asked or went wrong. */
  readonly message: string
  readonly height: number
}

export interface Row {
  readonly jobId: string
  readonly jobName: string
  readonly tenant: string
  readonly runId: string | null
  readonly status: 'running' | 'queued' | 'next'
  readonly elapsed: string
  readonly progress: string
  readonly node: string
  readonly attempt: string
}

const BAR = 10
const KEYS = '[p]ause [r]un [c]ancel [/]filter [q]uit'

export function rowsOf({ runs, upcoming }: Snapshot, { now, filter }: View): Row[] {
  const open = runs.map(run => ({
    jobId: run.job_id,
    jobName: run.job_name,
    tenant: run.tenant,
    runId: run.id,
    status: run.status === 'running' ? ('running' as const) : ('queued' as const),
    elapsed: ago(Date.parse(run.started_at ?? run.scheduled_for), now),
    progress: barOf(run.progress?.fraction ?? null, run.progress?.note ?? null),
    node: run.owner ?? '-',
    attempt:
      run.attempts_max === null ? String(run.attempts) : `${run.attempts}/${run.attempts_max}`,
  }))
  const next = upcoming.map(one => ({
    jobId: one.job_id,
    jobName: one.job_name,
    tenant: one.tenant,
    runId: null,
    status: 'next' as const,
    elapsed: away(Date.parse(one.at), now),
    progress: one.kind === 'retry' ? 'retry' : '',
    node: '',
    attempt: '',
  }))
  const wanted = filter.toLowerCase()
  return [...open, ...next].filter(row => row.jobName.toLowerCase().includes(wanted))
}

function barOf(fraction: number | null, note: string | null): string {
  if (fraction === null) return note ?? ''
  const full = Math.round(fraction * BAR)
  const percent = `${Math.round(fraction * 100)}%`.padStart(4)
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${percent}${note === null ? '' : ` ${note}`}`
}

export function frameOf(snapshot: Snapshot, view: View, screen: Screen): string[] {
  const width = screen.width ?? 100
  const rows = rowsOf(snapshot, view)
  const columns: readonly Column<Row & { readonly isChosen: boolean }>[] = [
    { key: 'mark', title: ' ', value: row => (row.isChosen ? '>' : ' '), min: 1 },
    {
      key: 'status',
      title: 'STATUS',
      value: row =>
        row.status === 'next' ? 'next' : `${markOf(row.status, screen)} ${row.status}`,
      style: row => (row.status === 'next' ? 'faint' : styleOf(row.status)),
    },
    { key: 'job', title: 'JOB', value: row => row.jobName, min: 10 },
    { key: 'tenant', title: 'TENANT', value: row => row.tenant, drop: 2 },
    { key: 'elapsed', title: 'TIME', value: row => row.elapsed },
    { key: 'progress', title: 'PROGRESS', value: row => row.progress, min: 10 },
    { key: 'node', title: 'NODE', value: row => row.node, drop: 3 },
    { key: 'attempt', title: 'TRY', value: row => row.attempt, drop: 4 },
  ]
  const room = Math.max(1, view.height - 5)
  const shown = rows.slice(0, room).map((row, i) => ({ ...row, isChosen: i === view.selected }))
  const body = table(columns, shown, { ...screen, width })
    .trimEnd()
    .split('\n')
  const left = rows.length > room ? [`… ${rows.length - room} more`] : []
  return [
    cut(headOf(snapshot, view), width),
    screen.paint('faint', cut(KEYS, width)),
    ...(view.filter === '' ? [] : [`filter: ${safe(view.filter)}`]),
    ...body,
    ...(rows.length === 0 ? ['  nothing runs, nothing is due within the hour'] : []),
    ...left,
    ...(view.message === '' ? [] : [cut(safe(view.message), width)]),
  ]
}

function headOf({ system, metrics, runs }: Snapshot, { now, tz }: View): string {
  const clock = formatInZone(now - (now % 1_000), zoneFor(tz)).split(' ')
  const slots = system.nodes.reduce((sum, node) => sum + (node.slots ?? 0), 0)
  const running = runs.filter(({ status }) => status === 'running').length
  const queued = runs.length - running
  const ticked = system.last_tick_at === null ? null : now - Date.parse(system.last_tick_at)
  const parts = [
    clock.slice(-2).join(' '),
    `nodes ${system.nodes.length}`,
    ticked === null ? 'no tick' : `tick ${took(Math.max(0, ticked))} ago`,
    `run ${running}/${slots}`,
    `queued ${queued}`,
    `jobs ${metrics.jobs.scheduled + metrics.jobs.running} active, ${metrics.jobs.paused} paused, ` +
      `${metrics.jobs.failed} failed`,
  ]
  return parts.join('  ')
}
