// The declared sources: where records come from, when they were fetched last, when next.

import { reads, type Source } from '../../data/reads.ts'
import { useRead } from '../../data/read.ts'
import { isAdmin } from '../../data/session.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { StateBadge } from '../../components/glyph.tsx'
import { Icon } from '../../components/icon.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { TenantChoice, useTenant } from '../../components/tenant-choice.tsx'
import { Time } from '../../components/time.tsx'
import { useView } from '../../components/view-state.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { Limits } from './limits.tsx'

const PAGE = 50

export function sourceHref(name: string, tenant: string | null): string {
  return href(pathTo('source', { name }), { tenant })
}

function columnsOf(tenant: string | null): readonly Column<Source>[] {
  return [
    { key: 'state', head: 'State', cell: source => <SourceState source={source} /> },
    {
      key: 'name',
      head: 'Source',
      isMain: true,
      cell: ({ name, description }) => (
        <span class="named">
          <a href={sourceHref(name, tenant)}>{name}</a>
          {description !== '' && <span class="dim small">{description}</span>}
        </span>
      ),
    },
    { key: 'url', head: 'From', cell: source => <span title={source.url}>{hostOf(source)}</span> },
    { key: 'table', head: 'To table', cell: source => <code>{source.table}</code> },
    { key: 'schedule', head: 'Schedule', cell: source => source.schedule },
    {
      key: 'last',
      head: 'Last success',
      cell: source => <Time at={source.last_success_at} show="relative" none="never" />,
    },
    { key: 'next', head: 'Next', cell: source => <Time at={source.next_run_at} /> },
    {
      key: 'retries',
      head: 'Retries',
      align: 'end',
      cell: ({ retry, execution }) => `${retry.retry_count} of ${execution.maxRetries}`,
    },
  ]
}

function hostOf({ url }: Source): string {
  return URL.canParse(url) ? new URL(url).host : url
}

export function SourceState({ source: { status, state } }: { readonly source: Source }) {
  return status === 'active' ? (
    <StateBadge state={state} />
  ) : (
    <StateBadge state="paused">{status}</StateBadge>
  )
}

export function Sources() {
  const view = useView()
  const tenant = useTenant()
  const read = useRead(reads.sources({ tenant, cursor: view.get('cursor'), limit: PAGE }))
  return (
    <Page
      title="Sources"
      about="Fetched page by page into tables, on a schedule counted from the last success."
      actions={
        <>
          <TenantChoice all={null} value={tenant} />
          {isAdmin.value && (
            <a class="button primary" href={newSourceHref(tenant)}>
              <Icon name="plus" /> New source
            </a>
          )}
        </>
      }
    >
      <section class="card flush">
        <Shown read={read}>
          {({ items, next_cursor }) => (
            <>
              {items.length === 0 ? (
                <None tenant={tenant} />
              ) : (
                <Table
                  caption="Sources"
                  columns={columnsOf(tenant)}
                  items={items}
                  keyOf={source => source.name}
                  hrefOf={source => sourceHref(source.name, tenant)}
                />
              )}
              <Pager shown={items.length} of="sources" next={next_cursor} />
            </>
          )}
        </Shown>
      </section>
      <Limits tenant={tenant} />
    </Page>
  )
}

function newSourceHref(tenant: string | null): string {
  return href(pathTo('newSource'), { tenant })
}

function None({ tenant }: { readonly tenant: string | null }) {
  return (
    <Empty
      title={tenant === null ? 'No sources yet' : `${tenant} has no sources`}
      actions={
        isAdmin.value && (
          <a class="button primary" href={newSourceHref(tenant)}>
            Add the first source
          </a>
        )
      }
    >
      A source has a name, an address, a table and fields. Add one here, with{' '}
      <code>carillon source add</code>, or with <code>POST /api/v1/sources</code>.
    </Empty>
  )
}
