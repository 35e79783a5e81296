// One source: what it fetches, how its last runs went, and the document it is made of.

import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { jobActions } from '../../jobs/job-actions.ts'
import { reads, type Source, type Run } from '../../data/reads.ts'
import { useRead } from '../../data/read.ts'
import { isAdmin, isOperator } from '../../data/session.ts'
import { RemoveButton } from '../../components/remove-button.tsx'
import { Empty, Shown } from '../../components/conditions.tsx'
import { Facts, type Fact } from '../../components/facts.tsx'
import { CheckField } from '../../forms/field.tsx'
import { spanText } from '../../components/format.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { HeartbeatBar } from '../../components/heartbeat.tsx'
import { Icon } from '../../components/icon.tsx'
import { Card, Page } from '../../components/page.tsx'
import { Json } from '../../components/json.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { useTenant } from '../../components/tenant-choice.tsx'
import { Time } from '../../components/time.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { SourceState } from './sources.tsx'

const RUNS = 20
const SLOTS = 60

export function SourcePage() {
  const { params } = useRoute()
  const name = params.name ?? ''
  const tenant = useTenant()
  const read = useRead(reads.source(name, { tenant }))
  const source = read.isOld ? undefined : read.data
  return (
    <Page
      title={name}
      heading={
        <span class="row">
          {name}
          {source && <SourceState source={source} />}
        </span>
      }
      about={source?.description}
      actions={source && <Actions source={source} tenant={tenant} />}
    >
      <Shown read={read}>{one => <Body source={one} />}</Shown>
    </Page>
  )
}

interface ActionsProps {
  readonly source: Source
  readonly tenant: string | null
}

function Actions({ source, tenant }: ActionsProps) {
  return (
    <>
      {isAdmin.value && <RemoveSource source={source} tenant={tenant} />}
      {isAdmin.value && (
        <a class="button" href={href(pathTo('editSource', { name: source.name }), { tenant })}>
          <Icon name="edit" /> Edit
        </a>
      )}
      <a class="button" href={href(pathTo('job', { id: source.job_id }))}>
        Open as a job
      </a>
      {isOperator.value && (
        <button
          type="button"
          class="button primary"
          onClick={() => void jobActions.run({ id: source.job_id, name: source.name })}
        >
          <Icon name="play" /> Fetch now
        </button>
      )}
    </>
  )
}

function RemoveSource({ source, tenant }: ActionsProps) {
  const { name, revision, table } = source
  const [hasRows, setRows] = useState(false)
  return (
    <RemoveButton
      name={name}
      revision={revision}
      address={reads.source(name, { tenant, rows: hasRows })}
      back={href(pathTo('sources'), { tenant })}
    >
      <p>It is fetched no more; its runs go with it. A fetch under way is stopped.</p>
      <CheckField
        label={`Also delete the rows it brought into ${table}`}
        isOn={hasRows}
        onChange={setRows}
      />
    </RemoveButton>
  )
}

function Body({ source }: { readonly source: Source }) {
  const beats = useRead(reads.heartbeat(source.job_id, SLOTS))
  const runs = useRead(reads.runs({ job: source.job_id, limit: RUNS }))
  const paging = source.offsetPagination ?? source.cursorPagination ?? null
  return (
    <div class="cards">
      <Card title="Status">
        <Facts facts={factsOf(source)} />
      </Card>
      <Card title="Last fetches">
        <Shown read={beats}>
          {({ slots }) => <HeartbeatBar slots={slots} size={SLOTS} isCompact />}
        </Shown>
      </Card>
      <Card title="Runs" wide isFlush>
        <Shown read={runs}>
          {({ runs: found }) =>
            found.length === 0 ? (
              <Empty title="Not fetched yet" />
            ) : (
              <Table
                caption="Runs of the source"
                columns={runColumns}
                items={found}
                keyOf={run => `${run.id}/${run.status}`}
                hrefOf={run => href(pathTo('run', { id: run.id }))}
              />
            )
          }
        </Shown>
      </Card>
      <Card title="Fields">
        <Json value={source.response} name="Fields" />
      </Card>
      <Card title="Request">
        <Json value={{ params: source.params, headers: source.headers, paging }} name="Request" />
      </Card>
    </div>
  )
}

function factsOf(source: Source): readonly Fact[] {
  return [
    { name: 'From', value: <span class="mono outcome">{source.url}</span> },
    { name: 'To table', value: <code>{source.table}</code> },
    { name: 'Schedule', value: `${source.schedule}, from the last success` },
    { name: 'Last success', value: <Time at={source.last_success_at} none="never" /> },
    { name: 'Next', value: <Time at={source.next_run_at} /> },
    { name: 'Retries', value: `${source.retry.retry_count} of ${source.execution.maxRetries}` },
    { name: 'Next retry', value: <Time at={source.retry.next_retry_at} none="none planned" /> },
    { name: 'Paging', value: pagingText(source) },
    { name: 'Stops after', value: `${source.execution.timeout} s` },
  ]
}

function pagingText({ offsetPagination, cursorPagination }: Source): string {
  if (offsetPagination !== undefined) return `by ${String(offsetPagination.pageParam)}`
  return cursorPagination === undefined ? 'one page' : 'by a cursor'
}

export const runColumns: readonly Column<Run>[] = [
  { key: 'status', head: 'Status', cell: run => <StateBadge state={run.status} /> },
  {
    key: 'run',
    head: 'Run',
    isMain: true,
    cell: run => <a href={href(pathTo('run', { id: run.id }))}>#{run.run}</a>,
  },
  { key: 'at', head: 'Started', cell: run => <Time at={run.started_at} hasSeconds /> },
  {
    key: 'took',
    head: 'Took',
    align: 'end',
    cell: run => (run.duration_ms === null ? '–' : spanText(run.duration_ms)),
  },
  {
    key: 'outcome',
    head: 'Error/Result',
    cell: run => <span class="outcome">{run.error_message ?? run.reason ?? '–'}</span>,
  },
]
