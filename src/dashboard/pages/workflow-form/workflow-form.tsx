// Making and changing a workflow.

import { useLocation, useRoute } from 'preact-iso'
import { api, url } from '../../data/api.ts'
import { reads, type Workflow } from '../../data/reads.ts'
import { never, useRead } from '../../data/read.ts'
import type { Kind } from '../../forms/document-form.tsx'
import { EditDocument, NewDocument } from '../../forms/document-pages.tsx'
import { Shown } from '../../components/conditions.tsx'
import type { Fields } from '../../forms/form-values.ts'
import { TenantChoice, useTenant } from '../../components/tenant-choice.tsx'
import { toast } from '../../components/toasts.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { WorkflowFields } from './fields.tsx'
import { bodyOf, formOf, newWorkflow, shownIn, type WorkflowForm } from './form.ts'

const kind: Kind<WorkflowForm> = { formOf, bodyOf, shownIn, Fields: WorkflowFields }

export function NewWorkflow() {
  const { route } = useLocation()
  const tenant = useTenant()
  const make = async (body: Fields) => {
    const made = await api.post(url<Workflow>('/workflows', { tenant }), body)
    toast(`${made.name} is made`)
    route(href(pathTo('workflow', { id: String(made.id) }), { tenant }))
  }
  return (
    <NewDocument
      kind={kind}
      start={newWorkflow}
      title="New workflow"
      label="Make the workflow"
      back={href(pathTo('workflows'), { tenant })}
      actions={<TenantChoice all={null} value={tenant} />}
      make={make}
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
          read={workflow}
          etag={read.etag ?? '*'}
          name={workflow.name}
          address={address}
          back={href(pathTo('workflow', { id: String(workflow.id) }), { tenant })}
          documentOf={documentOf}
        />
      )}
    </Shown>
  )
}

function documentOf({ name, active, trigger_nodes, steps }: Workflow): Fields {
  return { name, active, trigger_nodes, steps }
}
