// What fires next: how dense it is, where it gets crowded, and the first of it.

import { now } from '../../clock.ts'
import { useRead } from '../../data/read.ts'
import { reads, type UpcomingAll } from '../../data/reads.ts'
import { isOperator } from '../../data/session.ts'
import { jobActions } from '../../jobs/job-actions.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { countText, momentText } from '../../components/format.ts'
import { Icon } from '../../components/icon.tsx'
import { Card } from '../../components/page.tsx'
import { Bars } from '../../components/bars.tsx'
import { JobLink } from '../../components/links.tsx'
import { Segments } from '../../components/segments.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { useView } from '../../components/view-state.ts'
import { paths } from '../../paths.ts'
import { href } from '../../href.ts'
import { zoneFor } from '../../view.ts'

const ranges = [
  ['1', '1 h'],
  ['6', '6 h'],
  ['24', '24 h'],
  ['168', '7 d'],
] as const

const HOUR = 3_600_000
const SHOWN = 10
/** More starts in a minute than this many times the usual, and spreading them would help. */
const CROWD = 5

type Coming = UpcomingAll['upcoming'][number]

export function UpcomingCard() {
  const view = useView()
  const range = ranges.find(([value]) => value === view.get('ahead'))?.[0] ?? '1'
  // By whole minutes, so that the question stays the same while nothing changes.
  const minute = Math.floor(now() / 60_000) * 60_000
  const to = new Date(minute + Number(range) * HOUR).toISOString()
  const read = useRead(reads.upcoming(range === '1' ? { limit: 20 } : { limit: 20, to }))
  return (
    <Card
      title="Upcoming"
      aside={
        <Segments
          label="How far ahead"
          value={range}
          options={ranges}
          onChange={value => view.set({ ahead: value === '1' ? null : value })}
        />
      }
      isFlush
    >
      <Shown read={read}>{data => <Ahead data={data} />}</Shown>
    </Card>
  )
}

function Ahead({ data }: { readonly data: UpcomingAll }) {
  const { upcoming, buckets, moments, is_estimate: isEstimate } = data
  if (moments === 0) {
    return <Empty title="Nothing fires in this time" />
  }
  const zone = zoneFor('UTC')
  const counts = buckets.map(({ count }) => count)
  const isCrowd = crowdIn(counts)
  return (
    <>
      <div class="strip">
        <Bars
          label={`${moments} starts`}
          counts={counts}
          isMarked={at => isCrowd(counts[at]!)}
          isUnknown={at => isEstimate && (buckets[at + 1]?.from ?? data.to) > data.complete_until}
          titleOf={at => {
            const { from, count } = buckets[at]!
            return `${momentText(Date.parse(from), { zone })}: ${count}`
          }}
        />
        <div class="row between dim small">
          <Time at={data.from} show="moment" />
          <span>
            {isEstimate && 'at least '}
            {countText(moments)} starts
          </span>
          <Time at={data.to} show="moment" />
        </div>
        <Known data={data} />
        <Crowds data={data} />
      </div>
      <Table
        caption="The next firings"
        items={upcoming.slice(0, SHOWN)}
        keyOf={one => `${one.job_id} ${one.at} ${one.kind}`}
        columns={columns}
      />
    </>
  )
}

const columns: readonly Column<Coming>[] = [
  {
    key: 'job',
    head: 'Job',
    isMain: true,
    cell: one => (
      <>
        <JobLink id={one.job_id} name={one.job_name} />{' '}
        <span class="dim small">
          {one.tenant}
          {one.kind === 'retry' && ' · retry'}
        </span>
      </>
    ),
  },
  {
    key: 'when',
    head: 'When',
    cell: one => <Time at={one.at} zone={one.timezone} hasSeconds={one.timezone === 'UTC'} />,
  },
  {
    key: 'run',
    head: <span class="away-from-sight">Run now</span>,
    isBare: true,
    align: 'end',
    cell: one => <RunButton one={one} />,
  },
]

function RunButton({ one }: { readonly one: Coming }) {
  if (!isOperator.value) return null
  return (
    <button
      type="button"
      class="bare"
      title={`Run ${one.job_name} now`}
      aria-label={`Run ${one.job_name} now`}
      onClick={() => void jobActions.run({ id: one.job_id, name: one.job_name })}
    >
      <Icon name="play" />
    </button>
  )
}

/** What the counts leave out, where they do. */
function Known({ data }: { readonly data: UpcomingAll }) {
  const { jobs, jobs_looked_at: looked, overdue, is_estimate: isEstimate } = data
  const zone = zoneFor('UTC')
  return (
    <>
      {overdue > 0 && (
        <p class="dim small">
          and <a href={href(paths.jobs, { q: 'late:>0s' })}>{countText(overdue)} due already</a>
        </p>
      )}
      {isEstimate && (
        <p class="crowd small">
          <Icon name="warn" /> Looked at {countText(looked)} of {countText(jobs)} jobs, complete
          until {momentText(Date.parse(data.complete_until), { zone, hasSeconds: true })}. In the
          hatched part more may start.
        </p>
      )}
    </>
  )
}

function crowdIn(counts: readonly number[]): (count: number) => boolean {
  const some = counts.filter(count => count > 0).sort((a, b) => a - b)
  const median = some[Math.floor(some.length / 2)] ?? 0
  return count => count > 5 && count > CROWD * median
}

function Crowds({ data }: { readonly data: UpcomingAll }) {
  const isCrowd = crowdIn(data.buckets.map(({ count }) => count))
  const worst = data.crowds[0]
  if (worst === undefined || !isCrowd(worst.count)) return null
  const at = momentText(Date.parse(worst.from), { zone: zoneFor('UTC'), now: now() })
  return (
    <p class="crowd small">
      <Icon name="warn" /> {countText(worst.count)} start at {at}. Jitter would spread them.
    </p>
  )
}
