// Who did what and when: written with every action, never changed.

import { reads, type AuditEntry } from '../../data/reads.ts'
import { useRead, type Concerns } from '../../data/read.ts'
import { seesEveryTenant } from '../../data/session.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { formText } from '../../forms/form-text.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { TenantChoice } from '../../components/tenant-choice.tsx'
import { Time } from '../../components/time.tsx'
import { useView, type View } from '../../components/view-state.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'

const PAGE = 50
const ofJobs: Concerns = ({ type }) => type.startsWith('job.')

const columns: readonly Column<AuditEntry>[] = [
  { key: 'at', head: 'When', cell: entry => <Time at={entry.at} hasSeconds /> },
  { key: 'actor', head: 'Who', isMain: true, cell: whoOf },
  { key: 'action', head: 'What', cell: entry => <code>{entry.action}</code> },
  { key: 'object', head: 'To', cell: entry => <Target entry={entry} /> },
  {
    key: 'result',
    head: 'Result',
    cell: ({ result, count = 1 }) => (
      <>
        {result === 'refused' ? <StateBadge state="failed">refused</StateBadge> : result}
        {count > 1 && <span class="small dim"> {count} times in a minute</span>}
      </>
    ),
  },
  { key: 'change', head: 'Change', cell: entry => <Change entry={entry} /> },
  { key: 'tenant', head: 'Tenant', cell: entry => (entry.tenant === '*' ? 'none' : entry.tenant) },
  {
    key: 'from',
    head: 'From',
    cell: ({ ip, request_id }) => (
      <span class="small dim" title={request_id === null ? undefined : `request ${request_id}`}>
        {ip ?? '–'}
      </span>
    ),
  },
]

/** Beyond so many equal rows of a minute, what all the others did is one row. */
function whoOf({ actor, is_rest }: AuditEntry): string {
  return actor || (is_rest === true ? 'others' : 'someone unknown')
}

/** What was done to jobs names their ids; the rest is told as it is. */
function Target({ entry: { object, action } }: { readonly entry: AuditEntry }) {
  if (object === null) return <span class="dim">–</span>
  const isJob = !action.includes('.') || action.startsWith('job.')
  return isJob && !object.includes(' ') ? (
    <a class="mono cut-id" href={href(pathTo('job', { id: object }))}>
      {object}
    </a>
  ) : (
    <span class="outcome">{object}</span>
  )
}

function Change({ entry: { before, after } }: { readonly entry: AuditEntry }) {
  const texts = [before, after].map(state =>
    state == null ? null : `${state.status} r${state.revision}`,
  )
  if (texts[0] === null && texts[1] === null) return <span class="dim">–</span>
  return (
    <span class="small">
      {texts[0] ?? 'nothing'} → {texts[1] ?? 'nothing'}
    </span>
  )
}

export function Audit() {
  const view = useView()
  const asked = { job: view.get('job'), tenant: view.get('tenant'), cursor: view.get('cursor') }
  const read = useRead(reads.audit({ ...asked, limit: PAGE }), ofJobs)
  return (
    <Page
      title="Audit"
      about="Who did what, the newest first. It is written with every action and cannot be changed."
      actions={<TenantChoice all="Every tenant, the newest" value={view.get('tenant')} />}
    >
      <JobFilter view={view} />
      <section class="card flush">
        <Shown read={read} lines={8}>
          {({ entries, next_cursor, is_cut }) => (
            <>
              {entries.length === 0 ? (
                <Nobody view={view} />
              ) : (
                <Table
                  caption="Audit entries"
                  columns={columns}
                  items={entries}
                  keyOf={entry => entry.id}
                />
              )}
              {is_cut && seesEveryTenant.value && (
                <p class="note-line">There is more: choose a tenant to page through it.</p>
              )}
              <Pager shown={entries.length} of="entries" next={next_cursor} />
            </>
          )}
        </Shown>
      </section>
    </Page>
  )
}

function JobFilter({ view }: { readonly view: View }) {
  const submit = (event: Event) => {
    event.preventDefault()
    view.set({ job: formText(event, 'job'), cursor: null })
  }
  return (
    <form class="row" onSubmit={submit}>
      <label class="inline-field">
        <span>Only of the job with the id</span>
        <input class="input mono" name="job" defaultValue={view.get('job') ?? ''} />
      </label>
      <button type="submit" class="button">
        Apply
      </button>
      {view.get('job') !== null && (
        <a class="button" href={view.href({ job: null, cursor: null })}>
          Clear
        </a>
      )}
    </form>
  )
}

function Nobody({ view }: { readonly view: View }) {
  const isFiltered = view.get('job') !== null || view.get('tenant') !== null
  return isFiltered ? (
    <Empty
      title="Nothing is written of this"
      actions={
        <a class="button" href={view.href({ job: null, tenant: null, cursor: null })}>
          Show all
        </a>
      }
    />
  ) : (
    <Empty title="Nobody has done anything yet">Every change people make is written here.</Empty>
  )
}
