// The workflows: how many steps they have and where events come in.

import { reads, type Workflow } from '../../data/reads.ts'
import { useRead } from '../../data/read.ts'
import { isAdmin } from '../../data/session.ts'
import { Empty, Shown } from '../../components/conditions.tsx'
import { plural } from '../../components/format.ts'
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

const PAGE = 50

function workflowHref(id: number, tenant: string | null): string {
  return href(pathTo('workflow', { id: String(id) }), { tenant })
}

function columnsOf(tenant: string | null): readonly Column<Workflow>[] {
  return [
    {
      key: 'active',
      head: 'State',
      cell: ({ active }) => (
        <StateBadge state={active ? 'completed' : 'paused'}>
          {active ? 'active' : 'inactive'}
        </StateBadge>
      ),
    },
    {
      key: 'name',
      head: 'Workflow',
      isMain: true,
      cell: ({ id, name }) => (
        <span class="named">
          <a href={workflowHref(id, tenant)}>{name}</a>
          <span class="dim small">#{id}</span>
        </span>
      ),
    },
    { key: 'steps', head: 'Steps', cell: ({ steps }) => plural(steps.length, 'step') },
    {
      key: 'entries',
      head: 'Events come in by',
      cell: ({ trigger_nodes }) => trigger_nodes.map(({ id }) => id).join(', ') || '–',
    },
    { key: 'revision', head: 'Revision', align: 'end', cell: one => one.revision },
    { key: 'updated', head: 'Changed', cell: one => <Time at={one.updated_at} /> },
  ]
}

function newWorkflowHref(tenant: string | null): string {
  return href(pathTo('newWorkflow'), { tenant })
}

function None({ tenant }: { readonly tenant: string | null }) {
  return (
    <Empty
      title={tenant === null ? 'No workflows yet' : `${tenant} has no workflows`}
      actions={
        isAdmin.value && (
          <a class="button primary" href={newWorkflowHref(tenant)}>
            Create the first workflow
          </a>
        )
      }
    >
      A workflow has a name and steps. Make one here, or with <code>POST /api/v1/workflows</code>.
    </Empty>
  )
}

export function Workflows() {
  const view = useView()
  const tenant = useTenant()
  const read = useRead(reads.workflows({ tenant, cursor: view.get('cursor'), limit: PAGE }))
  return (
    <Page
      title="Workflows"
      about="Steps that need each other, run as one."
      actions={
        <>
          <TenantChoice all={null} value={tenant} />
          {isAdmin.value && (
            <a class="button primary" href={newWorkflowHref(tenant)}>
              <Icon name="plus" /> New workflow
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
                  caption="Workflows"
                  columns={columnsOf(tenant)}
                  items={items}
                  keyOf={one => String(one.id)}
                  hrefOf={one => workflowHref(one.id, tenant)}
                />
              )}
              <Pager shown={items.length} of="workflows" next={next_cursor} />
            </>
          )}
        </Shown>
      </section>
    </Page>
  )
}
