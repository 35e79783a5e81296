// Past and coming runs side by side: a drawing, and the same as a table.

import { second } from '../../clock.ts'
import { reads, type Timeline } from '../../data/reads.ts'
import { useRead } from '../../data/read.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { countText, momentText, plural, spanText, zoneName } from '../../components/format.ts'
import { Icon } from '../../components/icon.tsx'
import { Page } from '../../components/page.tsx'
import { Segments } from '../../components/segments.tsx'
import { TenantChoice } from '../../components/tenant-choice.tsx'
import { useView } from '../../components/view-state.ts'
import { paths } from '../../paths.ts'
import { href } from '../../href.ts'
import { zoneFor } from '../../view.ts'
import { AsTable } from './as-table.tsx'
import { Gantt } from './gantt.tsx'
import { Legend } from './legend.tsx'
import type { Grouping } from './rows.ts'
import {
  fixedWindow,
  movingWindow,
  panned,
  spanNames,
  spans,
  zoomed,
  type SpanName,
  type Window,
} from './window.ts'

const groupings: readonly (readonly [Grouping, string])[] = [
  ['job', 'Jobs'],
  ['tenant', 'Tenants'],
  ['node', 'Nodes'],
]

export function TimelinePage() {
  const place = useWindow()
  const view = useView()
  const by = groupings.find(([name]) => name === view.get('by'))?.[0] ?? 'job'
  const isTable = view.get('as') === 'table'
  const { window } = place
  const read = useRead(
    reads.timeline({
      from: new Date(window.from).toISOString(),
      to: new Date(window.to).toISOString(),
      tenant: view.get('tenant'),
      job: view.get('job'),
      by: by === 'job' ? null : by,
    }),
  )
  return (
    <Page
      title="Timeline"
      about={<About window={window} />}
      actions={<TenantChoice all="Every tenant" value={view.get('tenant')} />}
    >
      <Tools place={place} by={by} isTable={isTable} />
      <section class="card flush">
        <Shown read={read} lines={10}>
          {data => (
            <>
              <Summary data={data} by={by} />
              <Body data={data} place={place} isTable={isTable} />
            </>
          )}
        </Shown>
      </section>
      <Legend />
    </Page>
  )
}

interface ToolsProps {
  readonly place: Place
  readonly by: Grouping
  readonly isTable: boolean
}

function Tools({ place, by, isTable }: ToolsProps) {
  const view = useView()
  return (
    <div class="row timeline-tools">
      <Segments
        label="Span"
        value={place.span ?? ('' as SpanName)}
        options={spanNames.map(name => [name, name] as const)}
        onChange={place.setSpan}
      />
      <Zoom place={place} />
      <Segments
        label="A row for each of the"
        value={by}
        options={groupings}
        onChange={name => view.set({ by: name === 'job' ? null : name })}
      />
      <button
        type="button"
        class="button small"
        aria-pressed={isTable}
        onClick={() => view.set({ as: isTable ? null : 'table' })}
      >
        {isTable ? 'View as drawing' : 'View as table'}
      </button>
      {view.get('job') !== null && (
        <a class="button small" href={view.href({ job: null })}>
          Show every job
        </a>
      )}
    </div>
  )
}

interface Place {
  readonly window: Window
  readonly span: SpanName | null
  readonly setSpan: (span: SpanName) => void
  readonly setWindow: (window: Window) => void
  readonly toNow: () => void
}

/** A named span moves with the clock; zooming and panning hold it still. */
function useWindow(): Place {
  const view = useView()
  const fixed = fixedWindow(view.get('from'), view.get('to'))
  const named = spanNames.find(name => name === view.get('span')) ?? '1h'
  return {
    window: fixed ?? movingWindow(spans[named], second.value),
    span: fixed === null ? named : null,
    setSpan: span => view.set({ span: span === '1h' ? null : span, from: null, to: null }),
    setWindow: ({ from, to }) =>
      view.set({
        from: new Date(Math.round(from)).toISOString(),
        to: new Date(Math.round(to)).toISOString(),
      }),
    toNow: () => view.set({ from: null, to: null }),
  }
}

