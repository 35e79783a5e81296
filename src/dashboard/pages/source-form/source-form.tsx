// Adding and changing a source.

import { useLocation, useRoute } from 'preact-iso'
import { api, url } from '../../data/api.ts'
import { reads, type Source } from '../../data/reads.ts'
import { never, useRead } from '../../data/read.ts'
import type { Kind } from '../../forms/document-form.tsx'
import { EditDocument, NewDocument } from '../../forms/document-pages.tsx'
import { Shown } from '../../components/conditions.tsx'
import type { Fields } from '../../forms/form-values.ts'
import { TenantChoice, useTenant } from '../../components/tenant-choice.tsx'
import { toast } from '../../components/toasts.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { SourceFields } from './fields.tsx'
import { bodyOf, faultsOf, formOf, newSource, shownIn, type SourceForm } from './form.ts'

const kind: Kind<SourceForm> = { formOf, bodyOf, shownIn, faultsOf, Fields: SourceFields }

export function NewSource() {
  const { route } = useLocation()
  const tenant = useTenant()
  const make = async (body: Fields) => {
    const made = await api.post(url<Source>('/sources', { tenant }), body)
    toast(`${made.name} is added`)
    route(href(pathTo('source', { name: made.name }), { tenant }))
  }
  return (
    <NewDocument
      kind={kind}
      start={newSource}
      title="New source"
      label="Add the source"
      back={href(pathTo('sources'), { tenant })}
      actions={<TenantChoice all={null} value={tenant} />}
      make={make}
    />
  )
}

export function EditSource() {
  const { params } = useRoute()
  const tenant = useTenant()
  const address = reads.source(params.name ?? '', { tenant })
  const read = useRead(address, never)
  return (
    <Shown read={read}>
      {source => (
        <EditDocument
          key={read.etag}
          kind={kind}
          read={source}
          etag={read.etag ?? '*'}
          name={source.name}
          address={address}
          back={href(pathTo('source', { name: source.name }), { tenant })}
          documentOf={documentOf}
        />
      )}
    </Shown>
  )
}

const added: readonly string[] = [
  'job_id',
  'state',
  'last_success_at',
  'next_run_at',
  'retry',
  'revision',
  'created_at',
  'updated_at',
]

/** Without what the service adds, which a caller need not send back. */
function documentOf(source: Source): Fields {
  return Object.fromEntries(Object.entries(source).filter(([name]) => !added.includes(name)))
}
