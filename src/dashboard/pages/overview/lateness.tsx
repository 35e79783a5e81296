// How late runs began in the last day.

import { useRead } from '../../data/read.ts'
import { reads } from '../../data/reads.ts'
import { LatenessChart } from '../../components/lateness.tsx'
import { Empty, Shown } from '../../components/conditions.tsx'
import { Card } from '../../components/page.tsx'

export function LatenessCard() {
  const read = useRead(reads.activity(24))
  return (
    <Card title="Lateness, last 24 h" wide>
      <Shown read={read}>
        {({ lateness }) =>
          lateness.count === 0 ? (
            <Empty title="No scheduled run in 24 h" />
          ) : (
            <LatenessChart lateness={lateness} />
          )
        }
      </Shown>
    </Card>
  )
}
