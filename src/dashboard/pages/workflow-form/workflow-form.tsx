// Creating and editing a workflow.

import { useLocation, useRoute } from 'preact-iso'
import { workflowShape } from 'virtual:form-shapes'
import { api, url } from '../../data/api.ts'
import { reads, type Workflow } from '../../data/reads.ts'
import { never, useRead } from '../../data/read.ts'
import { EditDocument, NewDocument } from '../../forms/document-pages.tsx'
import { Shown } from '../../components/conditions.tsx'
import type { Fields } from '../../forms/form-values.ts'
import { TenantChoice, useTenant } from '../../components/tenant-choice.tsx'
import { toast } from '../../components/toasts.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { newWorkflow, workflowKind } from './workflow-kind.ts'

const kind = workflowKind(workflowShape)

export function NewWorkflow() {
  const { route } = useLocation()
  const tenant = useTenant()
  const create = async (body: Fields) => {
    const made = await api.post(url<Workflow>('/workflows', { tenant }), body)
    toast(`${made.name} is created`)
    route(href(pathTo('workflow', { id: String(made.id) }), { tenant }))
  }
  return (
    <NewDocument
      kind={kind}
      start={newWorkflow}
      title="New workflow"
      label="Create the workflow"
      back={href(pathTo('workflows'), { tenant })}
      actions={<TenantChoice all={null} value={tenant} />}
      create={create}
    />
  )
}

export function EditWorkflow() {
  const { params } = useRoute()
  const tenant = useTenant()
  const address = reads.workflow(params.id ?? '', { tenant })
  const read = useRead(address, never)
  return (
    <Shown read={read}>
      {workflow => (
        <EditDocument
          key={read.etag}
          kind={kind}
          read={withoutId(workflow)}
          etag={read.etag ?? '*'}
          name={workflow.name}
          address={address}
          back={href(pathTo('workflow', { id: String(workflow.id) }), { tenant })}
          isReplaced
        />
      )}
    </Shown>
  )
}

/** Its number is in its address and is not edited. */
function withoutId(workflow: Workflow): Omit<Workflow, 'id'> {
  const { name, active, trigger_nodes, steps, revision, created_at, updated_at } = workflow
  return { name, active, trigger_nodes, steps, revision, created_at, updated_at }
}
