// One workflow: its steps, its runs, and how the steps of a chosen run went.

import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { act, useAction } from '../../data/act.ts'
import { api, url } from '../../data/api.ts'
import { reads, type Workflow, type WorkflowRun } from '../../data/reads.ts'
import { useRead } from '../../data/read.ts'
import { isAdmin, isOperator } from '../../data/session.ts'
import { RemoveButton } from '../../components/remove-button.tsx'
import { parseJson } from '../../jobs/run-dialog.tsx'
import { Empty, ProblemBox, Shown } from '../../components/conditions.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { TextField } from '../../forms/field.tsx'
import { plural, spanText } from '../../components/format.ts'
import { StateBadge } from '../../components/glyph.tsx'
import { Icon } from '../../components/icon.tsx'
import { Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { useTenant } from '../../components/tenant-choice.tsx'
import { Time } from '../../components/time.tsx'
import { toast } from '../../components/toasts.tsx'
import { useView } from '../../components/view-state.ts'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { StepList, StepsDrawing } from './steps.tsx'

const PAGE = 25

export function WorkflowPage() {
  const { params } = useRoute()
  const id = params.id ?? ''
  const tenant = useTenant()
  const read = useRead(reads.workflow(id, { tenant }))
  const workflow = read.isOld ? undefined : read.data
  return (
    <Page
      title={workflow?.name ?? 'Workflow'}
      heading={
        workflow && (
          <span class="row">
            {workflow.name}
            <StateBadge state={workflow.active ? 'completed' : 'paused'}>
              {workflow.active ? 'active' : 'inactive'}
            </StateBadge>
          </span>
        )
      }
      about={workflow && aboutText(workflow)}
      actions={workflow && <Actions workflow={workflow} tenant={tenant} />}
    >
      <Shown read={read}>{one => <Body workflow={one} tenant={tenant} />}</Shown>
    </Page>
  )
}

function aboutText({ id, steps, revision, trigger_nodes }: Workflow): string {
  const entries = trigger_nodes.map(node => node.id).join(', ')
  return `#${id} · ${plural(steps.length, 'step')} · revision ${revision} · events by ${entries}`
}

interface Shared {
  readonly workflow: Workflow
  readonly tenant: string | null
}

function Actions({ workflow, tenant }: Shared) {
  const [isAsking, setAsking] = useState(false)
  const address = url<unknown>(`/workflows/${workflow.id}`, { tenant })
  const toggle = () =>
    void act(() => api.patch(address, { active: !workflow.active }), {
      done: `${workflow.name} is ${workflow.active ? 'inactive' : 'active'}`,
      undo: () => api.patch(address, { active: workflow.active }),
    })
  return (
    <>
      {isAdmin.value && (
        <>
          <RemoveButton
            name={workflow.name}
            revision={workflow.revision}
            address={address}
            back={href(pathTo('workflows'), { tenant })}
          >
            <p>
              Jobs that run it fail from then on and say why. Its number is not given out again.
            </p>
          </RemoveButton>
          <button type="button" class="button" onClick={toggle}>
            {workflow.active ? 'Make inactive' : 'Make active'}
          </button>
          <a
            class="button"
            href={href(pathTo('editWorkflow', { id: String(workflow.id) }), { tenant })}
          >
            <Icon name="edit" /> Edit
          </a>
        </>
      )}
      {isOperator.value && (
        <button
          type="button"
          class="button primary"
          disabled={!workflow.active}
          onClick={() => setAsking(true)}
        >
          <Icon name="play" /> Run…
        </button>
      )}
      {isAsking && (
        <RunWorkflow workflow={workflow} tenant={tenant} onClose={() => setAsking(false)} />
      )}
    </>
  )
}

function RunWorkflow({ workflow, tenant, onClose }: Shared & { readonly onClose: () => void }) {
  const [text, setText] = useState('{}')
  const parsed = parseJson(text)
  const action = useAction(() => {
    const address = url<unknown>(`/workflows/${workflow.id}/run`, { tenant })
    return api.post(address, { payload: 'value' in parsed ? parsed.value : null })
  })
  const confirm = async () => {
    if (!(await action.run())) return
    toast(`${workflow.name} runs once`)
    onClose()
  }
  return (
    <Confirm
      title={`Run ${workflow.name}`}
      label="Run once now"
      isBusy={action.isBusy}
      isReady={'value' in parsed}
      onClose={onClose}
      onConfirm={() => void confirm()}
    >
      <TextField
        label="Payload (JSON)"
        value={text}
        onChange={setText}
        rows={6}
        isMono
        problem={action.problem}
        names={['payload']}
        hint={'fault' in parsed ? `Not JSON yet: ${parsed.fault}` : 'What the event carries.'}
      />
      {action.problem !== null && action.problem.errors.length === 0 && (
        <ProblemBox problem={action.problem} />
      )}
    </Confirm>
  )
}

function Body({ workflow, tenant }: Shared) {
  const view = useView()
  const runs = useRead(
    reads.workflowRuns(String(workflow.id), {
      tenant,
      limit: PAGE,
      cursor: view.get('cursor'),
    }),
  )
  const chosen =
    runs.data?.items.find(one => one.execution_id === view.get('run')) ??
    runs.data?.items[0] ??
    null
  return (
    <div class="stack wide-gap">
      <Card
        title={chosen === null ? 'Steps' : 'Steps, as of the chosen run'}
        aside={chosen && <code>{chosen.id}</code>}
      >
        <div class="stack">
          <StepsDrawing steps={workflow.steps} run={chosen} />
          <StepList steps={workflow.steps} run={chosen} />
        </div>
      </Card>
      <Card title="Runs" isFlush>
        <Shown read={runs}>
          {({ items, next_cursor }) =>
            items.length === 0 ? (
              <Empty title="Not run yet">
                A schedule with this workflow runs it, or you do it here.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Runs of the workflow"
                  columns={columnsOf(run => view.href({ run: run.execution_id }))}
                  items={items}
                  keyOf={run => run.execution_id}
                  isSelected={run => run === chosen}
                />
                <Pager shown={items.length} of="runs" next={next_cursor} />
              </>
            )
          }
        </Shown>
      </Card>
    </div>
  )
}

function columnsOf(choose: (run: WorkflowRun) => string): readonly Column<WorkflowRun>[] {
  return [
    { key: 'status', head: 'Status', cell: run => <StateBadge state={run.status} /> },
    {
      key: 'run',
      head: 'Run',
      isMain: true,
      cell: run => (
        <a class="mono cut-id short" title={run.id} href={href(pathTo('run', { id: run.run_id }))}>
          {run.id}
        </a>
      ),
    },
    { key: 'job', head: 'Trigger', cell: run => run.job_name },
    { key: 'at', head: 'Started', cell: run => <Time at={run.started_at} hasSeconds /> },
    {
      key: 'took',
      head: 'Took',
      align: 'end',
      cell: run => (run.duration_ms === null ? '–' : spanText(run.duration_ms)),
    },
    {
      key: 'steps',
      head: 'Steps done',
      align: 'end',
      cell: ({ steps }) =>
        `${steps.filter(step => step.status === 'completed').length} of ${steps.length}`,
    },
    {
      key: 'outcome',
      head: 'Error/Result',
      cell: run => <span class="outcome">{run.error ?? '–'}</span>,
    },
    {
      key: 'choose',
      head: 'Steps',
      cell: run => (
        <a href={choose(run)}>
          Show<span class="away-from-sight"> the steps of {run.id}</span>
        </a>
      ),
    },
  ]
}
