// The timeline as a table: the same runs, for eyes and readers that do not take drawings.

import type { Timeline } from '../../data/reads.ts'
import { plural, spanText } from '../../components/format.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'

const TABLE_MAX = 300

interface TableRow {
  readonly key: string
  readonly at: number
  readonly jobId: string | null
  readonly jobName: string
  readonly tenant: string
  readonly state: string
  readonly runId: string | null
  readonly tookMs: number | null
}

const columns: readonly Column<TableRow>[] = [
  { key: 'at', head: 'Start', cell: row => <Time at={row.at} hasSeconds /> },
  {
    key: 'job',
    head: 'Job',
    isMain: true,
    cell: row => {
      const path =
        row.runId === null
          ? row.jobId && pathTo('job', { id: row.jobId })
          : pathTo('run', { id: row.runId })
      return path === null ? row.jobName : <a href={href(path)}>{row.jobName}</a>
    },
  },
  { key: 'tenant', head: 'Tenant', cell: row => row.tenant },
  { key: 'state', head: 'State', cell: row => <StateBadge state={row.state} /> },
  {
    key: 'took',
    head: 'Took',
    align: 'end',
    cell: row => (row.tookMs === null ? <span class="dim">–</span> : spanText(row.tookMs)),
  },
]

/** What was and what comes, in the order of time; those nearest to now when there are many. */
export function AsTable({ data }: { readonly data: Timeline }) {
  const now = Date.parse(data.now)
  const all = data.rows.flatMap(({ job_id, label, tenant, runs, upcoming }): TableRow[] => {
    const of = { jobId: job_id, tenant: tenant ?? '–' }
    return [
      ...runs.map(run => ({
        ...of,
        jobName: run.job_name,
        key: run.execution_id,
        at: Date.parse(run.started_at),
        state: run.is_retried ? 'retrying' : run.status,
        runId: run.run_id,
        tookMs:
          run.finished_at === null
            ? null
            : Date.parse(run.finished_at) - Date.parse(run.started_at),
      })),
      ...upcoming.map(({ at, job_name: jobName }) => ({
        ...of,
        jobName,
        key: `${label} ${jobName} ${at}`,
        at: Date.parse(at),
        state: 'scheduled',
        runId: null,
        tookMs: null,
      })),
    ]
  })
  const near = all.sort((a, b) => Math.abs(a.at - now) - Math.abs(b.at - now)).slice(0, TABLE_MAX)
  const isSummed = data.rows.some(({ parts, coming }) => parts.length + coming.length > 0)
  return (
    <>
      {isSummed && (
        <p class="note-line">
          Too many to list one by one: look closer, or choose a tenant or a job.
        </p>
      )}
      {all.length > TABLE_MAX && (
        <p class="note-line">
          The {TABLE_MAX} nearest to now of {plural(all.length, 'run')}.
        </p>
      )}
      <Table
        caption="Past and coming runs"
        columns={columns}
        items={near.sort((a, b) => a.at - b.at)}
        keyOf={row => row.key}
      />
    </>
  )
}
