// The columns of the list of jobs.

import { second } from '../../clock.ts'
import type { Job, Slot } from '../../data/reads.ts'
import { isOperator } from '../../data/session.ts'
import { allowed, jobActions } from '../../jobs/job-actions.ts'
import { JobMenu } from '../../jobs/job-menu.tsx'
import { relativeText, spanText } from '../../components/format.ts'
import { Glyph, StateBadge } from '../../components/glyph.tsx'
import { HeartbeatBar, slotState } from '../../components/heartbeat.tsx'
import { Icon } from '../../components/icon.tsx'
import { Schedule, zoneOf } from '../../components/schedule.tsx'
import { JobLink } from '../../components/links.tsx'
import { jobLook, lookOf } from '../../components/states.ts'
import type { Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { href } from '../../href.ts'
import { paths } from '../../paths.ts'

export interface Dialogs {
  readonly run: (job: Job) => void
  readonly pause: (job: Job) => void
  readonly why: (job: Job) => void
}

interface ColumnOptions {
  readonly selected: ReadonlySet<string>
  readonly isAll: boolean
  readonly toggle: (id: string) => void
  readonly marks: ReadonlyMap<string, readonly Slot[]>
  readonly dialogs: Dialogs
}

const BEATS = 30

export function columnsOf({
  selected,
  isAll,
  toggle,
  marks,
  dialogs,
}: ColumnOptions): Column<Job>[] {
  return [
    ...(isOperator.value ? [boxOf({ selected, isAll, toggle })] : []),
    {
      key: 'name',
      head: 'Name',
      sort: 'name',
      isMain: true,
      width: 190,
      cell: job => <Name job={job} />,
    },
    {
      key: 'status',
      head: 'Status',
      sort: 'status',
      width: 120,
      cell: job => <StateBadge look={jobLook(job, second.value)} />,
    },
    {
      key: 'schedule',
      head: 'Schedule',
      width: 170,
      drop: 2,
      cell: job => <Schedule trigger={job.trigger} />,
    },
    {
      key: 'next',
      head: 'Next',
      sort: 'next_run_at',
      width: 160,
      cell: job => <Next job={job} />,
    },
    {
      key: 'beat',
      width: 220,
      drop: 1,
      head: 'Last 30',
      cell: job => (
        <span class="beat">
          <HeartbeatBar
            slots={marks.get(job.id) ?? []}
            size={BEATS}
            zone={zoneOf(job.trigger)}
            graceMs={job.grace_seconds * 1_000}
            isCompact
          />
          <Last slots={marks.get(job.id) ?? []} />
        </span>
      ),
    },
    {
      key: 'act',
      width: 120,
      head: <span class="away-from-sight">Actions</span>,
      isBare: true,
      align: 'end',
      cell: job => <RowActions job={job} dialogs={dialogs} />,
    },
  ]
}

function boxOf({
  selected,
  isAll,
  toggle,
}: Pick<ColumnOptions, 'selected' | 'isAll' | 'toggle'>): Column<Job> {
  return {
    key: 'box',
    width: 40,
    head: <span class="away-from-sight">Select</span>,
    isBare: true,
    cell: job => (
      <input
        type="checkbox"
        aria-label={`Select ${job.name}`}
        checked={isAll || selected.has(job.id)}
        onChange={() => toggle(job.id)}
      />
    ),
  }
}

function Name({ job }: { readonly job: Job }) {
  return (
    <span class="name">
      <JobLink id={job.id} name={job.name} />
      <span class="row small dim name-more">
        <a href={href(paths.jobs, { q: `tenant:${job.tenant}` })}>{job.tenant}</a>
        {job.declared_by !== null && <span title="Declared in code">code</span>}
        {job.tags.slice(0, 3).map(tag => (
          <a key={tag} class="tag" href={href(paths.jobs, { q: `tag:${quoted(tag)}` })}>
            {tag}
          </a>
        ))}
      </span>
    </span>
  )
}

function quoted(text: string): string {
  return /\s/.test(text) ? `"${text}"` : text
}

function Next({ job }: { readonly job: Job }) {
  if (job.is_paused) {
    return (
      <span class="stacked">
        {job.paused_until === null ? (
          <span class="dim">until resumed</span>
        ) : (
          <span>
            until <Time at={job.paused_until} zone={zoneOf(job.trigger)} show="moment" />
          </span>
        )}
        {job.pause_note !== null && <span class="dim small cut-text">{job.pause_note}</span>}
      </span>
    )
  }
  return (
    <span class="stacked">
      <Time at={job.next_run_at} zone={zoneOf(job.trigger)} show="moment" />
      {job.next_run_at !== null && (
        <span class="dim small">
          <Time at={job.next_run_at} show="relative" />
        </span>
      )}
    </span>
  )
}

function Last({ slots }: { readonly slots: readonly Slot[] }) {
  const last = slots.findLast(({ running }) => running === 0)
  if (last === undefined) return <span class="dim small">no firing yet</span>
  const took = last.duration_ms === null ? '' : ` · ${spanText(last.duration_ms)}`
  return (
    <span class="dim small row last-run">
      <Glyph look={lookOf(slotState(last))} />
      <span>
        {relativeText(Date.parse(last.from), second.value)}
        {took}
      </span>
    </span>
  )
}

function RowActions({ job, dialogs }: { readonly job: Job; readonly dialogs: Dialogs }) {
  const can = allowed(job)
  return (
    <span class="row-actions">
      {isOperator.value && can.run && (
        <Act icon="play" name={`Run ${job.name}`} onClick={() => dialogs.run(job)} />
      )}
      {isOperator.value && can.pause && (
        <Act icon="pause" name={`Pause ${job.name}`} onClick={() => dialogs.pause(job)} />
      )}
      {isOperator.value && can.resume && (
        <Act
          icon="resume"
          name={`Resume ${job.name}`}
          onClick={() => void jobActions.resume(job)}
        />
      )}
      <JobMenu job={job} onWhy={() => dialogs.why(job)} />
    </span>
  )
}

interface ActProps {
  readonly icon: 'play' | 'pause' | 'resume'
  readonly name: string
  readonly onClick: () => void
}

function Act({ icon, name, onClick }: ActProps) {
  return (
    <button type="button" class="bare" title={name} aria-label={name} onClick={onClick}>
      <Icon name={icon} />
    </button>
  )
}