function About({ window }: { readonly window: Window }) {
  const zone = zoneFor('UTC')
  const text = (ms: number) => momentText(ms, { zone })
  return (
    <span>
      {text(window.from)} to {text(window.to)} · {spanText(window.to - window.from)} · times in{' '}
      {zoneName(window.from, zone)}
    </span>
  )
}

function Zoom({ place }: { readonly place: Place }) {
  const { window, setWindow } = place
  const buttons = [
    ['Earlier', 'back', () => setWindow(panned(window, -0.5))],
    ['Look closer', 'plus', () => setWindow(zoomed(window, 0.5))],
    ['See more time', 'minus', () => setWindow(zoomed(window, 2))],
    ['Later', 'next', () => setWindow(panned(window, 0.5))],
  ] as const
  return (
    <span class="row zoom">
      {buttons.map(([label, icon, act]) => (
        <button
          key={label}
          type="button"
          class="button small"
          aria-label={label}
          title={label}
          onClick={act}
        >
          {icon === 'minus' ? <span aria-hidden="true">−</span> : <Icon name={icon} />}
        </button>
      ))}
      <button
        type="button"
        class="button small"
        disabled={place.span !== null}
        onClick={place.toNow}
      >
        Now
      </button>
    </span>
  )
}

const when = (at: string) => momentText(Date.parse(at), { zone: zoneFor('UTC') })

/** What all rows come to, also those that are not drawn, and what is not known. */
function Summary({ data, by }: { readonly data: Timeline; readonly by: Grouping }) {
  const { rows, rows_total: total, completed, failed, retried, starts } = data
  const view = useView()
  const runs = (status: string) =>
    href(paths.runs, {
      status,
      since: data.from,
      until: data.to,
      tenant: view.get('tenant'),
      job: view.get('job'),
    })
  return (
    <>
      <p class="note-line">
        <span>
          <a href={runs('completed')}>{countText(completed)} completed</a>,{' '}
          <a href={runs('failed')}>{countText(failed)} failed</a>
          {retried > 0 && <>, {plural(retried, 'failed attempt')} retried</>}, {countText(starts)}{' '}
          to come
        </span>
      </p>
      {total > rows.length && (
        <p class="note-line">
          <Icon name="warn" /> {countText(rows.length)} of {countText(total)} {by}s are drawn: those
          with failures, then the busiest. Choose a tenant or a job for the others.
        </p>
      )}
      {data.complete_since > data.from && (
        <p class="note-line">
          <Icon name="warn" /> Runs that ended before {when(data.complete_since)} were not read: the
          hatched part is not known. Look closer to see them.
        </p>
      )}
      {data.complete_until < data.to && (
        <p class="note-line">
          <Icon name="warn" /> After {when(data.complete_until)} more starts may come than are
          drawn.
        </p>
      )}
    </>
  )
}

interface BodyProps extends Omit<ToolsProps, 'by'> {
  readonly data: Timeline
}

function Body({ data, place, isTable }: BodyProps) {
  const { window, setWindow, toNow } = place
  const rows = data.rows.toSorted((a, b) => a.label.localeCompare(b.label))
  const keyed = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, () => void>> = {
      '+': () => setWindow(zoomed(window, 0.5)),
      '=': () => setWindow(zoomed(window, 0.5)),
      '-': () => setWindow(zoomed(window, 2)),
      '0': toNow,
      ArrowLeft: () => setWindow(panned(window, -0.25)),
      ArrowRight: () => setWindow(panned(window, 0.25)),
    }
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined
    if (!move || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    move()
  }
  if (rows.length === 0) return <NothingHere />
  if (isTable) return <AsTable data={data} />
  return (
    <Gantt
      rows={rows}
      data={data}
      window={window}
      now={second.value}
      onWindow={setWindow}
      onKey={keyed}
    />
  )
}

function NothingHere() {
  const view = useView()
  return (
    <Empty
      title="Nothing ran or will run in this time"
      actions={
        <>
          <a class="button" href={view.href({ span: '7d', from: null, to: null })}>
            Show 7 days
          </a>
          <a class="button" href={href(paths.jobs)}>
            Jobs
          </a>
        </>
      }
    />
  )
}
