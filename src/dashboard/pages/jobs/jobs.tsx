// The list of jobs: filtered by words and qualifiers, in any order, many changed at once.

import { useLocation } from 'preact-iso'
import { useRef, useState } from 'preact/hooks'
import { useRead } from '../../data/read.ts'
import { reads, type Job, type JobList } from '../../data/reads.ts'
import { isAdmin, isOperator } from '../../data/session.ts'
import { allowed, jobActions } from '../../jobs/job-actions.ts'
import { RunDialog } from '../../jobs/run-dialog.tsx'
import { PauseDialog } from '../../jobs/pause-dialog.tsx'
import { WhyDialog } from '../../jobs/why.tsx'
import { Shown } from '../../components/conditions.tsx'
import { Icon } from '../../components/icon.tsx'
import { Page } from '../../components/page.tsx'
import { PageLinks } from '../../components/page-links.tsx'
import { useSteady } from '../../components/steady-rows.ts'
import { Table } from '../../components/table.tsx'
import { useView } from '../../components/view-state.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { useKeys } from '../../shell/keys.ts'
import { BulkBar } from './bulk.tsx'
import { columnsOf, type Dialogs } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { parseFilter } from './filter.ts'
import { NoJobs } from './no-jobs.tsx'

const PAGE = 50
const SORT = '-created_at'
const BEATS = 30

export function Jobs() {
  const view = useView()
  const text = view.get('q') ?? ''
  const { filter, chips } = parseFilter(text)
  const page = Math.max(1, Number(view.get('page')) || 1)
  const sort = view.get('sort') ?? SORT
  const query = { ...filter, sort, limit: PAGE, offset: (page - 1) * PAGE }
  const read = useRead(reads.jobs(query))
  const actions = isAdmin.value && (
    <a class="button primary" href={href(pathTo('newJob'))}>
      <Icon name="plus" /> New job
    </a>
  )
  return (
    <Page title="Jobs" actions={actions}>
      <FilterBar
        text={text}
        chips={chips}
        total={read.data?.total}
        isPartial={read.data?.is_partial === true}
      />
      <Shown read={read} lines={10}>
        {data => <List data={data} page={page} hasFilter={text.trim() !== ''} />}
      </Shown>
    </Page>
  )
}

interface ListProps {
  readonly data: JobList
  readonly page: number
  readonly hasFilter: boolean
}

function List({ data, page, hasFilter }: ListProps) {
  const place = useRef<HTMLDivElement>(null)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isAll, setAll] = useState(false)
  const [open, setOpen] = useState<Open | null>(null)
  const { items, fresh, take } = useSteady(data.jobs, job => job.id, place)
  const ids = items.map(({ id }) => id)
  const beats = useRead(reads.heartbeats(ids.toSorted(), BEATS), event =>
    ['run.finished', 'run.skipped'].includes(event.type),
  )
  const marks = new Map(beats.data?.heartbeats.map(({ job_id, slots }) => [job_id, slots]))
  const dialogs: Dialogs = {
    run: job => setOpen({ kind: 'run', job }),
    pause: job => setOpen({ kind: 'pause', job }),
    why: job => setOpen({ kind: 'why', job }),
  }
  const toggle = (id: string) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    setAll(false)
    setSelected(next)
  }
  useListKeys({ items, place, toggle, dialogs })
  const clear = () => {
    setSelected(new Set())
    setAll(false)
  }
  const question = useRef(location.search)
  if (question.current !== location.search) {
    question.current = location.search
    clear()
  }
  // What was selected may be going on: its progress stays until it is closed.
  if (data.total === 0 && selected.size === 0) return <NoJobs hasFilter={hasFilter} />
  return (
    <div ref={place}>
      {selected.size > 0 && (
        <BulkBar
          ids={[...selected]}
          total={data.total}
          isAll={isAll}
          onAll={() => setAll(true)}
          onClear={clear}
        />
      )}
      {fresh > 0 && (
        <button type="button" class="button small fresh" onClick={take}>
          {fresh} new
        </button>
      )}
      <section class="card flush">
        <Table
          caption="Jobs"
          columns={columnsOf({ selected, isAll, toggle, marks, dialogs })}
          items={items}
          keyOf={job => job.id}
          hrefOf={job => href(pathTo('job', { id: job.id }))}
          isSelected={job => isAll || selected.has(job.id)}
          defaultSort={SORT}
        />
        <PageLinks page={page} size={PAGE} total={data.total} />
      </section>
      {open !== null && <OpenDialog open={open} onClose={() => setOpen(null)} />}
    </div>
  )
}

interface Open {
  readonly kind: 'run' | 'pause' | 'why'
  readonly job: Job
}

function OpenDialog({ open, onClose }: { readonly open: Open; readonly onClose: () => void }) {
  const { kind, job } = open
  switch (kind) {
    case 'run':
      return <RunDialog job={job} onClose={onClose} />
    case 'why':
      return <WhyDialog job={job} onClose={onClose} />
    case 'pause':
      return (
        <PauseDialog
          what={job.name}
          onClose={onClose}
          onPause={given => {
            onClose()
            void jobActions.pause(job, given)
          }}
        />
      )
  }
}

interface ListKeys {
  readonly items: readonly Job[]
  readonly place: { readonly current: HTMLElement | null }
  readonly toggle: (id: string) => void
  readonly dialogs: Dialogs
}

function useListKeys({ items, place, toggle, dialogs }: ListKeys): void {
  const { route } = useLocation()
  const rows = () => [...(place.current?.querySelectorAll<HTMLElement>('tbody tr') ?? [])]
  const here = () => rows().findIndex(row => row.contains(document.activeElement))
  const current = () => items.find(({ id }) => id === rows()[here()]?.dataset.key)
  const move = (by: number) => {
    const all = rows()
    const at = Math.max(0, Math.min(all.length - 1, here() + by))
    all[at]?.querySelector<HTMLElement>('a.job-link')?.focus()
  }
  const on = (act: (job: Job) => void) => () => {
    const job = current()
    if (job) act(job)
  }
  const mayDo = isOperator.value
  useKeys({
    j: { label: 'Next row', act: () => move(1) },
    k: { label: 'Previous row', act: () => move(-1) },
    x: { label: 'Select the row', act: on(job => toggle(job.id)) },
    w: { label: 'Why?', act: on(dialogs.why) },
    ...(mayDo && {
      r: { label: 'Run now', act: on(job => allowed(job).run && dialogs.run(job)) },
      p: { label: 'Pause or resume', act: on(job => pauseOrResume(job, dialogs)) },
    }),
    ...(isAdmin.value && {
      n: { label: 'New job', act: () => route(href(pathTo('newJob'))) },
    }),
  })
}

function pauseOrResume(job: Job, dialogs: Dialogs): void {
  const can = allowed(job)
  if (can.resume) void jobActions.resume(job)
  else if (can.pause) dialogs.pause(job)
}
