// The newest runs of a job.

import { ofJob, useRead } from '../../data/read.ts'
import { reads, type Job, type Run } from '../../data/reads.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { spanText } from '../../components/format.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { Card } from '../../components/page.tsx'
import { zoneOf } from '../../components/schedule.tsx'
import { runHref } from '../../components/links.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'

const SHOWN = 15

export function RunsCard({ job }: { readonly job: Job }) {
  const read = useRead(reads.runs({ job: job.id, limit: SHOWN }), ofJob(job.id))
  return (
    <Card title="Newest runs" isFlush>
      <Shown read={read}>
        {({ runs }) =>
          runs.length === 0 ? (
            <FirstRun job={job} />
          ) : (
            <Table
              caption="Newest runs"
              items={runs}
              keyOf={({ id }) => id}
              columns={columnsFor(zoneOf(job.trigger))}
            />
          )
        }
      </Shown>
    </Card>
  )
}

function FirstRun({ job }: { readonly job: Job }) {
  return (
    <Empty title="No runs yet">
      {job.next_run_at !== null && (
        <>
          The first is <Time at={job.next_run_at} show="relative" />.
        </>
      )}
    </Empty>
  )
}

function columnsFor(zone: string | null): Column<Run>[] {
  return [
    {
      key: 'at',
      head: 'Due',
      isMain: true,
      cell: run => {
        const to = runHref(run.id)
        const time = <Time at={run.scheduled_for} zone={zone} show="moment" hasSeconds />
        return to === null ? time : <a href={to}>{time}</a>
      },
    },
    { key: 'state', head: 'State', cell: run => <StateBadge state={run.status} /> },
    {
      key: 'took',
      head: 'Took',
      align: 'end',
      cell: ({ duration_ms }) => (duration_ms === null ? '' : spanText(duration_ms)),
    },
    {
      key: 'late',
      head: 'Late',
      align: 'end',
      cell: ({ late_ms }) => (late_ms === null ? '' : spanText(late_ms)),
    },
    {
      key: 'attempts',
      head: 'Attempts',
      align: 'end',
      cell: ({ attempts, attempts_max }) =>
        attempts_max === null ? String(attempts) : `${attempts}/${attempts_max}`,
    },
    {
      key: 'error',
      head: 'Error/Result',
      cell: ({ error_message, reason, origin }) => (
        <span class="run-note dim small">
          {error_message ?? reason ?? (origin === 'schedule' ? '' : origin)}
        </span>
      ),
    },
  ]
}
