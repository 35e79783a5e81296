// Who wanted how much, who got it and who waits: the queue's fairness, by tenant.

import { useEffect } from 'preact/hooks'
import { every } from '../../clock.ts'
import { reads, type Fairness, type Share, type Tenants as Counts } from '../../data/reads.ts'
import { useRead } from '../../data/read.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { countText, percentText, plural, spanText } from '../../components/format.ts'
import { Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Segments } from '../../components/segments.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { useView } from '../../components/view-state.ts'
import { paths } from '../../paths.ts'
import { href } from '../../href.ts'

const PAGE = 50
const LOOK_MS = 10_000
const windows = [
  ['15', '15 m'],
  ['60', '1 h'],
  ['360', '6 h'],
  ['1440', '24 h'],
] as const

/** Its share of the work is so much below its share of the demand that it is marked. */
const GAP = 0.1
/** Waits so many times longer than the others. */
const STARVED = 5
const STARVED_MS = 10_000

export function Tenants() {
  const view = useView()
  const minutes = windows.find(([name]) => name === view.get('minutes'))?.[0] ?? '60'
  const shares = useRead(reads.fairness({ minutes }))
  const counts = useRead(reads.tenants({ limit: PAGE, cursor: view.get('cursor') }))
  useEffect(() => every(LOOK_MS, shares.reload), [minutes])
  return (
    <Page
      title="Tenants"
      about="Tenants take turns; within one, what is more urgent and what waited longer goes first."
      actions={
        <Segments
          label="Window"
          value={minutes}
          options={windows}
          onChange={value => view.set({ minutes: value === '60' ? null : value })}
        />
      }
    >
      <Card title="Demand and service" isFlush>
        <Shown read={shares}>{data => <Shares data={data} />}</Shown>
      </Card>
      <Card title="Jobs by tenant" isFlush>
        <Shown read={counts}>
          {({ tenants, next_cursor }) => (
            <>
              <CountsTable tenants={tenants} />
              <Pager shown={tenants.length} of="tenants" next={next_cursor} />
            </>
          )}
        </Shown>
      </Card>
    </Page>
  )
}

function Shares({ data }: { readonly data: Fairness }) {
  const { tenants, index } = data
  if (tenants.length === 0) {
    return (
      <Empty
        title="No demand in this time"
        actions={
          <a class="button" href={href(paths.timeline)}>
            Timeline
          </a>
        }
      />
    )
  }
  const starved = starvedOf(tenants)
  return (
    <>
      <Figures data={data} />
      {data.complete_since !== data.from && (
        <p class="note-line">
          There was much to do: shares are of the newest{' '}
          {plural(
            tenants.reduce((sum, one) => sum + one.served, 0),
            'run',
          )}
          .
        </p>
      )}
      <Table
        caption={`What each tenant wanted and got; fairness ${index?.toFixed(2) ?? 'unknown'}`}
        columns={columnsOf(starved)}
        items={tenants}
        keyOf={one => one.tenant}
      />
    </>
  )
}

