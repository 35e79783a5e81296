// Every run of every job: what is open first, then what ended, the newest first.

import { useState } from 'preact/hooks'
import { useRead } from '../../data/read.ts'
import { reads, type Run } from '../../data/reads.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { formText } from '../../forms/form-text.ts'
import { spanText } from '../../components/format.ts'
import { Glyph, StateBadge } from '../../components/glyph.tsx'
import { Icon } from '../../components/icon.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { JobLink } from '../../components/links.tsx'
import { lookOf } from '../../components/states.ts'
import { Table, type Column } from '../../components/table.tsx'
import { TenantChoice } from '../../components/tenant-choice.tsx'
import { Time } from '../../components/time.tsx'
import { useView, type View } from '../../components/view-state.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { originText, runStates } from '../../runs/words.ts'

const PAGE = 50
const filters = [
  'status',
  'retried',
  'job',
  'queue',
  'handler',
  'since',
  'until',
  'tenant',
] as const

const columns: readonly Column<Run>[] = [
  { key: 'status', head: 'Status', width: 120, cell: run => <StateBadge state={run.status} /> },
  {
    key: 'job',
    head: 'Job',
    isMain: true,
    cell: run => (
      <span class="named">
        <JobLink id={run.job_id} name={run.job_name} />
        <span class="dim small">{run.tenant}</span>
      </span>
    ),
  },
  {
    key: 'run',
    head: 'Run',
    width: 70,
    cell: run => (
      <a class="mono" href={href(pathTo('run', { id: run.id }))}>
        #{run.run}
      </a>
    ),
  },
  {
    key: 'wanted',
    head: 'Due',
    width: 180,
    drop: 5,
    cell: run => <Time at={run.scheduled_for} hasSeconds />,
  },
  {
    key: 'late',
    head: 'Late',
    width: 80,
    drop: 4,
    align: 'end',
    cell: run => (run.late_ms === null ? <None /> : spanText(run.late_ms)),
  },
  {
    key: 'took',
    head: 'Took',
    width: 80,
    align: 'end',
    cell: run => (run.duration_ms === null ? <None /> : spanText(run.duration_ms)),
  },
  {
    key: 'attempts',
    head: 'Attempt',
    width: 80,
    drop: 3,
    align: 'end',
    cell: ({ attempts, attempts_max }) =>
      attempts_max === null ? attempts : `${attempts} of ${attempts_max}`,
  },
  {
    key: 'origin',
    head: 'Trigger',
    width: 90,
    drop: 2,
    cell: run => originText(run.origin),
  },
  { key: 'node', head: 'Node', width: 120, drop: 1, cell: run => run.owner ?? <None /> },
  {
    key: 'outcome',
    head: 'Error',
    width: 200,
    cell: run => {
      const text = run.error_message ?? run.reason
      return text === null ? <None /> : <span class="outcome">{text}</span>
    },
  },
]

function None() {
  return <span class="dim">–</span>
}

export function Runs() {
  const view = useView()
  const asked = Object.fromEntries(filters.map(name => [name, view.get(name)]))
  const read = useRead(reads.runs({ ...asked, cursor: view.get('cursor'), limit: PAGE }))
  return (
    <Page title="Runs" actions={<TenantChoice all="Every tenant" value={view.get('tenant')} />}>
      <StatusChips view={view} />
      <MoreFilters view={view} />
      <section class="card flush">
        <Shown read={read} lines={8}>
          {({ runs, next_cursor }) => (
            <>
              {runs.length === 0 ? (
                <NoRuns view={view} isEnd={next_cursor === null} />
              ) : (
                <Table
                  caption="Runs"
                  columns={columns}
                  items={runs}
                  keyOf={run => `${run.id}/${run.status}/${run.execution_id ?? ''}`}
                  hrefOf={run => href(pathTo('run', { id: run.id }))}
                />
              )}
              <Pager shown={runs.length} of="runs" next={next_cursor} />
            </>
          )}
        </Shown>
      </section>
    </Page>
  )
}

/** One state, or all of them; held together by the address. */
function StatusChips({ view }: { readonly view: View }) {
  const isRetried = view.get('retried') !== null
  const chosen = view.get('status')?.split(',') ?? []
  const isAll = chosen.length === 0 && !isRetried
  return (
    <nav class="chips" aria-label="Runs by state">
      <a class="chip" aria-current={isAll ? 'true' : undefined} href={link(null)}>
        All
      </a>
      <a
        class="chip"
        aria-current={isRetried ? 'true' : undefined}
        href={view.href({ retried: 'true', status: null, cursor: null })}
      >
        <Glyph look={lookOf('retrying')} />
        Retried attempts
      </a>
      {runStates.map(state => (
        <a
          key={state}
          class="chip"
          aria-current={chosen.includes(state) ? 'true' : undefined}
          href={link(state)}
        >
          <Glyph look={lookOf(state)} />
          {lookOf(state).label}
        </a>
      ))}
    </nav>
  )
  function link(status: string | null) {
    return view.href({ status, retried: null, cursor: null })
  }
}

const texts = [
  ['job', 'Id of a job'],
  ['queue', 'Queue'],
  ['handler', 'Handler'],
  ['since', 'Ended since (2026-01-31T08:00Z)'],
  ['until', 'Ended before'],
] as const

function MoreFilters({ view }: { readonly view: View }) {
  const used = texts.filter(([name]) => view.get(name) !== null)
  const [isOpen, setOpen] = useState(used.length > 0)
  const submit = (event: Event) => {
    event.preventDefault()
    const given = texts.map(([name]) => [name, momentOf(name, formText(event, name))])
    view.set({ ...Object.fromEntries(given), cursor: null })
  }
  return (
    <details class="filters" open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="filter" /> More filters
        {used.length > 0 && <span class="dim">: {used.map(([name]) => name).join(', ')}</span>}
      </summary>
      <form class="row" onSubmit={submit}>
        {texts.map(([name, label]) => (
          <label key={name} class="inline-field">
            <span>{label}</span>
            <input class="input" name={name} defaultValue={view.get(name) ?? ''} />
          </label>
        ))}
        <button type="submit" class="button">
          Apply
        </button>
        {used.length > 0 && (
          <a
            class="button"
            href={view.href({
              ...Object.fromEntries(texts.map(([name]) => [name, null])),
              cursor: null,
            })}
          >
            Clear
          </a>
        )}
      </form>
    </details>
  )
}

/** Moments may be typed in any form the browser reads; the service is told one. */
function momentOf(name: string, text: string): string {
  if ((name !== 'since' && name !== 'until') || text === '') return text
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : new Date(ms).toISOString()
}

function NoRuns({ view, isEnd }: { readonly view: View; readonly isEnd: boolean }) {
  const isFiltered = filters.some(name => view.get(name) !== null)
  if (!isEnd) return <Empty title="None among those looked at">The next page looks further.</Empty>
  return isFiltered ? (
    <Empty
      title="No run matches"
      actions={
        <a
          class="button"
          href={view.href(Object.fromEntries([...filters, 'cursor'].map(name => [name, null])))}
        >
          Show all runs
        </a>
      }
    />
  ) : (
    <Empty
      title="No runs yet"
      actions={
        <a class="button" href={href(pathTo('jobs'))}>
          Jobs
        </a>
      }
    >
      They appear here as soon as a job fires or someone runs one.
    </Empty>
  )
}
