// Pages that create and edit a document of any kind.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Page } from '../components/page.tsx'
import { useAction } from '../data/act.ts'
import { api, type Url } from '../data/api.ts'
import { DocumentForm } from './document-form.tsx'
import { useEdit } from './edit.tsx'
import { documentIn, type FormKind } from './form-kind.ts'
import { changedFields, goneFields, type Fields } from './form-values.ts'
import { useDocument } from './use-document.ts'

interface NewProps {
  readonly kind: FormKind
  readonly start: Fields
  readonly title: string
  readonly label: string
  readonly back: string
  readonly actions?: ComponentChildren
  readonly create: (body: Fields) => Promise<unknown>
}

export function NewDocument({ kind, start, title, actions, create, ...frame }: NewProps) {
  const document = useDocument(kind, start)
  const { isBusy, problem, run } = useAction(async () => create(await document.body()))
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

interface EditProps<T> {
  readonly kind: FormKind
  readonly read: T
  readonly etag: string
  readonly name: string
  readonly address: Url<T>
  readonly back: string
  /** Whether a text replaces the whole; otherwise only what it changes is sent. */
  readonly isReplaced: boolean
}

export function EditDocument<T extends { readonly revision: number }>(props: EditProps<T>) {
  const { kind, read, name, address, back, isReplaced } = props
  const [start] = useState(() => ({ etag: props.etag, document: documentIn(kind, read) }))
  const document = useDocument(kind, start.document)
  const asSent = (given: Fields) => kind.bodyOf(kind.formOf(given))
  const before = asSent(start.document)
  const changed = (now: Fields) => ({ ...goneIn(kind, before, now), ...changedFields(before, now) })
  const isForm = document.tab === 'form'
  const { save, conflict, ...state } = useEdit({
    name,
    address,
    etag: start.etag,
    back,
    theirsOf: newest => changed(asSent(documentIn(kind, newest))),
    mine: async () => changed(await document.body()),
    write: async ifMatch => {
      const now = await document.body()
      if (isForm || !isReplaced) return api.patch(address, changed(now), { ifMatch })
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

/** What is left out now, as null; of fields of which one must be sent, the one that is says so itself. */
function goneIn({ shape }: FormKind, before: Fields, now: Fields): Fields {
  const { members, isOptional } = shape.either ?? { members: [], isOptional: true }
  const gone = Object.entries(goneFields(before, now))
  return Object.fromEntries(gone.filter(([name]) => isOptional || !members.includes(name)))
}
