// What needs attention, what comes next, what runs now.

import { useRead } from '../../data/read.ts'
import { reads } from '../../data/reads.ts'
import { Shown } from '../../parts/conditions.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { JobLink } from '../../parts/small.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'

export function Overview() {
  const read = useRead(reads.upcoming({ limit: 20 }))
  return (
    <Page title="Overview">
      <Card title="Upcoming" isFlush>
        <Shown read={read}>
          {({ upcoming }) => (
            <Table
              caption="Upcoming"
              items={upcoming}
              keyOf={one => `${one.job_id} ${one.at}`}
              columns={[
                { key: 'at', head: 'When', cell: one => <Time at={one.at} zone={one.timezone} /> },
                {
                  key: 'job',
                  head: 'Job',
                  isMain: true,
                  cell: one => <JobLink id={one.job_id} name={one.job_name} />,
                },
              ]}
            />
          )}
        </Shown>
      </Card>
    </Page>
  )
}
