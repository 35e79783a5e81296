// One document in two forms: fields to fill in, and text. Whoever changes the tab takes along what was
// written, or is told why it cannot be read.

import { useState } from 'preact/hooks'
import { ApiProblem, problemFrom } from '../data/problem.ts'
import { readIn, written, type TextFormat } from './document-text.ts'
import type { GroupDraft } from './draft.ts'
import { repeatedNames, type FormKind } from './form-kind.ts'
import type { Fields } from './form-values.ts'

export type Tab = 'form' | TextFormat

export interface Document {
  readonly form: GroupDraft
  readonly setForm: (form: GroupDraft) => void
  readonly tab: Tab
  readonly choose: (tab: Tab) => void
  readonly text: string
  readonly setText: (text: string) => void
  /** Why the tab was not left. */
  readonly fault: ApiProblem | null
  /** What it says now; throws when that cannot be read. */
  readonly body: () => Promise<Fields>
}

export function useDocument(kind: FormKind, start: Fields): Document {
  const [form, setForm] = useState<GroupDraft>(() => kind.formOf(start))
  const [tab, setTab] = useState<Tab>('form')
  const [text, setText] = useState('')
  const [fault, setFault] = useState<ApiProblem | null>(null)
  const body = async (): Promise<Fields> => {
    if (tab !== 'form') return readIn(text, tab)
    const errors = repeatedNames(kind, form)
    if (errors.length > 0) throw new ApiProblem(422, { detail: 'Nothing was sent.', errors })
    return kind.bodyOf(form)
  }
  const choose = async (next: Tab) => {
    try {
      const now = await body()
      if (next === 'form') setForm(kind.formOf(now))
      else setText(await written(now, next))
      setTab(next)
      setFault(null)
    } catch (error) {
      setFault(problemFrom(error))
    }
  }
  /** A change makes an earlier complaint void. */
  const clearing =
    <V>(set: (value: V) => void) =>
    (value: V) => {
      setFault(null)
      set(value)
    }
  return {
    form,
    setForm: clearing(setForm),
    tab,
    choose: next => void (next === tab || choose(next)),
    text,
    setText: clearing(setText),
    fault,
    body,
  }
}