function Figures({ data: { tenants, index } }: { readonly data: Fairness }) {
  const sum = (pick: (one: Share) => number) => tenants.reduce((all, one) => all + pick(one), 0)
  const oldest = Math.max(...tenants.map(one => one.oldest_wait_ms))
  const figures = [
    ['Fairness (1.00 is even)', index === null ? '–' : index.toFixed(2)],
    ['Tenants with demand', countText(tenants.length)],
    ['Runs', countText(sum(one => one.served))],
    ['Waiting now', countText(sum(one => one.waiting))],
    ['Oldest wait', oldest === 0 ? 'none' : spanText(oldest, { isCoarse: true })],
  ] as const
  return (
    <dl class="figures padded">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Those who wait much longer than the others while the others were served. */
export function starvedOf(tenants: readonly Share[]): ReadonlySet<string> {
  const waits = tenants.map(one => one.oldest_wait_ms).sort((a, b) => a - b)
  const usual = waits[Math.floor((waits.length - 1) / 2)] ?? 0
  const isStarved = ({ oldest_wait_ms }: Share) =>
    oldest_wait_ms > STARVED_MS && oldest_wait_ms > STARVED * usual
  return new Set(tenants.length < 2 ? [] : tenants.filter(isStarved).map(one => one.tenant))
}

function columnsOf(starved: ReadonlySet<string>): readonly Column<Share>[] {
  return [
    {
      key: 'tenant',
      head: 'Tenant',
      isMain: true,
      cell: ({ tenant }) => (
        <span class="row">
          <a href={href(paths.jobs, { q: `tenant:${tenant}` })}>{tenant}</a>
          {starved.has(tenant) && <span class="chip wrong">starved</span>}
        </span>
      ),
    },
    { key: 'shares', head: 'Demand and share', cell: one => <SharePair share={one} /> },
    { key: 'served', head: 'Runs', align: 'end', cell: one => countText(one.served) },
    {
      key: 'worked',
      head: 'Busy time',
      align: 'end',
      cell: one => spanText(one.served_ms, { isCoarse: one.served_ms > 60_000 }),
    },
    { key: 'waiting', head: 'Waiting', align: 'end', cell: one => countText(one.waiting) },
    {
      key: 'oldest',
      head: 'Oldest wait',
      align: 'end',
      cell: one => (one.oldest_wait_ms === 0 ? '–' : spanText(one.oldest_wait_ms)),
    },
    {
      key: 'waits',
      head: 'Wait p50 / p95',
      align: 'end',
      cell: ({ wait_p50_ms, wait_p95_ms }) =>
        wait_p50_ms === null ? '–' : `${spanText(wait_p50_ms)} / ${spanText(wait_p95_ms ?? 0)}`,
    },
    {
      key: 'failed',
      head: 'Failed',
      align: 'end',
      cell: ({ failed, served }) => (served === 0 ? '–' : percentText(failed / served)),
    },
  ]
}

/** Two bars on one axis: above what was wanted, below what was got. */
function SharePair({ share }: { readonly share: Share }) {
  const { demand_share, served_share } = share
  const isShort = demand_share - served_share > GAP
  const text = `wanted ${percentText(demand_share)}, got ${percentText(served_share)}`
  return (
    <span class="share-pair">
      <svg viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label={text}>
        <rect class="rest" x="0" y="0" width="100" height="12" />
        <rect class="wanted" x="0" y="0" width={demand_share * 100} height="5" />
        <rect class={isShort ? 'got short' : 'got'} y="7" width={served_share * 100} height="5" />
      </svg>
      <span class="small numbers" aria-hidden="true">
        {percentText(demand_share)} / {percentText(served_share)}
      </span>
    </span>
  )
}

type Count = Counts['tenants'][number]

const counted: readonly Column<Count>[] = [
  {
    key: 'tenant',
    head: 'Tenant',
    isMain: true,
    cell: ({ tenant }) => <a href={href(paths.jobs, { q: `tenant:${tenant}` })}>{tenant}</a>,
  },
  ...(['total', 'waiting', 'running', 'paused', 'failed', 'completed'] as const).map(
    (state): Column<Count> => ({
      key: state,
      head: state.slice(0, 1).toUpperCase() + state.slice(1),
      align: 'end',
      cell: one => (one[state] === 0 ? <span class="dim">0</span> : countText(one[state])),
    }),
  ),
  {
    key: 'links',
    head: 'See',
    cell: ({ tenant }) => (
      <span class="row">
        <a href={href(paths.runs, { tenant })}>Runs</a>
        <a href={href(paths.timeline, { tenant })}>Timeline</a>
      </span>
    ),
  },
]

function CountsTable({ tenants }: { readonly tenants: readonly Count[] }) {
  if (tenants.length === 0) {
    return <Empty title="No tenant has a job yet">The first job makes the first tenant.</Empty>
  }
  return (
    <Table
      caption="Jobs and tasks by tenant and state"
      columns={counted}
      items={tenants}
      keyOf={one => one.tenant}
    />
  )
}
