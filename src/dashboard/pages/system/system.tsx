// The processes behind it all: their loops, what they hold, the store, and what went wrong.

import { useEffect } from 'preact/hooks'
import { every, second } from '../../clock.ts'
import { never, useRead } from '../../data/read.ts'
import { reads, type Run, type System } from '../../data/reads.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { DemoCard } from '../../components/demo.tsx'
import { Facts } from '../../components/facts.tsx'
import { spanText } from '../../components/format.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { Icon } from '../../components/icon.tsx'
import { Card, Page } from '../../components/page.tsx'
import { JobLink } from '../../components/links.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { paths, pathTo } from '../../paths.ts'
import { base, href } from '../../href.ts'
import { Counters, Counts } from './counts.tsx'

const LOOK_MS = 5_000
const HELD_SHOWN = 20
const SILENT_MS = 45_000
const SKEW_MS = 1_000

export function SystemPage() {
  const system = useRead(reads.system(), never)
  const metrics = useRead(reads.metrics())
  const held = useRead(reads.runs({ status: 'running', limit: HELD_SHOWN }))
  useEffect(() => every(LOOK_MS, system.reload), [])
  return (
    <Page
      title="System"
      about={system.data && <About system={system.data} />}
      actions={
        <a class="button" href={`${base}/openapi.json`} target="_blank" rel="noreferrer">
          API description
        </a>
      }
    >
      <Shown read={system}>
        {data => (
          <div class="cards">
            <Nodes system={data} />
            <StoreCard system={data} />
            <Card title="Jobs and runs">
              <Shown read={metrics}>{counts => <Counts metrics={counts} />}</Shown>
            </Card>
            {data.counters !== null && <Counters counters={data.counters} />}
            <DemoCard />
            <Card title="Held now" wide isFlush aside="leases by run">
              <Shown read={held}>{({ runs }) => <Held runs={runs} />}</Shown>
            </Card>
          </div>
        )}
      </Shown>
    </Page>
  )
}

function About({ system }: { readonly system: System }) {
  return (
    <span>
      Carillon {system.version} · this process serves for{' '}
      {spanText(system.uptime_ms, { isCoarse: true })} · loop {system.state}
    </span>
  )
}

type Node = System['nodes'][number]

function nodeColumns(now: number): readonly Column<Node>[] {
  return [
    {
      key: 'id',
      head: 'Node',
      isMain: true,
      cell: ({ id, is_this }) => (
        <span class="row">
          <span class="mono">{id}</span>
          {is_this && <span class="chip">this process</span>}
        </span>
      ),
    },
    {
      key: 'state',
      head: 'State',
      cell: node => <NodeState node={node} now={now} />,
    },
    {
      key: 'tick',
      head: 'Last tick',
      cell: node => <Time at={node.last_tick_at} show="relative" />,
    },
    { key: 'up', head: 'Started', cell: node => <Time at={node.started_at} show="relative" /> },
    {
      key: 'slots',
      head: 'Slots',
      cell: ({ running, slots }) => <Slots running={running ?? 0} slots={slots ?? 0} />,
    },
    {
      key: 'skew',
      head: 'Clock against store',
      align: 'end',
      cell: ({ clock_offset_ms: skew }) =>
        skew === null ? (
          '–'
        ) : (
          <span class={Math.abs(skew) > SKEW_MS ? 'bad' : undefined}>{Math.round(skew)} ms</span>
        ),
    },
    {
      key: 'handlers',
      head: 'Handlers',
      cell: ({ handlers }) => (handlers === null ? '–' : <Names names={handlers} />),
    },
    {
      key: 'queues',
      head: 'Queues',
      cell: ({ queues }) =>
        queues === null ? '–' : queues.length === 0 ? 'every' : queues.join(', '),
    },
  ]
}

function NodeState({ node, now }: { readonly node: Node; readonly now: number }) {
  const at = node.last_tick_at === null ? null : Date.parse(node.last_tick_at)
  const isSilent = node.state === 'running' && (at === null || now - at > SILENT_MS)
  if (isSilent) return <StateBadge state="failed">silent</StateBadge>
  const isWell = node.state === 'running'
  return <StateBadge state={isWell ? 'completed' : 'paused'}>{node.state}</StateBadge>
}

function Names({ names }: { readonly names: readonly string[] }) {
  const shown = names.slice(0, 4)
  return (
    <span class="small" title={names.join('\n')}>
      {shown.join(', ')}
      {names.length > shown.length && ` and ${names.length - shown.length} more`}
    </span>
  )
}

function Slots({ running, slots }: { readonly running: number; readonly slots: number }) {
  const share = slots === 0 ? 0 : Math.min(1, running / slots)
  return (
    <span class="share-pair">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="rest" width="100" height="8" />
        <rect class="got" width={share * 100} height="8" />
      </svg>
      <span class="small numbers">
        {running} of {slots}
      </span>
    </span>
  )
}

function Nodes({ system }: { readonly system: System }) {
  return (
    <Card title="Nodes" wide isFlush>
      {system.nodes.length === 0 ? (
        <Empty title="No process runs jobs">
          Start one: <code>carillon serve</code>, or a program with a scheduler on this store.
        </Empty>
      ) : (
        <Table
          caption="Processes that run jobs"
          columns={nodeColumns(second.value)}
          items={system.nodes}
          keyOf={node => node.id}
        />
      )}
    </Card>
  )
}

function StoreCard({ system: { store, paused_queues } }: { readonly system: System }) {
  const paused = paused_queues ?? []
  return (
    <Card
      title="Store"
      aside={
        store.status === 'reachable' ? (
          <StateBadge state="completed">reachable</StateBadge>
        ) : (
          <StateBadge state="failed">away</StateBadge>
        )
      }
    >
      <div class="stack">
        {store.promise !== null && <p>{store.promise}</p>}
        {store.status !== 'reachable' && (
          <p class="bad">
            <Icon name="warn" /> {store.status}
          </p>
        )}
        <Facts
          facts={[
            { name: 'Kind', value: store.kind },
            {
              name: 'Clock of this process against it',
              value: `${Math.round(store.clock_offset_ms)} ms`,
              isBad: Math.abs(store.clock_offset_ms) > SKEW_MS,
            },
            { name: 'Paused queues', value: paused.length === 0 ? 'none' : paused.join(', ') },
          ]}
        />
      </div>
    </Card>
  )
}

const heldColumns: readonly Column<Run>[] = [
  {
    key: 'job',
    head: 'Job',
    isMain: true,
    cell: run => <JobLink id={run.job_id} name={run.job_name} />,
  },
  {
    key: 'run',
    head: 'Run',
    cell: run => <a href={href(pathTo('run', { id: run.id }))}>#{run.run}</a>,
  },
  { key: 'node', head: 'Held by', cell: run => <span class="mono">{run.owner ?? '–'}</span> },
  { key: 'since', head: 'Since', cell: run => <Time at={run.started_at} hasSeconds /> },
  {
    key: 'attempt',
    head: 'Attempt',
    align: 'end',
    cell: run => run.attempts,
  },
]

function Held({ runs }: { readonly runs: readonly Run[] }) {
  if (runs.length === 0) return <Empty title="No run is held at this moment" />
  return (
    <>
      <Table caption="Runs under lease" columns={heldColumns} items={runs} keyOf={run => run.id} />
      {runs.length >= HELD_SHOWN && (
        <p class="note-line">
          <a href={href(paths.runs, { status: 'running' })}>All running</a>
        </p>
      )}
    </>
  )
}
