// Adding and editing a source.

import { useLocation, useRoute } from 'preact-iso'
import { sourceShape } from 'virtual:form-shapes'
import { api, url } from '../../data/api.ts'
import { reads, type Source } from '../../data/reads.ts'
import { never, useRead } from '../../data/read.ts'
import { EditDocument, NewDocument } from '../../forms/document-pages.tsx'
import { Shown } from '../../components/conditions.tsx'
import { formKind } from '../../forms/form-kind.ts'
import type { Fields } from '../../forms/form-values.ts'
import { TenantChoice, useTenant } from '../../components/tenant-choice.tsx'
import { toast } from '../../components/toasts.tsx'
import { pathTo } from '../../paths.ts'
import { href } from '../../href.ts'
import { sourceLayout } from './layout.ts'

const kind = formKind(sourceShape, sourceLayout)

export function NewSource() {
  const { route } = useLocation()
  const tenant = useTenant()
  const create = async (body: Fields) => {
    const made = await api.post(url<Source>('/sources', { tenant }), body)
    toast(`${made.name} is added`)
    route(href(pathTo('source', { name: made.name }), { tenant }))
  }
  return (
    <NewDocument
      kind={kind}
      start={{}}
      title="New source"
      label="Add the source"
      back={href(pathTo('sources'), { tenant })}
      actions={<TenantChoice all={null} value={tenant} />}
      create={create}
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
          isReplaced
        />
      )}
    </Shown>
  )
}
