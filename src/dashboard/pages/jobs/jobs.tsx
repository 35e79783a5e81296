// The list of jobs: filtered by words and qualifiers, in any order, many changed at once.

import { useRead } from '../../data/read.ts'
import { reads, type Job } from '../../data/reads.ts'
import { isAdmin } from '../../data/session.ts'
import { second } from '../../clock.ts'
import { Shown } from '../../parts/conditions.tsx'
import { StateBadge } from '../../parts/glyph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Page } from '../../parts/page.tsx'
import { Schedule, zoneOf } from '../../parts/schedule.tsx'
import { JobLink } from '../../parts/small.tsx'
import { jobLook } from '../../parts/states.ts'
import { Table, type Column } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { useView } from '../../parts/view-state.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../place.ts'
import { parseFilter } from './filter.ts'

const PAGE = 50

const columns: readonly Column<Job>[] = [
  {
    key: 'status',
    head: 'Status',
    sort: 'status',
    cell: job => <StateBadge look={jobLook(job, second.value)} />,
  },
  {
    key: 'name',
    head: 'Name',
    sort: 'name',
    isMain: true,
    cell: job => <JobLink id={job.id} name={job.name} />,
  },
  { key: 'schedule', head: 'Schedule', cell: job => <Schedule trigger={job.trigger} /> },
  {
    key: 'next',
    head: 'Next',
    sort: 'next_run_at',
    cell: job => <Time at={job.next_run_at} zone={zoneOf(job.trigger)} />,
  },
]

export function Jobs() {
  const view = useView()
  const { filter } = parseFilter(view.get('q') ?? '')
  const sort = view.get('sort') ?? '-created_at'
  const read = useRead(reads.jobs({ ...filter, sort, limit: PAGE }))
  const actions = isAdmin.value && (
    <a class="button primary" href={href(pathTo('newJob'))}>
      <Icon name="plus" /> New job
    </a>
  )
  return (
    <Page title="Jobs" actions={actions}>
      <section class="card flush">
        <Shown read={read} lines={8}>
          {({ jobs }) => (
            <Table
              caption="Jobs"
              columns={columns}
              items={jobs}
              keyOf={job => job.id}
              hrefOf={job => href(pathTo('job', { id: job.id }))}
              defaultSort="-created_at"
            />
          )}
        </Shown>
      </section>
    </Page>
  )
}
