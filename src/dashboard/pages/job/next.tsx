// The moments a job will fire next: in its own zone, in yours, and in UTC.

import { second } from '../../clock.ts'
import { ofJob, useRead } from '../../data/read.ts'
import { reads, type Job, type JobUpcoming } from '../../data/reads.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { isSameDay, momentText, relativeText, spanText } from '../../components/format.ts'
import { Card } from '../../components/page.tsx'
import { zoneOf } from '../../components/schedule.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { localZone } from '../../view.ts'

type Moment = JobUpcoming['upcoming'][number] & { readonly gapMs: number | null }

const notes: Readonly<Record<string, string>> = {
  'dst-gap-shifted': 'clocks go forward: shifted',
  'dst-first-of-two': 'clocks go back: the first of two',
  'dst-second-of-two': 'clocks go back: the second of two',
}

export function NextCard({ job }: { readonly job: Job }) {
  const read = useRead(reads.jobUpcoming(job.id), ofJob(job.id))
  const zone = zoneOf(job.trigger)
  return (
    <Card title="Next runs" isFlush>
      <Shown read={read}>
        {({ upcoming }) =>
          upcoming.length === 0 ? (
            <Empty title={job.is_paused ? 'Paused: nothing fires' : 'No run is due'} />
          ) : (
            <Table
              caption="Next runs"
              items={withGaps(upcoming)}
              keyOf={({ at }) => at}
              columns={columnsFor(zone, upcoming.some(isNoted))}
            />
          )
        }
      </Shown>
    </Card>
  )
}

function withGaps(upcoming: JobUpcoming['upcoming']): Moment[] {
  return upcoming.map((moment, at) => {
    const before = upcoming[at - 1]
    return { ...moment, gapMs: before ? Date.parse(moment.at) - Date.parse(before.at) : null }
  })
}

const noteColumn: Column<Moment> = {
  key: 'note',
  head: 'Note',
  cell: ({ note, is_estimate }) =>
    note === null ? (is_estimate ? 'estimate' : '') : (notes[note] ?? note),
}

function isNoted({ note, is_estimate }: JobUpcoming['upcoming'][number]): boolean {
  return note !== null || is_estimate
}

function columnsFor(zone: string | null, hasNotes: boolean): Column<Moment>[] {
  const at = (moment: Moment) => Date.parse(moment.at)
  const isShort = (moment: Moment) => (moment.gapMs ?? 0) < 3_600_000
  const zones = [...new Set([zone ?? localZone, localZone, 'UTC'])]
  // The second reading says its day only where it is another one.
  const inZone = (shown: string) => (moment: Moment) =>
    momentText(at(moment), {
      zone: shown,
      hasSeconds: zone === null && isShort(moment),
      ...(shown !== zones[0] && isSameDay(at(moment), shown, zones[0]!) ? { now: at(moment) } : {}),
    })
  const name = (shown: string) =>
    shown === zone ? `Its zone (${shown})` : shown === localZone ? 'Your time' : shown
  return [
    ...zones.slice(0, 2).map((shown, index): Column<Moment> => ({
      key: `zone${index}`,
      head: name(shown),
      isMain: index === 0,
      cell: inZone(shown),
    })),
    { key: 'in', head: 'When', cell: moment => relativeText(at(moment), second.value) },
    {
      key: 'gap',
      head: 'After',
      cell: ({ gapMs }) => (gapMs === null ? '' : spanText(gapMs)),
    },
    ...(hasNotes ? [noteColumn] : []),
  ]
}
