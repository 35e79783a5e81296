// Pages that make and change a document of any kind.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useDeed } from '../data/act.ts'
import { api, type Url } from '../data/api.ts'
import { useEdit } from './edit.tsx'
import { changedFields, goneFields, type Fields } from './form-values.ts'
import { Page } from '../components/page.tsx'
import { DocumentForm, type Kind } from './document-form.tsx'
import { useDocument } from './use-document.ts'

interface NewProps<F> {
  readonly kind: Kind<F>
  readonly start: Fields
  readonly title: string
  readonly label: string
  readonly back: string
  readonly actions?: ComponentChildren
  readonly make: (body: Fields) => Promise<unknown>
}

export function NewDocument<F>({ kind, start, title, actions, make, ...frame }: NewProps<F>) {
  const document = useDocument(kind, start)
  const { isBusy, problem, run } = useDeed(async () => make(await document.body()))
  return (
    <div class="form-page">
      <Page title={title} actions={actions}>
        <DocumentForm
          kind={kind}
          document={document}
          problem={problem}
          isBusy={isBusy}
          isNew
          onSubmit={() => void run()}
          {...frame}
        />
      </Page>
    </div>
  )
}

interface EditProps<F, T> {
  readonly kind: Kind<F>
  readonly read: T
  readonly etag: string
  readonly name: string
  readonly address: Url<T>
  readonly back: string
  /** What people say about it, without what the service adds. */
  readonly documentOf: (read: T) => Fields
}

export function EditDocument<F, T extends { readonly revision: number }>(props: EditProps<F, T>) {
  const { kind, read, name, address, back, documentOf } = props
  const [start] = useState(() => ({ etag: props.etag, document: documentOf(read) }))
  const document = useDocument(kind, start.document)
  const asSent = (given: Fields) => kind.bodyOf(kind.formOf(given))
  const before = asSent(start.document)
  const changed = (now: Fields) => ({ ...goneFields(before, now), ...changedFields(before, now) })
  const isForm = document.tab === 'form'
  const { save, conflict, ...state } = useEdit({
    name,
    address,
    etag: start.etag,
    back,
    theirsOf: newest => changed(asSent(documentOf(newest))),
    mine: async () => changed(await document.body()),
    write: async ifMatch => {
      const now = await document.body()
      if (isForm) return api.patch(address, changed(now), { ifMatch })
      return api.put(address, now, { ifMatch })
    },
  })
  return (
    <div class="form-page">
      <Page title={`Edit ${name}`} about={`Revision ${read.revision}`}>
        <DocumentForm
          kind={kind}
          document={document}
          {...state}
          isNew={false}
          label="Save the changes"
          back={back}
          onSubmit={save}
          notice={conflict}
        />
      </Page>
    </div>
  )
}
